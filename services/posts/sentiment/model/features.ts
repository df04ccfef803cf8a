import type { Valence } from './lexicon.ts';
import { numbersPerText, signalsOf } from './lexicon.ts';
import type { Token } from './tokens.ts';

export const wordBuckets = 2 ** 18;
export const characterBuckets = 2 ** 18;
export const polarityBuckets = 2 ** 17;
export const markBuckets = 2 ** 10;

/** Offsets of the families in the one weight table that they share. */
export const offsets = {
  words: 0,
  characters: wordBuckets,
  polarity: wordBuckets + characterBuckets,
  marks: wordBuckets + characterBuckets + polarityBuckets,
  numbers: wordBuckets + characterBuckets + polarityBuckets + markBuckets,
};
export const columns = offsets.numbers + numbersPerText + 1;

/** The features of a text: families of n-grams, each given by its columns, and the numbers, with the bias last. */
export interface Features {
  readonly families: readonly Family[];
  readonly numbers: readonly number[];
}

interface Family {
  readonly columns: readonly number[];
  /** Value of every column, so that a family has length 1 for a text of any length. */
  readonly value: number;
}

/** Reads texts one after the other: what it has seen in a text it marks with the text's number, from 1 to 255. */
export class FeatureExtractor {
  readonly #seen = new Uint8Array(offsets.numbers);
  #text = 0;

  featuresOf(tokens: readonly Token[], valences: readonly Valence[]): Features {
    this.#text = (this.#text % 255) + 1;
    if (this.#text === 1) this.#seen.fill(0);
    const words = tokens.map((token) => hashText(token.text, token.negated ? 2 : 1));
    const { numbers, marks } = signalsOf(tokens, valences);
    return {
      families: [
        this.#distinct(wordGrams(words)),
        this.#distinct(characterGrams(tokens)),
        this.#distinct(polarityGrams(tokens, words, valences)),
        { columns: marks.map(markColumn), value: 0.2 },
      ],
      numbers: [...numbers.map((number) => 0.3 * number), 1],
    };
  }

  #distinct(found: readonly number[]): Family {
    const columns: number[] = [];
    for (let index = 0; index < found.length; index++) {
      const column = found[index] as number;
      if (this.#seen[column] === this.#text) continue;
      this.#seen[column] = this.#text;
      columns.push(column);
    }
    return { columns, value: 1 / Math.sqrt(columns.length) };
  }
}

function markColumn(mark: string, index: number): number {
  return offsets.marks + (hashText(mark, 20 + index) & (markBuckets - 1));
}

const edge = 0x5bd1e995;

function wordGrams(words: readonly number[]): number[] {
  const found: number[] = [];
  const keep = (value: number) => found.push(offsets.words + (value & (wordBuckets - 1)));
  for (const [index, word] of words.entries()) {
    const before = words[index - 1] ?? edge;
    keep(word);
    keep(join(before, word));
    if (index > 0) keep(join(join(words[index - 2] ?? edge, before), word));
  }
  keep(join(words.at(-1) ?? edge, edge));
  return found;
}

function characterGrams(tokens: readonly Token[]): number[] {
  const text = ` ${tokens.flatMap((token) => (token.text === '@' ? [] : [token.text])).join(' ')} `;
  const found: number[] = [];
  for (let start = 0; start + 3 <= text.length; start++) {
    let value = 0x811c9dc5;
    const end = Math.min(start + 5, text.length);
    for (let index = start; index < end; index++) {
      value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
      if (index >= start + 2) found.push(offsets.characters + (finish(value) & (characterBuckets - 1)));
    }
  }
  return found;
}

/** Word n-grams in which every listed word stands for its class: what "not GOOD at all" says of any good word. */
function polarityGrams(
  tokens: readonly Token[],
  words: readonly number[],
  valences: readonly Valence[],
): number[] {
  const classes = tokens.map((token, index) => {
    const { mean } = valences[index] ?? { mean: 0 };
    if (mean === 0) return words[index] ?? 0;
    return 16 + (token.negated ? 8 : 0) + (mean > 0 ? 4 : 0) + (Math.abs(mean) > 0.5 ? 2 : 0);
  });
  const found: number[] = [];
  const keep = (value: number) => found.push(offsets.polarity + (finish(value) & (polarityBuckets - 1)));
  let lastTold = edge;
  for (const [index, one] of classes.entries()) {
    const before = classes[index - 1] ?? edge;
    keep(one);
    keep(join(before, one));
    if (index > 0) keep(join(join(classes[index - 2] ?? edge, before), one));
    if (one >= 32 && !telling.test(tokens[index]?.text ?? '')) continue;
    keep(join(join(lastTold, 7), one));
    lastTold = one;
  }
  keep(join(join(lastTold, 7), edge));
  return found;
}

const telling = /^(?:!+|\?+|but)$/;

function hashText(text: string, seed: number): number {
  let value = 0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1);
  for (let index = 0; index < text.length; index++)
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return finish(value);
}

function join(left: number, right: number): number {
  return finish(Math.imul(left, 0x9e3779b1) ^ Math.imul(right + 0x7f4a7c15, 0x85ebca6b));
}

function finish(value: number): number {
  let mixed = value ^ (value >>> 15);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
