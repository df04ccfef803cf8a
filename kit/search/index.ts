export { BoundedWordIndex, type BoundedWordIndexOptions, type WordMatch } from './bounded-words.ts';
export { highlight, type TextPart } from './highlight.ts';
export { normalize, normalizedText, storedNormalized } from './normalize.ts';
export { type PreparedWords, prepareWords, type WordLayout } from './prepared-words.ts';
export { type RankOptions, rankDocuments } from './rank.ts';
export { SubstringIndex, type SubstringOptions } from './substrings.ts';
export { type Term, termsOf, withoutAccents } from './terms.ts';
export { type Clause, parseWordQuery, type WordQuery, type WordQueryOptions } from './word-query.ts';
export { WordIndex, type WordIndexOptions } from './words.ts';
