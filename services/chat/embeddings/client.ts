import type { Clock } from '@octavo/core';
import { backoffMs } from '@octavo/core/concurrency';
import { EmbeddingFailure, failureOf } from './failure.ts';
import type { EmbeddingMetrics, Purpose } from './metrics.ts';
import type { VectorSource } from './source.ts';
import { normalized } from './vector.ts';

export interface EmbeddingOptions {
  readonly source: VectorSource;
  /** Time that a question waits for its vector. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly metrics: EmbeddingMetrics;
}

const cachedMax = 500;
/** Many texts take longer than one question. */
const passagesTimeoutTimes = 30;
const pause = { firstMs: 1_000, maxMs: 30_000 };

/** The vectors of a source as they are asked for: those of questions are kept, and a source that fails gets a pause. */
export class EmbeddingClient {
  readonly #options: EmbeddingOptions;
  /** Vectors of the questions that were asked last. */
  readonly #cached = new Map<string, Float32Array>();
  /** The size that vectors must have, once it is known. */
  dimensions: number | undefined;
  /** Failure of the last request, in words that follow the title of the source; undefined if it was answered, and before the first. */
  problem: string | undefined;
  /** True if a request was answered. */
  isAnswered = false;
  #failures = 0;
  #pausedUntilMs = 0;

  constructor(options: EmbeddingOptions) {
    this.#options = options;
    this.dimensions = options.source.dimensions;
  }

  get source(): VectorSource {
    return this.#options.source;
  }

  /** Vectors of questions. Throws an `EmbeddingFailure`; after one, at once for a while, so that questions do not wait for nothing. */
  async questions(texts: readonly string[]): Promise<Float32Array[]> {
    const { clock, metrics, timeoutMs } = this.#options;
    const found = new Map(texts.map((text) => [text, this.#cached.get(text)]));
    const unknown = [...found.keys()].filter((text) => !found.get(text));
    metrics.cacheHits(found.size - unknown.length);
    if (unknown.length > 0) {
      if (clock.now() < this.#pausedUntilMs) throw new EmbeddingFailure('is not answering');
      const vectors = await this.#request('question', unknown, { timeoutMs }).catch((error) => {
        // Questions that failed together count once.
        if (clock.now() >= this.#pausedUntilMs)
          this.#pausedUntilMs = clock.now() + backoffMs(++this.#failures, pause);
        throw error;
      });
      for (const [index, text] of unknown.entries()) found.set(text, vectors[index]);
    }
    for (const [text, vector] of found) this.#keep(text, vector as Float32Array);
    return texts.map((text) => found.get(text) as Float32Array);
  }

  #keep(text: string, vector: Float32Array): void {
    this.#cached.delete(text);
    this.#cached.set(text, vector);
    if (this.#cached.size > cachedMax) this.#cached.delete(this.#cached.keys().next().value as string);
  }

  /** Vectors of passages, in their order. Throws an `EmbeddingFailure`. */
  passages(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const timeoutMs = this.#options.timeoutMs * passagesTimeoutTimes;
    return this.#request('passages', texts, { timeoutMs, stop: signal });
  }

  async #request(
    purpose: Purpose,
    texts: readonly string[],
    { timeoutMs, stop }: { timeoutMs: number; stop?: AbortSignal },
  ): Promise<Float32Array[]> {
    const { metrics, source } = this.#options;
    const startMs = performance.now();
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = stop ? AbortSignal.any([stop, timeout]) : timeout;
    try {
      const vectors = await source.vectors({ texts, purpose, signal });
      if (vectors.length !== texts.length)
        throw new EmbeddingFailure(`gave ${vectors.length} vectors for ${texts.length} texts`);
      const size = this.dimensions ?? vectors[0]?.length;
      const normal = vectors.map((vector) => normalized(vector, size));
      this.problem = undefined;
      this.isAnswered = true;
      this.#failures = 0;
      this.#pausedUntilMs = 0;
      metrics.requested(purpose, 'ok', performance.now() - startMs);
      return normal;
    } catch (error) {
      const failure = failureOf(error);
      metrics.requested(purpose, failure.isRefusal ? 'refused' : 'failed', performance.now() - startMs);
      if (!failure.isRefusal && !stop?.aborted) this.problem = failure.message;
      throw failure;
    }
  }
}
