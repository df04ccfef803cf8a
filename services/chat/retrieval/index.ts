export { isCommonWord, toQuestion } from './question.ts';
export type { QueryTermWeights as Evidence } from './ranking/query-term-weights.ts';
export { rerankerModel } from './ranking/rerank.ts';
export {
  type Found,
  type Ranked,
  Retriever,
  type SearchRequest,
} from './search.ts';
export { Source, sourceOfPassage, withBest } from './source.ts';
export { rephrased } from './spelling.ts';
export {
  aboveOf,
  type Filters,
  filteredDocuments,
  headingsOf,
  keywordMatches,
  type Passage,
  passagesOf,
  withNeighbors,
} from './store.ts';
export { defaultStrategy, type Strategy, strategies, strategyIds } from './strategies.ts';
export { synonymsOf } from './synonyms.ts';
