import type { Term } from '@octavo/data/terms';
import { isMonth } from './dates.ts';

/** Type of answer that a question asks for, as far as its words tell. */
export interface QuestionType {
  readonly time: boolean;
  readonly quantity: boolean;
  readonly person: boolean;
  readonly place: boolean;
}

const patterns = {
  time: /^\W*(?:and )?(?:since )?when\b|\b(?:what|which) (year|date|day|month|century|decade|time)\b/i,
  quantity:
    /\b(how (many|much|long|old|far|often|high|large|big|tall|deep|fast)|percent|percentage|number|amount|population|price|cost|age)\b/i,
  person:
    /\b(who|whom|whose|(what|which) (person|man|woman|king|queen|president|author|scientist)|what (is|was) the name)\b/i,
  place:
    /\b(where|(what|which) (city|country|state|place|river|region|location|island|continent|county|town))\b/i,
} as const satisfies Record<keyof QuestionType, RegExp>;

/** Returns the types of answers that a question asks for. */
export function questionType(text: string): QuestionType {
  const asks = (kind: keyof QuestionType) => patterns[kind].test(text);
  return {
    time: asks('time'),
    quantity: asks('quantity'),
    person: asks('person'),
    place: asks('place'),
  };
}

const numberWords = new Set(
  'two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half third quarter percent'.split(
    ' ',
  ),
);
/** Returns true for a word that tells a time. */
export function isTime({ word }: Term): boolean {
  return /^(1\d|20)\d\d$/.test(word) || isMonth(word);
}

/** Returns true for a number, in digits or in words, that is no year. */
export function isQuantity({ word }: Term): boolean {
  return numberWords.has(word) || (/^\d/.test(word) && !/^(1\d|20)\d\d$/.test(word));
}

/** Returns true if a text has a name after a word such as `in`. */
export function namesPlace(text: string): boolean {
  return /\b(in|at|near|from|to|of|on|into|through) (the )?\p{Lu}/u.test(text);
}
