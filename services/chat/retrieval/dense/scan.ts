import { type Match, TopK } from '../top-k.ts';

/** Vectors side by side, each value as 8 bits; the factors bring them back to length 1. In shared memory. */
export interface Block {
  readonly values: Int8Array;
  readonly factors: Float32Array;
}

/** Vectors to compare with a question. */
export interface Scan {
  readonly blocks: readonly Block[];
  readonly dimensions: number;
  /** Number of vectors, and a bit for each that can be found; all of them if undefined. */
  readonly size: number;
  readonly wanted: Uint8Array | undefined;
  readonly question: Float32Array;
  readonly limit: number;
}

export const blockVectors = 1_024;
const valueMax = 127;
/** Of the question; 32 bits hold the sum of 8,192 products. */
const questionMax = 2_047;

/** The numbers of the nearest vectors, nearest first. Scores are cosines. */
export function scan({ blocks, dimensions, size, wanted, question, limit }: Scan): Match[] {
  const rounded = new Int16Array(dimensions);
  const factor = quantize(question, rounded, questionMax);
  const best = new TopK(limit);
  for (let ordinal = 0; ordinal < size; ordinal++) {
    if (wanted && ((wanted[ordinal >> 3] as number) & (1 << (ordinal & 7))) === 0) continue;
    const { values, factors } = blocks[Math.floor(ordinal / blockVectors)] as Block;
    const place = ordinal % blockVectors;
    const sum = product(values, place * dimensions, rounded);
    best.add(ordinal, sum * factor * (factors[place] as number));
  }
  return best.sorted();
}

/** Rounds a vector to whole numbers, and returns the factor that brings it back. */
export function quantize(vector: Float32Array, into: Int8Array | Int16Array, max: number = valueMax): number {
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const factor = largest / max || 1;
  for (let index = 0; index < vector.length; index++)
    into[index] = Math.round((vector[index] as number) / factor);
  return factor;
}

/** Four sums side by side take half of the time of one, as none waits for another. */
function product(values: Int8Array, from: number, question: Int16Array): number {
  const times = (index: number) => Math.imul(values[from + index] as number, question[index] as number);
  const whole = question.length & ~3;
  let [first, second, third, fourth] = [0, 0, 0, 0];
  for (let index = 0; index < whole; index += 4) {
    first = (first + times(index)) | 0;
    second = (second + times(index + 1)) | 0;
    third = (third + times(index + 2)) | 0;
    fourth = (fourth + times(index + 3)) | 0;
  }
  for (let index = whole; index < question.length; index++) first = (first + times(index)) | 0;
  return (first + second + third + fourth) | 0;
}
