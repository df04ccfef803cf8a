/** Conditions that a question states: amounts, periods and countries, in its words. */
export { amountsOf } from './conditions/amounts.ts';
export { periodsOf } from './conditions/periods.ts';
export { countriesOf, countryName } from './conditions/places.ts';
export { foldedWords, QuestionWords } from './conditions/words.ts';
