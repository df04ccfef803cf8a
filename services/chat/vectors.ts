import { Encoder } from '@octavo/encoder';
import { Connected, type Connection, type Connections } from './connection/index.ts';
import {
  EmbeddingsInUse,
  type EmbeddingsInUseOptions,
  embeddingService,
  localEncoder,
  type VectorSource,
} from './embeddings/index.ts';
import type { ChatConfig } from './settings.ts';

/** Memory that must be free for `CHAT_EMBEDDINGS=auto`. */
const freeBytesMin = 2 * 1024 ** 3;

export interface Vectors {
  /** The servers of vectors, that of the environment or that of the page. */
  readonly vectorServers: Connected<VectorSource>;
  readonly embeddings: EmbeddingsInUse;
  /** True if the encoder of this machine makes vectors where no server does. */
  readonly hasEncoder: boolean;
}

/** The vectors of a server if there is one, else those of the encoder that the settings ask for. The stack ends its process. */
export async function openVectors(
  config: ChatConfig,
  connections: Connections,
  parts: Omit<EmbeddingsInUseOptions, 'source' | 'timeoutMs'>,
  stack: AsyncDisposableStack,
): Promise<Vectors> {
  const { CHAT_EMBEDDINGS: mode, EMBEDDING_BASE_URL: baseUrl, EMBEDDING_API_KEY: apiKey } = config;
  const { EMBEDDING_MODEL: model = '', EMBEDDING_DIMENSIONS: dimensions } = config;
  const open = (server: Connection) => embeddingService({ ...server, dimensions });
  const vectorServers = new Connected({
    kind: 'embeddings',
    set: baseUrl === undefined ? undefined : { baseUrl, apiKey, model },
    connections,
    open,
  });
  const isAuto = mode === 'auto';
  const local =
    mode === 'off'
      ? undefined
      : localEncoder(
          stack.use(new Encoder({ log: parts.log, freeBytesMin: isAuto ? freeBytesMin : 0 })),
          isAuto,
        );
  const embeddings = new EmbeddingsInUse({
    ...parts,
    timeoutMs: config.EMBEDDING_TIMEOUT_MS,
    source: async () => (await vectorServers.current()) ?? local,
  });
  await embeddings.current();
  return { vectorServers, embeddings, hasEncoder: local !== undefined };
}
