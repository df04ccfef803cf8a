/** Search for words and for parts of words. */
export { BoundedWordIndex, type WordMatch } from './search/bounded-words.ts';
export { containsWord } from './search/contains.ts';
export { highlight, type TextPart } from './search/highlight.ts';
export { normalize, normalizedText, storedNormalized } from './search/normalize.ts';
export { rankDocuments } from './search/rank.ts';
export { refilledBy } from './search/refill.ts';
export { SubstringIndex } from './search/substrings.ts';
export { WordIndex } from './search/words.ts';
