/** Conditions that a question states: an amount and years, in its words. */
export { amountOf } from './conditions/amounts.ts';
export { countryName } from './conditions/places.ts';
export { foldedWords, QuestionWords } from './conditions/words.ts';
export { yearsOf } from './conditions/years.ts';
