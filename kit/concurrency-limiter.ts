import { AppError } from './errors.ts';

/** The limits of a {@link ConcurrencyLimiter}. */
export interface ConcurrencyLimits {
  /** How many tasks run at the same time. */
  readonly running: number;
  /** How many more may wait, first come, first served. */
  readonly waiting: number;
}

/** Lets a limited number of expensive tasks run at the same time, and a limited number wait. */
export class ConcurrencyLimiter {
  readonly #options: ConcurrencyLimits;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(options: ConcurrencyLimits) {
    this.#options = options;
  }

  /**
   * Runs the task when there is a free slot, and returns its result. Throws `unavailable` with a retry after 1 s if too many
   * wait.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.#enter();
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < this.#options.running) {
      this.#running++;
      return;
    }
    if (this.#queue.length >= this.#options.waiting) {
      throw new AppError('unavailable', 'Too many requests at the same time. Try again in a moment.', {
        retryAfterSeconds: 1,
      });
    }
    await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  /** Passes the slot directly to the task that waits longest, so that none overtakes it. */
  #leave(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#running--;
  }
}
