import { ConcurrencyLimiter } from '@octavo/core/concurrency';
import { rateLimited } from '../../errors.ts';

const waitingMax = 100;

/** Limits the turns of each client that run at the same time in this process. */
export class TurnLimits {
  readonly #running: number;
  readonly #waitMs: number;
  readonly #clients = new Map<string, { limiter: ConcurrencyLimiter; count: number }>();

  /** `generationsMax` turns of a client run at once, any number if it is 0; others wait up to `waitMs`. */
  constructor({ generationsMax, waitMs }: { generationsMax: number; waitMs: number }) {
    this.#running = generationsMax;
    this.#waitMs = waitMs;
  }

  /** Runs a turn beside others of the client. Throws `rate_limited` after a while. */
  async runLimited<T>(client: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    if (this.#running === 0) return work();
    const patience = AbortSignal.timeout(this.#waitMs);
    try {
      return await this.#queued(client, work, AbortSignal.any([signal, patience]));
    } catch (error) {
      if (error === patience.reason && patience.aborted)
        throw rateLimited('Too many answers are being written for you. Try again later.', 5);
      throw error;
    }
  }

  async #queued<T>(client: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const known = this.#clients.get(client);
    const limits = { running: this.#running, waiting: waitingMax };
    const line = known ?? { limiter: new ConcurrencyLimiter(limits), count: 0 };
    if (line.count >= this.#running + waitingMax)
      throw rateLimited('Too many questions wait. Try again later.', 10);
    this.#clients.set(client, line);
    line.count++;
    try {
      return await line.limiter.run(work, signal);
    } finally {
      if (--line.count === 0) this.#clients.delete(client);
    }
  }
}
