import { Encoder } from '@octavo/encoder';
import {
  type Embeddings,
  type EmbeddingsParts,
  embeddingService,
  localEncoder,
  openEmbeddings,
  type VectorSource,
} from './embeddings/index.ts';
import type { ChatConfig } from './settings.ts';

/** Memory that must be free for `CHAT_EMBEDDINGS=auto`. */
const freeBytesMin = 2 * 1024 ** 3;

/** Opens the vectors that the settings ask for; undefined without any. The stack ends their process. */
export async function openVectors(
  config: ChatConfig,
  parts: Omit<EmbeddingsParts, 'source' | 'timeoutMs'>,
  stack: AsyncDisposableStack,
): Promise<Embeddings | undefined> {
  const source = sourceOf(config, () => {
    const isAuto = config.CHAT_EMBEDDINGS === 'auto';
    return stack.use(new Encoder({ log: parts.log, freeBytesMin: isAuto ? freeBytesMin : 0 }));
  });
  return source && openEmbeddings({ ...parts, source, timeoutMs: config.EMBEDDING_TIMEOUT_MS });
}

function sourceOf(config: ChatConfig, open: () => Encoder): VectorSource | undefined {
  const { EMBEDDING_BASE_URL: baseUrl, EMBEDDING_MODEL: model = '', EMBEDDING_API_KEY: apiKey } = config;
  if (baseUrl !== undefined)
    return embeddingService({ baseUrl, apiKey, model, dimensions: config.EMBEDDING_DIMENSIONS });
  if (config.CHAT_EMBEDDINGS === 'off') return undefined;
  return localEncoder(open(), config.CHAT_EMBEDDINGS === 'auto');
}
