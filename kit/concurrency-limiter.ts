import { AppError } from './errors.ts';

/** How much work a {@link ConcurrencyLimiter} admits. */
export interface ConcurrencyLimits {
  /** How many pieces of work run at once. */
  readonly running: number;
  /** How many more may wait for their turn, first come, first served. */
  readonly waiting: number;
}

/** Lets a bounded number of costly pieces of work run at once, and a bounded number wait. */
export class ConcurrencyLimiter {
  readonly #options: ConcurrencyLimits;
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(options: ConcurrencyLimits) {
    this.#options = options;
  }

  /** What the work gives, once it had its turn. Throws `unavailable`, retry after 1 s, where the queue is full. */
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
      throw new AppError('unavailable', 'Too many such requests at once; try again in a moment.', {
        retryAfterSeconds: 1,
      });
    }
    await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  /** The turn passes straight to whoever waits longest, so that nobody overtakes. */
  #leave(): void {
    const next = this.#queue.shift();
    if (next) next();
    else this.#running--;
  }
}
