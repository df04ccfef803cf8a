import { ConcurrencyLimiter, type ConcurrencyLimits } from '#kit/concurrency-limiter.ts';
import { AppError } from '#kit/errors.ts';
import { rateLimited } from '../errors.ts';

/** How many turns of a session wait while one runs. */
const waitingInSession = 2;
const waitingOfClient = 100;

/** Limits on the turns that run at the same time. */
export class TurnLimits {
  readonly #sessions = new LimiterByKey({ running: 1, waiting: waitingInSession });
  readonly #clients: LimiterByKey | undefined;
  readonly #waitMs: number;

  /** `generationsMax` turns of a client run at once, any number if it is 0; others wait up to `waitMs`. */
  constructor({ generationsMax, waitMs }: { generationsMax: number; waitMs: number }) {
    this.#waitMs = waitMs;
    if (generationsMax > 0)
      this.#clients = new LimiterByKey({ running: generationsMax, waiting: waitingOfClient });
  }

  /** Runs a turn after those of its session. Throws `session_busy` if too many wait. */
  async inSession<T>(session: string | undefined, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (session === undefined) return work();
    if (!this.#sessions.hasRoom(session))
      throw new AppError('locked', 'This session is busy with other questions.');
    return this.#sessions.run(session, work, signal);
  }

  /** Runs a turn beside others of the client. Throws `rate_limited` after a while. */
  async ofClient<T>(client: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (!this.#clients) return work();
    if (!this.#clients.hasRoom(client)) throw rateLimited('Too many questions wait. Try again later.', 10);
    const patience = AbortSignal.timeout(this.#waitMs);
    try {
      return await this.#clients.run(client, work, AbortSignal.any([signal, patience]));
    } catch (error) {
      if (error === patience.reason && patience.aborted)
        throw rateLimited('Too many answers are being written for you. Try again later.', 5);
      throw error;
    }
  }
}

class LimiterByKey {
  readonly #limits: ConcurrencyLimits;
  readonly #limiters = new Map<string, { limiter: ConcurrencyLimiter; count: number }>();

  constructor(limits: ConcurrencyLimits) {
    this.#limits = limits;
  }

  /** Whether one more may run or wait. */
  hasRoom(key: string): boolean {
    return (this.#limiters.get(key)?.count ?? 0) < this.#limits.running + this.#limits.waiting;
  }

  async run<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const known = this.#limiters.get(key);
    const entry = known ?? { limiter: new ConcurrencyLimiter(this.#limits), count: 0 };
    if (!known) this.#limiters.set(key, entry);
    entry.count++;
    try {
      return await entry.limiter.run(work, signal);
    } finally {
      if (--entry.count === 0) this.#limiters.delete(key);
    }
  }
}
