import type { Clock } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { Database } from '@octavo/data';
import type { Tables } from '../../tables.ts';
import { renewTurns } from '../store.ts';

/** Heartbeat interval; it also reveals turns canceled or watched elsewhere. */
const beatMs = 800;

export interface LeaseListener {
  /** Called if the turn was cancelled, taken over or deleted. */
  readonly stop: () => void;
  /** Called at each beat with the time until which another process watches the turn. */
  readonly watchedUntil: (untilMs: number) => void;
}

/** The turns that this process runs, while it runs them. */
export class TurnLeases {
  readonly #database: Database<Tables>;
  readonly #clock: Clock;
  readonly #listeners = new Map<string, LeaseListener>();
  #renewing: Disposable | undefined;

  constructor(database: Database<Tables>, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Keeps the lease of a run until it is disposed of. */
  hold(run: string, listener: LeaseListener): Disposable {
    this.#listeners.set(run, listener);
    this.#renewing ??= runEvery(beatMs, () => this.#renew());
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(run);
        if (this.#listeners.size > 0) return;
        this.#renewing?.[Symbol.dispose]();
        this.#renewing = undefined;
      },
    };
  }

  async #renew(): Promise<void> {
    try {
      const runs = [...this.#listeners.keys()];
      const renewed = await renewTurns(this.#database, runs, this.#clock.now());
      for (const run of runs) {
        const watchedUntilMs = renewed.get(run);
        if (watchedUntilMs === undefined) this.#listeners.get(run)?.stop();
        else this.#listeners.get(run)?.watchedUntil(watchedUntilMs);
      }
    } catch {
      // The database does not respond. The next beat tries again.
    }
  }
}
