/** Questions as they are searched for: their words, parts, other phrasings, and how much each word tells. */
export { partsOf } from './questions/parts.ts';
export { QueryTermWeights } from './questions/query-term-weights.ts';
export { isCommonWord, type Question, toQuestion } from './questions/question.ts';
export { variantsOf } from './questions/variants.ts';
