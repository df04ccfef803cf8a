export type { Evidence } from './evidence.ts';
export { isCommonWord, toQuestion } from './question.ts';
export { rerankerModel } from './rerank.ts';
export { type Found, type Ranked, Retriever, type SearchRequest, type Source } from './search.ts';
export type { Filters, Passage } from './store.ts';
export { defaultStrategy, type Strategy, strategies, strategyIds } from './strategies.ts';
