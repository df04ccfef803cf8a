import type { QuestionWords } from './words.ts';

/** Days of a question, both of them included. */
export interface Period {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly isNegated: boolean;
  /** As it was written, with a preposition. */
  readonly text: string;
}

// A year that is no amount.
const yearPattern =
  /(?:(in|during|of|since|from|after|until|before) )?((?:19|20)\d\d)(?! (?:eur|euros?|usd|dollars?|gbp|pounds?|k|thousand|million|m|bn|billion) )/;

/** The years in a question, each as the days that are meant: those of the year, before it, or since. */
export function yearsOf(words: QuestionWords): Period[] {
  return words.take(yearPattern).map(({ groups: [how = 'in', year], text, first }) => {
    const [starts, ends] = [`${year}-01-01`, `${year}-12-31`];
    const next = String(Number(year) + 1);
    const from = how === 'after' ? `${next}-01-01` : /until|before/.test(how) ? undefined : starts;
    const to = how === 'before' ? `${Number(year) - 1}-12-31` : /since|after/.test(how) ? undefined : ends;
    return { from, to, isNegated: words.takeNegation(first), text: /^\d/.test(text) ? `in ${text}` : text };
  });
}
