import type { Purpose } from './metrics.ts';

/** Texts that need vectors. */
export interface VectorRequest {
  readonly texts: readonly string[];
  readonly purpose: Purpose;
  readonly signal: AbortSignal;
}

/** Source of vectors: a service, or the encoder of this machine. */
export interface VectorSource {
  readonly provider: 'openai-compatible' | 'local';
  readonly model: string;
  /** The size of vectors to ask for; that of the model if undefined. */
  readonly dimensions: number | undefined;
  /** Its name in front of a failure, such as "The embedding service". */
  readonly title: string;
  /** True for a text that it has no use for, which then has no vector. */
  leavesOut(text: string): boolean;
  /** Trust in its order of passages, 0 to 1, by the cosines of the nearest, nearest first. */
  trustIn(cosines: readonly number[]): number;
  /** One vector for each text. May throw anything. */
  vectors(request: VectorRequest): Promise<readonly ArrayLike<number>[]>;
}
