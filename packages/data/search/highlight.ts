import { type Term, termsOf } from './terms.ts';
import { type Clause, standsAt, type WordQuery } from './word-query.ts';

/** A part of a text, and whether the query matches it. */
export interface TextPart {
  readonly text: string;
  readonly isMatch: boolean;
}

/** The whole text in parts, with the words and phrases of the query marked. Callers escape the parts. */
export function highlight(text: string, query: WordQuery): TextPart[] {
  const terms = termsOf(text);
  const parts: TextPart[] = [];
  const push = (from: number, to: number, isMatch: boolean) => {
    if (to > from) parts.push({ text: text.slice(from, to), isMatch });
  };
  let end = 0;
  for (const range of matchingRanges(terms, query.wanted)) {
    push(end, range.start, false);
    push(Math.max(end, range.start), range.end, true);
    end = Math.max(end, range.end);
  }
  push(end, text.length, false);
  return parts;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** The positions of the wanted clauses, by ascending start. */
function matchingRanges(terms: readonly Term[], clauses: readonly Clause[]): Range[] {
  const ranges: Range[] = [];
  for (const [index, { start }] of terms.entries()) {
    for (const clause of clauses) {
      if (!standsAt(terms, index, clause)) continue;
      ranges.push({ start, end: (terms[index + clause.terms.length - 1] as Term).end });
    }
  }
  return ranges;
}
