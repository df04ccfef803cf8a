export { EmbeddingClient } from './client.ts';
export { type Embeddings, type EmbeddingsParts, openEmbeddings } from './embeddings.ts';
export { EmbeddingFailure } from './failure.ts';
export { EmbeddingsInUse, type EmbeddingsInUseOptions } from './in-use.ts';
export { localEncoder } from './local.ts';
export { noMetrics } from './metrics.ts';
export { embeddingService } from './service.ts';
export type { VectorSource } from './source.ts';
export { dimensionsMax, unpackVector } from './vector.ts';
