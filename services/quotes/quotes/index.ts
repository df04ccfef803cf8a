export { Quote as QuoteSchema, toJson } from './json.ts';
export {
  type Attribution,
  attributions,
  keyOf,
  maySee,
  type Quote,
  type QuoteContent,
  quoteLimits,
} from './quote.ts';
export {
  type CountedQuote,
  countedQuotes,
  findCountedQuote,
  findLikedQuote,
  findQuote,
  type LikedQuote,
  likedQuotes,
  publishedQuotes,
  type QuoteFilter,
  type Slice,
} from './store.ts';
export { setPublished } from './store-admin.ts';
export { type Category, largestCategories, listCategories } from './store-categories.ts';
export { insertQuote } from './store-write.ts';
export { excerpt, pageSize, quoteFigure, quoteList, titleOf } from './views.ts';
