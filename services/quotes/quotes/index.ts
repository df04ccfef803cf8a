export { Quote as QuoteSchema, toJson } from './json.ts';
export {
  type Attribution,
  keyOf,
  maySee,
  type Quote,
  type QuoteContent,
} from './quote.ts';
export {
  authorNamed,
  type CountedQuote,
  countAll,
  countedQuotes,
  countListed,
  findCountedQuote,
  findLikedQuote,
  findQuote,
  type LikedQuote,
  type ListedQuotes,
  likedQuotes,
  listedQuotes,
  publishedQuotes,
  type QuoteFilter,
  type QuoteOrder,
  type Slice,
} from './store.ts';
export { withdraw } from './store-admin.ts';
export { type Category, findCategory, largestCategories, listCategories } from './store-categories.ts';
export { insertQuote } from './store-write.ts';
export { excerpt, pageSize, quoteFigure, quoteList, titleOf } from './views.ts';
