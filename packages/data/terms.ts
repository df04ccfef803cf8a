/** Words of texts and of queries, without a database. */
export { type PreparedWords, prepareWords, type WordLayout } from './search/prepared-words.ts';
export { stemsOf, type Term, termsOf } from './search/terms.ts';
export { parseWordQuery, type WordQuery } from './search/word-query.ts';
