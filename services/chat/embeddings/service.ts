import { boundedFetch } from '@octavo/core';
import type { VectorSource } from './source.ts';

/** Settings of an embedding service. */
export interface EmbeddingServiceOptions {
  /** Of a server with OpenAI's API, such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly model: string;
  /** The size of vectors to ask for; the service decides if undefined. */
  readonly dimensions: number | undefined;
}

const responseBytesMax = 16 * 1024 * 1024;

/** An embedding service behind OpenAI's API, by the `ai` library, which is loaded when the first text needs a vector. */
export function embeddingService(options: EmbeddingServiceOptions): VectorSource {
  const { baseUrl: baseURL, apiKey, model, dimensions } = options;
  const open = async () => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const provider = createOpenAICompatible({
      name: 'embedding',
      baseURL,
      fetch: boundedFetch(responseBytesMax),
      ...(apiKey !== undefined && { apiKey }),
    });
    return provider.embeddingModel(model);
  };
  return {
    provider: 'openai-compatible',
    title: 'The embedding service',
    model,
    dimensions,
    leavesOut: () => false,
    trustIn: () => 1,
    async vectors({ texts, signal }) {
      const { embedMany } = await import('ai');
      const { embeddings } = await embedMany({
        model: await open(),
        values: [...texts],
        maxRetries: 0,
        abortSignal: signal,
        ...(dimensions !== undefined && { providerOptions: { openaiCompatible: { dimensions } } }),
      });
      return embeddings;
    },
  };
}
