import { eigenvectors } from './eigen.ts';
import { normal, seededRandom } from './random.ts';

const window = 5;
const iterations = 6;
const spare = 8;

/**
 * Word vectors from who stands beside whom: positive pointwise mutual information, reduced to its `dimensions`
 * strongest directions (Levy and Goldberg 2014; subspace iteration). Row-major, with a standard deviation of 0.1.
 * Ids 0 and 1 are kept for nothing and the unknown word, and stay zero.
 */
export function trainVectors(
  texts: readonly (readonly number[])[],
  size: number,
  dimensions: number,
): Float32Array {
  const matrix = mutualInformation(counts(texts, size));
  const rank = dimensions + spare;
  const random = seededRandom(17);
  let basis: Float64Array = new Float64Array(size * rank).map(() => normal(random));
  for (let iteration = 0; iteration < iterations; iteration++) {
    orthonormalise(basis, rank);
    basis = multiply(matrix, basis, rank);
  }
  orthonormalise(basis, rank);
  return standardised(rotated(matrix, basis, { rank, dimensions }));
}

type Rows = Map<number, number>[];

function counts(texts: readonly (readonly number[])[], size: number): Rows {
  const rows: Rows = Array.from({ length: size }, () => new Map());
  const count = (one: number, other: number, weight: number) =>
    (rows[one] as Map<number, number>).set(
      other,
      ((rows[one] as Map<number, number>).get(other) ?? 0) + weight,
    );
  for (const text of texts)
    for (let index = 0; index < text.length; index++)
      for (let distance = 1; distance <= window && index + distance < text.length; distance++) {
        const [one, other] = [text[index] as number, text[index + distance] as number];
        if (one < 2 || other < 2) continue;
        count(one, other, 1 / Math.sqrt(distance));
        count(other, one, 1 / Math.sqrt(distance));
      }
  return rows;
}

/** Frequencies are raised to 0.875 on both sides, which keeps rare pairs from leading and the matrix symmetric. */
function mutualInformation(rows: Rows): Rows {
  const totals = rows.map((row) => row.values().reduce((a, b) => a + b, 0));
  const all = totals.reduce((sum, total) => sum + total ** 0.75, 0);
  for (const [one, row] of rows.entries())
    for (const [other, count] of row) {
      const expected = ((totals[one] as number) * (totals[other] as number)) ** 0.875 / all;
      if (count > expected) row.set(other, Math.log(count / expected));
      else row.delete(other);
    }
  return rows;
}

function multiply(matrix: Rows, basis: Float64Array, rank: number): Float64Array {
  const product = new Float64Array(basis.length);
  for (const [one, row] of matrix.entries())
    for (const [other, value] of row)
      for (let k = 0; k < rank; k++)
        (product[one * rank + k] as number) += value * (basis[other * rank + k] as number);
  return product;
}

/** Modified Gram-Schmidt over the columns. */
function orthonormalise(basis: Float64Array, rank: number): void {
  const dot = (one: number, other: number) => {
    let sum = 0;
    for (let at = 0; at < basis.length; at += rank)
      sum += (basis[at + one] as number) * (basis[at + other] as number);
    return sum;
  };
  for (let k = 0; k < rank; k++) {
    for (let before = 0; before < k; before++) {
      const share = dot(k, before);
      for (let at = 0; at < basis.length; at += rank)
        (basis[at + k] as number) -= share * (basis[at + before] as number);
    }
    const length = Math.sqrt(dot(k, k));
    for (let at = 0; at < basis.length; at += rank) (basis[at + k] as number) /= length;
  }
}

function rotated(
  matrix: Rows,
  basis: Float64Array,
  { rank, dimensions }: { rank: number; dimensions: number },
): Float32Array {
  const product = multiply(matrix, basis, rank);
  const small = Array.from({ length: rank }, () => new Float64Array(rank));
  for (let at = 0; at < basis.length; at += rank)
    for (let i = 0; i < rank; i++)
      for (let j = 0; j < rank; j++)
        ((small[i] as Float64Array)[j] as number) += (basis[at + i] as number) * (product[at + j] as number);
  const strongest = eigenvectors(small)
    .toSorted((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, dimensions);
  const size = basis.length / rank;
  const vectors = new Float32Array(size * dimensions);
  for (let word = 0; word < size; word++)
    for (const [d, { value, vector }] of strongest.entries()) {
      let sum = 0;
      for (let k = 0; k < rank; k++) sum += (basis[word * rank + k] as number) * (vector[k] as number);
      vectors[word * dimensions + d] = sum * Math.sqrt(Math.abs(value));
    }
  return vectors;
}

function standardised(vectors: Float32Array): Float32Array {
  const deviation = Math.sqrt(vectors.reduce((sum, value) => sum + value * value, 0) / vectors.length);
  return vectors.map((value) => (0.1 * value) / deviation);
}
