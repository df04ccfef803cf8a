import { AppError } from '../base/errors.ts';

/** The limits of a {@link ConcurrencyLimiter}. */
export interface ConcurrencyLimits {
  /** Number of tasks that run at the same time. */
  readonly running: number;
  /** Number of further tasks that may wait, first come, first served. */
  readonly waiting: number;
}

/** Lets a limited number of expensive tasks run at the same time, and a limited number wait. */
export class ConcurrencyLimiter {
  readonly #options: ConcurrencyLimits;
  readonly #queue = new Set<() => void>();
  #running = 0;

  constructor(options: ConcurrencyLimits) {
    this.#options = options;
  }

  /** True if no task runs or waits. */
  get isIdle(): boolean {
    return this.#running === 0 && this.#queue.size === 0;
  }

  /**
   * Runs the task when there is a free slot, and returns its result. Throws `unavailable` with a retry after 1 s if too many
   * wait, and the reason of `signal` if it aborts while the task waits.
   */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    using _ = await this.enter(signal);
    return await work();
  }

  /** Waits for a slot as {@link run} does. It is taken until it is disposed. */
  async enter(signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted();
    const slot = { [Symbol.dispose]: () => this.#leave() };
    if (this.#running < this.#options.running) {
      this.#running++;
      return slot;
    }
    if (this.#queue.size >= this.#options.waiting) {
      throw new AppError('unavailable', 'Too many requests at the same time. Try again in a moment.', {
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
    return slot;
  }

  /** Passes the slot directly to the task that waits longest, so that none overtakes it. */
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
