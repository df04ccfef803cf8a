import { type Term, termsOf } from '@octavo/data/terms';
import type { Question } from './question.ts';

/** Two words that follow each other in a question. */
export interface Pair {
  readonly first: string;
  readonly second: string;
  readonly weight: number;
}

/** Statistics of the words of the searched documents, by stem. */
export interface LibraryWords {
  rarityOf(stem: string): number;
  isKnown(stem: string): boolean;
  /** Share of the passages of a document that have a word. */
  shareIn(document: number, stem: string): number;
}

/** Weights of a question's words, to judge how much of it a text covers. */
export class QueryTermWeights {
  readonly question: Question;
  /** Returns the rarity of a word in the searched documents. */
  readonly rarityInLibrary: (stem: string) => number;
  readonly pairs: readonly Pair[];
  readonly #rarities = new Map<string, number>();
  /** Words that are names or numbers. */
  readonly #names: ReadonlySet<string>;
  readonly #words: ReadonlyMap<string, string>;
  readonly #total: number;
  readonly #isKnown: (stem: string) => boolean;
  readonly #shareIn: (document: number, stem: string) => number;

  constructor(question: Question, { rarityOf: rarityInLibrary, isKnown, shareIn }: LibraryWords) {
    this.question = question;
    this.rarityInLibrary = rarityInLibrary;
    this.#isKnown = isKnown;
    this.#shareIn = shareIn;
    for (const { stem } of question.terms) this.#rarities.set(stem, Math.max(0.01, rarityInLibrary(stem)));
    this.#total = [...this.#rarities.values()].reduce((sum, rarity) => sum + rarity, 0) || 1;
    this.#names = namesOf(question);
    this.#words = new Map(question.terms.map(({ stem, word }) => [stem, word]));
    this.pairs = pairsOf(question.terms).map(([first, second]) => {
      return { first, second, weight: this.rarityOf(first) + this.rarityOf(second) };
    });
  }

  /** Returns true if any document has a word with that stem. */
  isKnown(stem: string): boolean {
    return this.#isKnown(stem);
  }

  /** Returns how much a document is about a word: the share of its passages that have it. */
  shareIn(document: number, stem: string): number {
    return this.#shareIn(document, stem);
  }

  /** Returns the rarity of a word of the question; 0 for any other word. */
  rarityOf(stem: string): number {
    return this.#rarities.get(stem) ?? 0;
  }

  /** The word of the question with that stem. */
  wordOf(stem: string): string | undefined {
    return this.#words.get(stem);
  }

  /** Returns the share of the question's weight that passes a test, 0 to 1. */
  share(has: (stem: string) => boolean): number {
    return this.weighted((stem) => (has(stem) ? 1 : 0));
  }

  /** Returns the share of its names and numbers that passes a test; 0 if it has none. */
  nameShare(has: (stem: string) => boolean): number {
    let [found, total] = [0, 0];
    for (const stem of this.#names) {
      total += this.rarityOf(stem);
      if (has(stem)) found += this.rarityOf(stem);
    }
    return total === 0 ? 0 : found / total;
  }

  /** The mean of a value of each word by its weight. */
  weighted(valueFor: (stem: string) => number): number {
    let found = 0;
    for (const [stem, rarity] of this.#rarities) found += rarity * valueFor(stem);
    return found / this.#total;
  }

  /** Returns the share of the question's weight that a text covers. */
  coverage(text: string): number {
    const stems = new Set(termsOf(text).map(({ stem }) => stem));
    return this.share((stem) => stems.has(stem));
  }
}

function pairsOf(terms: readonly Term[]): [string, string][] {
  return terms.slice(1).map((term, index) => [(terms[index] as Term).stem, term.stem]);
}

/** Words in capitals, but for the first, and numbers. */
function namesOf({ text, terms }: Question): Set<string> {
  const named = terms.filter(({ start, end }) => start > 0 && /^[\p{Lu}\p{N}]/u.test(text.slice(start, end)));
  return new Set(named.map(({ stem }) => stem));
}
