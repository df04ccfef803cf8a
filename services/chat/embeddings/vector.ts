import { EmbeddingFailure } from './failure.ts';

export const dimensionsMax = 8_192;

/** A vector of length 1. Throws an `EmbeddingFailure` for anything but a vector of that size. */
export function normalized(vector: ArrayLike<number>, dimensions: number | undefined): Float32Array {
  const size = vector.length;
  if (size === 0 || size > dimensionsMax || (dimensions !== undefined && size !== dimensions))
    throw new EmbeddingFailure(
      `gave vectors of ${size} dimensions${dimensions === undefined ? '' : `, not of ${dimensions}`}`,
    );
  const length = Math.sqrt(Array.from(vector).reduce((sum, value) => sum + value * value, 0));
  if (!(length > 0 && Number.isFinite(length)))
    throw new EmbeddingFailure('gave a vector that is no direction');
  return Float32Array.from(vector, (value) => value / length);
}

/** As it is stored. */
export function packVector(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

export function unpackVector(bytes: Uint8Array): Float32Array {
  // A copy, because the bytes of a driver may begin anywhere.
  return new Float32Array(Uint8Array.from(bytes).buffer);
}
