import { AppError } from '@octavo/core';
import { WorkerPool } from '@octavo/core/concurrency';
import type { Classification, Classifier } from './classifier.ts';
import { type Batch, ClassifierQueue, type Place } from './classifier-queue.ts';
import type { ModelTasks } from './model-thread.ts';

/** The shipped model. The number rises when the weights change. */
export const shippedModel = 'octavo-1';

// About 15 ms of work: a new request waits for at most two slices.
const sliceCharactersMax = 20_000;
const sliceTextsMax = 128;
// The thread has its next slice before it has answered the last.
const slicesUnderWayMax = 2;
const idleMs = 60_000;

/** The shipped model in a worker thread, which starts with the first text and ends after a minute without any. */
export class ThreadClassifier implements Classifier {
  readonly model = shippedModel;
  readonly #queue = new ClassifierQueue();
  readonly #thread = new WorkerPool<ModelTasks>(new URL('./model-thread.ts', import.meta.url), {
    name: 'classifier',
    idleMs,
  });
  #slicesUnderWay = 0;
  #isScheduled = false;
  #isClosed = false;

  async classify(texts: readonly string[], signal?: AbortSignal): Promise<Classification[]> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw unavailable();
    if (texts.length === 0) return [];
    const { promise, resolve, reject } = Promise.withResolvers<Classification[]>();
    const batch: Batch = { texts, done: [], handedOut: 0, settled: 0, resolve, reject };
    const giveUp = () => {
      this.#queue.remove(batch);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    this.#queue.add(batch);
    this.#schedule();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  async ping(signal: AbortSignal): Promise<void> {
    if (this.#isClosed) throw unavailable();
    // A thread is not started only to be asked.
    if (this.#thread.threadCount > 0) await this.classify([''], signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const { reject } of this.#queue.clear()) reject(unavailable());
    await this.#thread[Symbol.asyncDispose]();
  }

  /** Schedules work after this turn of the event loop, so that texts that arrive together go together. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#feed();
    });
  }

  #feed(): void {
    while (!this.#isClosed && this.#slicesUnderWay < slicesUnderWayMax) {
      const places = this.#queue.next(sliceTextsMax, sliceCharactersMax);
      if (places.length === 0) return;
      void this.#classifySlice(places);
    }
  }

  async #classifySlice(places: readonly Place[]): Promise<void> {
    this.#slicesUnderWay++;
    try {
      const texts = places.map(({ batch, index }) => batch.texts[index] as string);
      settle(places, await this.#thread.run('classify', texts));
    } catch (error) {
      for (const { batch } of places) {
        this.#queue.remove(batch);
        batch.reject(unavailable(error));
      }
    } finally {
      this.#slicesUnderWay--;
      this.#feed();
    }
  }
}

function settle(places: readonly Place[], classifications: readonly Classification[]): void {
  for (const [at, { batch, index }] of places.entries()) {
    batch.done[index] = classifications[at] as Classification;
    if (++batch.settled === batch.texts.length) batch.resolve(batch.done);
  }
}

function unavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'The sentiment model does not respond.', {
    retryAfterSeconds: 1,
    cause,
  });
}
