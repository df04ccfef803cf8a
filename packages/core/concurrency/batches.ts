import { AppError } from '../base/errors.ts';

export interface BatchesOptions<T, R> {
  readonly itemsMax: number;
  /**
   * Does the work of the items that it takes, and returns the result of each in their order. It takes at least one. Those that arrive
   * meanwhile can still be taken; those that are left are for the next batch.
   */
  run(items: Iterable<T>): Promise<readonly R[]>;
  /** Called when nothing is left to do. */
  onIdle?(): void;
}

interface Waiting<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Does work in batches: items that arrive while a batch runs become the next one. Many small transactions that would wait for the
 * same row share one, and an item alone does not wait. If a batch fails, each item that it took is tried alone, unless the error is
 * `unavailable` or `timeout`: then its work would fail again, or may have been done. If it fails before it takes one, all that wait fail.
 */
export class Batches<T, R> {
  readonly #options: BatchesOptions<T, R>;
  #waiting: Waiting<T, R>[] = [];
  #isRunning = false;

  constructor(options: BatchesOptions<T, R>) {
    this.#options = options;
  }

  /** The result of the item, once its batch is done. */
  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#isRunning) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const batch: Waiting<T, R>[] = [];
      const isDone = await this.#run(batch, this.#take(batch));
      if (!isDone) for (const one of batch) await this.#run([one], [one.item]);
    }
    this.#isRunning = false;
    this.#options.onIdle?.();
  }

  /** Takes what waits into a batch, one after another. */
  *#take(batch: Waiting<T, R>[]): Generator<T> {
    while (batch.length < this.#options.itemsMax) {
      const next = this.#waiting.shift();
      if (!next) return;
      batch.push(next);
      yield next.item;
    }
  }

  /** False if the batch failed and is to be tried in another way. */
  async #run(batch: readonly Waiting<T, R>[], items: Iterable<T>): Promise<boolean> {
    try {
      const results = await this.#options.run(items);
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as R);
    } catch (error) {
      if (batch.length > 1 && !isFinal(error)) return false;
      const failed = batch.length > 0 ? batch : this.#waiting.splice(0);
      for (const { reject } of failed) reject(error);
    }
    return true;
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'unavailable' || error.code === 'timeout');
}
