import type { Clock } from '#kit/base/clock.ts';
import { runEvery } from '#kit/concurrency/run-every.ts';
import type { Database } from '#kit/db/index.ts';
import type { Tables } from '../../tables.ts';
import { renewTurns } from '../store.ts';

/** Heartbeat interval; it also reveals turns canceled elsewhere. */
const beatMs = 800;

/** The turns that this process runs, while it runs them. */
export class TurnLeases {
  readonly #database: Database<Tables>;
  readonly #clock: Clock;
  readonly #stops = new Map<string, () => void>();
  #renewing: Disposable | undefined;

  constructor(database: Database<Tables>, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Keeps the lease of a run until it is disposed of. Calls `stop` if it was cancelled, taken over or deleted. */
  hold(run: string, stop: () => void): Disposable {
    this.#stops.set(run, stop);
    this.#renewing ??= runEvery(beatMs, () => this.#renew());
    return {
      [Symbol.dispose]: () => {
        this.#stops.delete(run);
        if (this.#stops.size > 0) return;
        this.#renewing?.[Symbol.dispose]();
        this.#renewing = undefined;
      },
    };
  }

  async #renew(): Promise<void> {
    try {
      const runs = [...this.#stops.keys()];
      const renewed = new Set(await renewTurns(this.#database, runs, this.#clock.now()));
      for (const run of runs) if (!renewed.has(run)) this.#stops.get(run)?.();
    } catch {
      // The database does not respond. The next beat tries again.
    }
  }
}
