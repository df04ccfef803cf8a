/** Messages between a process and the encoder that it runs. */

/** The name and the size of the vectors, which have length 1. */
export const encoderModel = 'universal-sentence-encoder-lite';
/** See {@link encoderModel}. */
export const encoderDimensions = 512;
/** Length of a text in UTF-16 code units, beyond which nothing is read. */
export const textMax = 2_000;

/** Texts to encode together. */
export interface EncodeCommand {
  readonly texts: readonly string[];
}

/** The vectors of the texts, or the reason why there are none. */
export type EncodeReply = { readonly memoryBytes: number } & (
  | { readonly vectors: readonly Float32Array[]; readonly tokens: readonly number[] }
  | { readonly failure: string }
);
