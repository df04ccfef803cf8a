export { highlight, type TextPart } from './highlight.ts';
export { normalize, normalizedText, storedNormalized } from './normalize.ts';
export { SubstringIndex, type SubstringOptions } from './substrings.ts';
export { parseWordQuery, type WordQuery, type WordQueryOptions } from './word-query.ts';
export { WordIndex, type WordIndexOptions } from './words.ts';
