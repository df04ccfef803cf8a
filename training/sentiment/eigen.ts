export interface Eigenpair {
  readonly value: number;
  readonly vector: readonly number[];
}

/** All eigenpairs of a small symmetric matrix, by Jacobi's rotations; the matrix is used up. */
export function eigenvectors(matrix: Float64Array[]): Eigenpair[] {
  const size = matrix.length;
  const basis = matrix.map((_, row) => Float64Array.from({ length: size }, (_, k) => (k === row ? 1 : 0)));
  for (let sweep = 0; sweep < 30 && offDiagonal(matrix) > 1e-12; sweep++)
    for (let p = 0; p < size; p++) for (let q = p + 1; q < size; q++) rotate(matrix, basis, [p, q]);
  return matrix.map((row, k) => ({ value: row[k] as number, vector: basis.map((one) => one[k] as number) }));
}

function offDiagonal(matrix: readonly Float64Array[]): number {
  let [off, on] = [0, 0];
  for (const [i, row] of matrix.entries())
    for (const [j, value] of row.entries())
      if (i === j) on += value * value;
      else off += value * value;
  return off / on;
}

function rotate(matrix: Float64Array[], basis: Float64Array[], [p, q]: readonly [number, number]): void {
  const element = (matrix[p] as Float64Array)[q] as number;
  if (element === 0) return;
  const theta =
    (((matrix[q] as Float64Array)[q] as number) - ((matrix[p] as Float64Array)[p] as number)) / (2 * element);
  const tangent = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const cosine = 1 / Math.sqrt(tangent * tangent + 1);
  const turn = (row: Float64Array) => {
    const [one, other] = [row[p] as number, row[q] as number];
    row[p] = cosine * one - tangent * cosine * other;
    row[q] = tangent * cosine * one + cosine * other;
  };
  for (const row of matrix) turn(row);
  const [upper, lower] = [(matrix[p] as Float64Array).slice(), (matrix[q] as Float64Array).slice()];
  for (let k = 0; k < matrix.length; k++) {
    (matrix[p] as Float64Array)[k] = cosine * (upper[k] as number) - tangent * cosine * (lower[k] as number);
    (matrix[q] as Float64Array)[k] = tangent * cosine * (upper[k] as number) + cosine * (lower[k] as number);
  }
  for (const row of basis) turn(row);
}
