export { CrossEncoder } from './ranking/cross-encoder.ts';
export { rerankerModel } from './ranking/rerank.ts';
export { type Found, Retriever, type SearchRequest } from './search.ts';
export {
  type Filters,
  filteredDocuments,
  headingsOf,
  keywordMatches,
  passagesOf,
  withNeighbors,
} from './store.ts';
export { documentsOf } from './store-documents.ts';
export { defaultStrategy, type Strategy, strategies, strategyIds } from './strategies.ts';
