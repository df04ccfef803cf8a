import { type Term, termsOf } from './terms.ts';

/** Words that must stand one after another, in one field. */
export interface Clause {
  readonly terms: readonly Term[];
  /** Continuation of the last word: `only` finds the words that begin with it, `also` finds its stem too. */
  readonly prefix?: 'only' | 'also';
  /**
   * Weight of a match, such as the rarity of its words. For PostgreSQL, whose ranking does not know that; FTS5 weighs clauses
   * itself. Either all wanted clauses have it or none.
   */
  readonly weight?: number;
}

/** A search query. Without a wanted clause nothing matches. */
export interface WordQuery {
  readonly wanted: readonly Clause[];
  /** Clauses that no match contains. */
  readonly unwanted: readonly Clause[];
  /** `every` if a match has every wanted clause, `any` for at least one. */
  readonly match: 'every' | 'any';
}

export interface WordQueryOptions {
  /** `every` by default. */
  readonly match?: 'every' | 'any';
  /** True if the last word may be unfinished, for a search while someone types. */
  readonly isLastPrefix?: boolean;
}

/** Words beyond which a query is cut. */
const clausesMax = 32;

/**
 * Reads a query: words, `"a phrase"`, `-without`, `-"without a phrase"` and `prefix*`. Any text is a query: quotes that
 * do not end, lone operators and punctuation are ignored.
 */
export function parseWordQuery(text: string, options: WordQueryOptions = {}): WordQuery {
  const wanted: Clause[] = [];
  const unwanted: Clause[] = [];
  let isLastWanted = false;
  for (const [, minus, phrase, word = '', star] of text.matchAll(/(-?)(?:"([^"]*)"?|([^\s"*]+)(\**))/g)) {
    const terms = termsOf(phrase ?? word);
    if (terms.length === 0) continue;
    if (wanted.length + unwanted.length === clausesMax) break;
    const clause: Clause = star ? { terms, prefix: 'only' } : { terms };
    (minus ? unwanted : wanted).push(clause);
    isLastWanted = !minus && phrase === undefined && !star;
  }
  const last = options.isLastPrefix && isLastWanted ? wanted.pop() : undefined;
  if (last) wanted.push({ ...last, prefix: 'also' });
  return { wanted, unwanted, match: options.match ?? 'every' };
}

/** Returns true if a clause matches the words of a text from this index on. */
export function standsAt(terms: readonly Term[], index: number, { terms: wanted, prefix }: Clause): boolean {
  const last = wanted.length - 1;
  const begins = wanted.every(({ word }, at) => {
    const found = terms[index + at]?.word;
    return at === last ? found?.startsWith(word) : found === word;
  });
  if (prefix !== undefined && begins) return true;
  return prefix !== 'only' && wanted.every(({ stem }, at) => terms[index + at]?.stem === stem);
}
