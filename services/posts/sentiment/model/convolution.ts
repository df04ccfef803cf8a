import { labels } from './labels.ts';
import { Lexicon, type Valence } from './lexicon.ts';
import type { Token } from './tokens.ts';

export const dimensions = 48;
export const signals = 4;
export const inputs = dimensions + signals;
export const filters = 96;
export const reach = 3;
export const unknown = 1;
const classes = labels.length;

/** Weights that one net has learned. Kernels lie by place (before, at, after), input and filter. */
export interface Net {
  readonly vectors: Int8Array;
  readonly vectorScale: number;
  readonly kernels: Float32Array;
  readonly bias: Float32Array;
  /** Three weights for each filter's maximum, then for each input's sum over the text. */
  readonly output: Float32Array;
  readonly outputBias: Float32Array;
}

/** A token as the nets see it: its word, and beside it how good or bad that is, and three yes or no. */
export interface Reading {
  readonly id: number;
  readonly signals: readonly [number, number, number, number];
}

export function readingOf(id: number, token: Token, { mean }: Valence): Reading {
  const { negated, shouted, capitalized } = token;
  return { id, signals: [2 * mean, negated ? 1 : 0, shouted ? 1 : 0, capitalized ? 1 : 0] };
}

/**
 * Filters over three neighbouring words, each at its strongest place in the text, beside the sum of the words.
 * A word's product with the kernels is cached, so a text costs additions only.
 */
export class Convolution {
  readonly #net: Net;
  readonly #words = new Map<number, Product>();
  readonly #variants = new Map<number, Product>();
  readonly #signals: readonly Product[];
  readonly #best = new Int16Array(filters);

  constructor(net: Net) {
    this.#net = net;
    this.#signals = Array.from({ length: signals }, (_, signal) =>
      this.#multiply([1], dimensions + signal, undefined),
    );
  }

  scores(text: readonly Reading[]): number[] {
    const { output, outputBias } = this.#net;
    const products = text.map((reading) => this.#product(reading));
    strongest(products, this.#best);
    const shrink = 1 / Math.sqrt(Math.max(1, text.length));
    let [negative, neutral, positive] = [
      outputBias[0] as number,
      outputBias[1] as number,
      outputBias[2] as number,
    ];
    for (const { sums } of products) {
      negative += (sums[0] as number) * shrink;
      neutral += (sums[1] as number) * shrink;
      positive += (sums[2] as number) * shrink;
    }
    for (let filter = 0; filter < filters; filter++) {
      const value = (this.#best[filter] as number) / stepsPerUnit;
      negative += value * (output[filter * classes] as number);
      neutral += value * (output[filter * classes + 1] as number);
      positive += value * (output[filter * classes + 2] as number);
    }
    return [negative, neutral, positive];
  }

  #product({ id, signals }: Reading): Product {
    const [valence, negated, shouted, capitalized] = signals;
    const manner = negated + 2 * shouted + 4 * capitalized;
    const word = this.#words.get(id) ?? this.#multiplyWord(id);
    if (manner === 0 && valence === 0) return word;
    // A known word has one valence for ever; of the unknown some are listed, each with its own.
    if (id === unknown) return this.#withSignals(word, signals);
    const key = id * 8 + manner;
    const cached = this.#variants.get(key);
    if (cached !== undefined) return cached;
    const variant = this.#withSignals(word, signals);
    if (this.#variants.size >= variantsMax) this.#variants.clear();
    this.#variants.set(key, variant);
    return variant;
  }

  #multiplyWord(id: number): Product {
    const { vectors, vectorScale, bias } = this.#net;
    const vector = Array.from(
      vectors.subarray(id * dimensions, (id + 1) * dimensions),
      (step) => step * vectorScale,
    );
    const product = this.#multiply(vector, 0, bias);
    this.#words.set(id, product);
    return product;
  }

  #multiply(values: readonly number[], firstInput: number, bias: Float32Array | undefined): Product {
    const { kernels, output } = this.#net;
    const responses = new Float32Array(reach * filters);
    if (bias !== undefined) responses.set(bias, filters);
    const sums = [0, 0, 0];
    for (const [index, value] of values.entries()) {
      const input = firstInput + index;
      for (let place = 0; place < reach; place++) {
        const kernel = (place * inputs + input) * filters;
        for (let filter = 0; filter < filters; filter++)
          (responses[place * filters + filter] as number) += value * (kernels[kernel + filter] as number);
      }
      for (let k = 0; k < classes; k++)
        (sums[k] as number) += value * (output[(filters + input) * classes + k] as number);
    }
    return { responses: inSteps(responses), sums };
  }

  #withSignals(word: Product, values: Reading['signals']): Product {
    const responses = word.responses.slice();
    const sums = [...word.sums];
    for (const [index, signal] of this.#signals.entries()) {
      const value = values[index] as number;
      if (value === 0) continue;
      for (let at = 0; at < responses.length; at++)
        responses[at] = (responses[at] as number) + Math.round(value * (signal.responses[at] as number));
      for (let k = 0; k < classes; k++) (sums[k] as number) += value * (signal.sums[k] as number);
    }
    return { responses, sums };
  }
}

/** Effect of a word or a signal alone on the filters, before, at and after its place, and on the classes by the sum. */
interface Product {
  readonly responses: Int16Array;
  readonly sums: number[];
}

/** Most variants, which take 10 MB. */
const variantsMax = 12_000;

/** Whole numbers, because adding three and comparing is twice as fast with them; far from the ends of 16 bits. */
const stepsPerUnit = 512;
const stepsMax = 5_000;

function inSteps(values: Float32Array): Int16Array {
  const steps = new Int16Array(values.length);
  for (let at = 0; at < values.length; at++)
    steps[at] = Math.max(-stepsMax, Math.min(stepsMax, Math.round((values[at] as number) * stepsPerUnit)));
  return steps;
}

function strongest(products: readonly Product[], best: Int16Array): void {
  best.fill(0);
  for (let index = 0; index < products.length; index++) {
    const before = products[index - 1]?.responses ?? nothing;
    const here = (products[index] as Product).responses;
    const after = products[index + 1]?.responses ?? nothing;
    for (let filter = 0; filter < filters; filter++) {
      const value =
        (before[filter] as number) +
        (here[filters + filter] as number) +
        (after[2 * filters + filter] as number);
      if (value > (best[filter] as number)) best[filter] = value;
    }
  }
}

const nothing = new Int16Array(reach * filters);

interface Word {
  readonly id: number;
  valence: Valence | undefined;
}

/** Looks words up: their id (0 is nothing, 1 the unknown word, then as listed) and their valence. */
export class Vocabulary {
  readonly #lexicon: Lexicon;
  readonly #words: ReadonlyMap<string, Word>;

  constructor(words: readonly string[], lexicon: ReadonlyMap<string, Valence>) {
    this.#lexicon = new Lexicon(lexicon);
    this.#words = new Map(words.map((word, index) => [word, { id: index + 2, valence: undefined }]));
  }

  read(tokens: readonly Token[]): { valences: Valence[]; readings: Reading[] } {
    const valences: Valence[] = [];
    const readings: Reading[] = [];
    for (const token of tokens) {
      const word = this.#words.get(token.text);
      const valence = word?.valence ?? this.#lexicon.valenceOf(token.text);
      if (word !== undefined) word.valence = valence;
      valences.push(valence);
      readings.push(readingOf(word?.id ?? unknown, token, valence));
    }
    return { valences, readings };
  }
}
