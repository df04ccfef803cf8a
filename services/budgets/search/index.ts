export {
  parseSearchRequest,
  reindexExpenses,
  SearchRequest,
  SearchResult,
  searchExpenses,
} from './search.ts';
