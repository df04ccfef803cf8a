export { type Embeddings, type EmbeddingsParts, openEmbeddings } from './embeddings.ts';
export { EmbeddingFailure } from './failure.ts';
export { dimensionsMax, unpackVector } from './vector.ts';
