import { withoutAccents } from '@octavo/core/text';

interface Token {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  isUsed: boolean;
}

const tokens =
  /\d{4}-\d\d-\d\d|[€$£]|(?<=\d)\s?[-–]\s?(?=\d)|\d[\d.,]*\d|\d|\p{L}[\p{L}\p{N}\p{M}]*(?:['’‘`]\p{L}+)*/gu;
const signs: Readonly<Record<string, string>> = { '€': 'eur', $: 'usd', '£': 'gbp' };
const negations =
  /^(?:not|no|non|never|neither|except|excluding|without|outside|isnt|arent|wasnt|werent|than)$/;
const between = /^(?:or|and|nor|in|the|of)$/;

/** A part of a question that was understood. */
export interface Match {
  readonly groups: readonly (string | undefined)[];
  /** As it was written. */
  readonly text: string;
  /** Index of its first word, and of the word after it. */
  readonly first: number;
  readonly next: number;
}

/** The words of a question. Each is used once; the unused words were not understood. */
export class QuestionWords {
  readonly text: string;
  readonly #tokens: Token[];

  constructor(text: string) {
    this.text = text;
    this.#tokens = [...text.matchAll(tokens)].map(({ 0: written, index }) => ({
      word: foldedToken(written),
      start: index,
      end: index + written.length,
      isUsed: false,
    }));
  }

  /** Understands each part that matches and is not understood yet. Words have a space on both sides. */
  take(pattern: RegExp, accepts: (match: Match) => boolean = () => true): Match[] {
    const matches: Match[] = [];
    let folded = ' ';
    const starts = this.#tokens.map(({ word, isUsed }) => {
      const start = folded.length;
      folded += `${isUsed ? '\u0000' : word} `;
      return start;
    });
    for (const found of folded.matchAll(new RegExp(`(?<= )(?:${pattern.source})(?= )`, 'gu'))) {
      const end = found.index + found[0].length;
      const first = starts.findIndex((start) => start >= found.index);
      const next = starts.findLastIndex((start) => start < end) + 1;
      const match = { groups: found.slice(1), text: this.#written(first, next), first, next };
      if (!accepts(match)) continue;
      this.use(first, next);
      matches.push(match);
    }
    return matches;
  }

  has(pattern: RegExp): boolean {
    const folded = ` ${this.#tokens.map(({ word }) => word).join(' ')} `;
    return new RegExp(`(?<= )(?:${pattern.source})(?= )`, 'u').test(folded);
  }

  use(first: number, next: number): void {
    for (const token of this.#tokens.slice(first, next)) token.isUsed = true;
  }

  wordAt(index: number): string | undefined {
    return this.#tokens[index]?.word;
  }

  /** Returns true if a word such as "not" is close before a place, and understands it. */
  takeNegation(before: number): boolean {
    for (let at = before - 1; at >= Math.max(0, before - 3); at--) {
      const token = this.#tokens[at];
      if (!token || (token.isUsed && !between.test(token.word))) return false;
      if (!negations.test(token.word)) continue;
      if (token.word === 'than' && this.wordAt(at - 1) !== 'other') return false;
      this.use(token.word === 'than' ? at - 1 : at, before);
      return true;
    }
    return false;
  }

  /** Understands each word that a test accepts. */
  takeEach(accepts: (word: string) => boolean): void {
    for (const token of this.#tokens) if (accepts(token.word)) token.isUsed = true;
  }

  /** The parts that were not understood, as they were written. */
  rest(isFiller: (word: string) => boolean): string[] {
    const parts: string[] = [];
    let first: number | undefined;
    let last = 0;
    const end = () => {
      if (first !== undefined) parts.push(this.#written(first, last + 1));
      first = undefined;
    };
    this.#tokens.forEach(({ word, isUsed }, index) => {
      if (isUsed) end();
      else if (!isFiller(word)) {
        first ??= index;
        last = index;
      }
    });
    end();
    return parts;
  }

  #written(first: number, next: number): string {
    return this.text.slice(this.#tokens[first]?.start ?? 0, this.#tokens[next - 1]?.end ?? 0);
  }
}

function foldedToken(written: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(written)) return written;
  if (/^\d/.test(written)) return written.replace(/,(?=\d{3}(?!\d))/g, '').replaceAll(',', '.');
  if (/^\s?[-–]\s?$/.test(written)) return 'to';
  return (
    signs[written] ??
    withoutAccents(written)
      .toLowerCase()
      .replace(/['’‘`]s$/, '')
      .replace(/['’‘`]/g, '')
  );
}

/** A text without case, accents and signs, each word between spaces. */
export function foldedWords(text: string): string {
  const words = withoutAccents(text)
    .toLowerCase()
    .replace(/['’‘`]s\b/g, '')
    .replace(/['’‘`]/g, '')
    .split(/[^\p{L}\p{N}]+/u);
  return ` ${words.filter((word) => word !== '').join(' ')} `;
}
