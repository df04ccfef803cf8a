import { AppError } from '@octavo/core';

export interface BatchesOptions<T, R> {
  readonly itemsMax: number;
  /** Does the work of several items, and returns the result of each in their order. */
  run(items: readonly T[]): Promise<readonly R[]>;
}

interface Waiting<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Does work in batches: items that arrive while a batch runs become the next one. Many small transactions that would wait for the
 * same row share one, and an item alone does not wait. If a batch fails, each of its items is tried alone,
 * unless the error is `unavailable` or `timeout`: then its work would fail again, or may have been done.
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
      const batch = this.#waiting.splice(0, this.#options.itemsMax);
      const isDone = await this.#run(batch, batch.length > 1);
      if (!isDone) for (const one of batch) await this.#run([one], false);
    }
    this.#isRunning = false;
  }

  /** False if the batch failed and is to be tried in another way. */
  async #run(batch: readonly Waiting<T, R>[], hasOtherWay: boolean): Promise<boolean> {
    try {
      const results = await this.#options.run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as R);
    } catch (error) {
      if (hasOtherWay && !isFinal(error)) return false;
      for (const { reject } of batch) reject(error);
    }
    return true;
  }
}

function isFinal(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'unavailable' || error.code === 'timeout');
}
