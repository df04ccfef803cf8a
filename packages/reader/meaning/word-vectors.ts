import { readFileSync } from 'node:fs';
import { termsOf } from '@octavo/data/terms';

/** Name of the built-in vectors of meaning. */
export const meaningModel = 'builtin-words';
/** Size of a vector. */
export const meaningDimensions = 100;

/** A table of word vectors, as it is made in `training/retrieval/word-vectors.ts`. */
export interface WordVectors {
  /** Most frequent first. */
  readonly words: readonly string[];
  /** Each of length 1. */
  readonly vectors: readonly Float32Array[];
  /** Direction that all texts have in common, of length 1. */
  readonly common: Float32Array;
}

/** Frequency of a word by its rank, if words are as frequent as Zipf says. */
export function wordShare(rank: number): number {
  return 1 / ((rank + 3) * 12);
}

/** Weight of a word in the vector of a text: rare words say more. */
export function wordWeight(rank: number): number {
  return smoothing / (smoothing + wordShare(rank));
}

const smoothing = 3e-4;
const headerBytes = 8;

/** The table as a file: sizes, the common direction, the words, and one byte for each value. */
export function packWordVectors({ words, vectors, common }: WordVectors): Uint8Array {
  const text = Buffer.from(words.join('\n'));
  const header = Buffer.alloc(headerBytes);
  header.writeUInt32LE(words.length, 0);
  header.writeUInt32LE(text.length, 4);
  const direction = Buffer.alloc(4 * meaningDimensions);
  for (const [index, value] of common.entries()) direction.writeFloatLE(value, 4 * index);
  const values = new Int8Array(words.length * meaningDimensions);
  for (const [rank, vector] of vectors.entries()) {
    const largest = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0) || 1;
    for (const [index, value] of vector.entries())
      values[rank * meaningDimensions + index] = Math.round((value / largest) * 127);
  }
  return Buffer.concat([header, direction, text, Buffer.from(values.buffer)]);
}

interface Table {
  readonly ranks: ReadonlyMap<string, number>;
  readonly values: Int8Array;
  /** Factor of each word, 0 before its first use. */
  readonly factors: Float32Array;
  readonly common: Float32Array;
}

let table: Table | undefined;

/** Reads the table when it is first used, in some 40 ms. */
function loaded(): Table {
  if (table) return table;
  const bytes = readFileSync(new URL('./word-vectors.bin', import.meta.url));
  const [count, textLength] = [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
  const textAt = headerBytes + 4 * meaningDimensions;
  const common = Float32Array.from({ length: meaningDimensions }, (_, index) =>
    bytes.readFloatLE(headerBytes + 4 * index),
  );
  const words = bytes.toString('latin1', textAt, textAt + textLength).split('\n');
  const ranks = new Map(words.map((word, rank) => [word, rank]));
  const at = bytes.byteOffset + textAt + textLength;
  const values = new Int8Array(bytes.buffer, at, count * meaningDimensions);
  table = { ranks, values, factors: new Float32Array(count), common };
  return table;
}

/** The meaning of a text as a vector of length 1: the mean of its words, rare ones first. Empty if it knows no word. */
export function meaningOf(text: string): Float32Array {
  const { ranks, values, factors, common } = loaded();
  const sum = new Float32Array(meaningDimensions);
  for (const { word } of termsOf(text)) {
    const rank = ranks.get(word);
    if (rank === undefined) continue;
    const from = rank * meaningDimensions;
    factors[rank] ||= factorOf(values, rank);
    const factor = factors[rank] as number;
    for (let index = 0; index < meaningDimensions; index++)
      sum[index] = (sum[index] as number) + factor * (values[from + index] as number);
  }
  const shared = dot(sum, common);
  for (let index = 0; index < meaningDimensions; index++)
    sum[index] = (sum[index] as number) - shared * (common[index] as number);
  const length = Math.sqrt(dot(sum, sum));
  return length > 1e-6 ? sum.map((value) => value / length) : new Float32Array(0);
}

/** Returns how rare a word is in English, from 0 for the most frequent one to 1 for one that the table lacks. */
export function rarityInEnglish(word: string): number {
  const { ranks } = loaded();
  const rank = ranks.get(word);
  return rank === undefined ? 1 : Math.log(1 + rank) / Math.log(1 + ranks.size);
}

/** Cosine up to which words have nothing in common but the language. */
const alikeMin = 0.4;

/** Returns how much the nearest of other words is like a word: 0 for what has only the language in common, 1 for the same. */
export function likenessTo(word: string, others: readonly string[]): number {
  const { ranks, values } = loaded();
  const own = ranks.get(word);
  if (own === undefined) return 0;
  const vector = vectorAt(values, own);
  const length = Math.sqrt(dot(vector, vector)) || 1;
  let best = 0;
  for (const other of others) {
    const rank = ranks.get(other);
    if (rank === undefined) continue;
    const compared = vectorAt(values, rank);
    best = Math.max(best, dot(vector, compared) / length / (Math.sqrt(dot(compared, compared)) || 1));
  }
  return Math.max(0, (best - alikeMin) / (1 - alikeMin));
}

function vectorAt(values: Int8Array, rank: number): Int8Array {
  return values.subarray(rank * meaningDimensions, (rank + 1) * meaningDimensions);
}

/** Weight of a word over the length of its stored vector. */
function factorOf(values: Int8Array, rank: number): number {
  const vector = vectorAt(values, rank);
  return wordWeight(rank) / (Math.sqrt(dot(vector, vector)) || 1);
}

function dot(one: Float32Array | Int8Array, other: Float32Array | Int8Array): number {
  let sum = 0;
  for (let index = 0; index < meaningDimensions; index++)
    sum += (one[index] as number) * (other[index] as number);
  return sum;
}

/** A vector as it is stored, one byte for each value. */
export function packMeaning(vector: Float32Array): Uint8Array {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  return new Uint8Array(Int8Array.from(vector, (value) => Math.round((value / largest) * 127)).buffer);
}

/** A stored vector, of length 1; empty for one without words. */
export function unpackMeaning(bytes: Uint8Array): Float32Array {
  const values = Float32Array.from(bytes, (byte) => (byte << 24) >> 24);
  if (values.length !== meaningDimensions) return new Float32Array(0);
  const length = Math.sqrt(dot(values, values)) || 1;
  return values.map((value) => value / length);
}
