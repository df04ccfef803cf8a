import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import type { Tables } from '../tables.ts';
import { renewTurns } from './store.ts';

/** How often a process says that it still runs its turns, and learns which of them were cancelled in another one. */
const beatMs = 800;

/** The turns that this process runs, while it runs them. */
export class Leases {
  readonly #database: Database<Tables>;
  readonly #clock: Clock;
  readonly #stops = new Map<string, () => void>();
  #timer: NodeJS.Timeout | undefined;
  #isRenewing = false;

  constructor(database: Database<Tables>, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Keeps the lease of a run until it is disposed of. Calls `stop` if it was cancelled, taken over or deleted. */
  hold(run: string, stop: () => void): Disposable {
    this.#stops.set(run, stop);
    this.#timer ??= setInterval(() => void this.#renew(), beatMs).unref();
    return {
      [Symbol.dispose]: () => {
        this.#stops.delete(run);
        if (this.#stops.size > 0) return;
        clearInterval(this.#timer);
        this.#timer = undefined;
      },
    };
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    try {
      const runs = [...this.#stops.keys()];
      const renewed = new Set(await renewTurns(this.#database, runs, this.#clock.now()));
      for (const run of runs) if (!renewed.has(run)) this.#stops.get(run)?.();
    } catch {
      // The database does not answer. The next beat tries again.
    } finally {
      this.#isRenewing = false;
    }
  }
}
