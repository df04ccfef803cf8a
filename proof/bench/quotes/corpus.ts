import { readSeedQuotes } from '../../../services/quotes/seed/seed.ts';

export interface SyntheticQuote {
  readonly text: string;
  readonly author: string;
  readonly category: string;
}

/** Mandelbrot's law of word frequencies, 1 / (rank + 2.7), over a vocabulary of this size. */
const vocabularySize = 60_000;
const offset = 2.7;
const authorCount = 20_000;
const categoryCount = 200;

/**
 * Quotes whose words are as frequent as those of English: the most frequent are those of the demo quotes in their order, the
 * rest are made of syllables. 5 to 80 words each, about 20 in the middle. A few authors and categories have most quotes.
 */
export class Corpus {
  readonly #words = vocabulary();
  readonly #cumulative = cumulative(vocabularySize, offset);
  readonly #authors = cumulative(authorCount, 20);
  readonly #categories = cumulative(categoryCount, 5);
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomNumbers(seed);
  }

  next(): SyntheticQuote {
    const length = Math.min(80, Math.max(5, Math.round(20 * Math.exp(0.55 * this.#normal()))));
    const words = Array.from({ length }, () => this.word());
    const [first = ''] = words;
    words[0] = first.charAt(0).toUpperCase() + first.slice(1);
    return {
      text: `${words.join(' ')}.`,
      author: nameOf(pick(this.#authors, this.#random())),
      category: this.#words[200 + pick(this.#categories, this.#random())] as string,
    };
  }

  /** A word as frequent as it is in texts. */
  word(): string {
    return this.#words[pick(this.#cumulative, this.#random())] as string;
  }

  #normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.#random())) * Math.cos(2 * Math.PI * this.#random());
  }
}

function vocabulary(): string[] {
  const counts = new Map<string, number>();
  for (const { text } of readSeedQuotes()) {
    for (const word of text.toLowerCase().match(/[a-z]+/g) ?? [])
      counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const head = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([word]) => word);
  const known = new Set(head);
  for (let number = 0; known.size < vocabularySize; number++) known.add(madeUp(number));
  return [...known];
}

const syllables =
  'ba co du fe gi ha jo ka le mi no pu ra so te vi wo xu ya zi bra cle dri fro gla pre sta tri'.split(' ');

function madeUp(number: number): string {
  let word = '';
  for (let rest = number + syllables.length ** 2; rest > 0; rest = Math.floor(rest / syllables.length)) {
    word += syllables[rest % syllables.length];
  }
  return word;
}

function nameOf(index: number): string {
  const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
  return `${capital(madeUp(index % 300))} ${capital(madeUp(1_000 + index))}`;
}

function cumulative(size: number, shift: number): Float64Array {
  const sums = new Float64Array(size);
  let sum = 0;
  for (let rank = 0; rank < size; rank++) {
    sum += 1 / (rank + 1 + shift);
    sums[rank] = sum;
  }
  return sums;
}

function pick(sums: Float64Array, random: number): number {
  const wanted = random * (sums.at(-1) as number);
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sums[middle] as number) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Mulberry32: the same numbers for the same seed. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
