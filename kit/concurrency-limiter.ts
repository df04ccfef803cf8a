import { AppError } from './errors.ts';

export interface ConcurrencyLimits {
  /** How many pieces of work run at once. */
  readonly running: number;
  /** How many more may wait for their turn, first come, first served. */
  readonly waiting: number;
}

/** Lets a bounded number of costly pieces of work run at once, and a bounded number wait. */
export class ConcurrencyLimiter {
  readonly #options: ConcurrencyLimits;
  readonly #queue = new Set<() => void>();
  #running = 0;

  constructor(options: ConcurrencyLimits) {
    this.#options = options;
  }

  /**
   * What the work gives, once it had its turn. Throws `unavailable`, retry after 1 s, where the queue is full, and the reason of
   * `signal` where it aborts before the turn comes.
   */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#running < this.#options.running) {
      this.#running++;
      return;
    }
    if (this.#queue.size >= this.#options.waiting) {
      throw new AppError('unavailable', 'Too many such requests at once; try again in a moment.', {
        retryAfterSeconds: 1,
      });
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      if (this.#queue.delete(resolve)) reject(signal?.reason);
    };
    this.#queue.add(resolve);
    signal?.addEventListener('abort', giveUp, { once: true });
    await promise.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  /** The turn passes straight to whoever waits longest, so that nobody overtakes. */
  #leave(): void {
    const [next] = this.#queue;
    if (!next) {
      this.#running--;
      return;
    }
    this.#queue.delete(next);
    next();
  }
}
