import { setTimeout as delay } from 'node:timers/promises';
import { AppError, describeSystemError, problemOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Database } from './database.ts';
import { statement } from './statement.ts';

/** The table that a service's migrations create with one row, for {@link DatabaseHealth}. */
export interface HealthTables {
  health_probe: { only_row: number; written_at_ms: number };
}

export interface DatabaseHealthOptions<DB extends HealthTables> {
  readonly database: Database<DB>;
  /** Gets what is wrong, with the path of the file, when it begins and when it is over. */
  readonly log: Log;
  /** Reads that must succeed too, at a cost that does not grow with the data. */
  readonly read?: (database: Database<DB>) => Promise<unknown>;
}

/** How often it writes at most, and how long a caller waits for a write that waits behind others. */
const writeEveryMs = 900;
const waitMs = 100;

/**
 * Whether a database can be read and written, for readiness. It writes a row, which finds a full disk and a standby. A write that waits
 * behind a long one is no failure.
 */
export class DatabaseHealth<DB extends HealthTables> {
  readonly #options: DatabaseHealthOptions<DB>;
  #writing: Promise<void> | undefined;
  #writtenMs = Number.NEGATIVE_INFINITY;
  #failure: { readonly error: unknown } | undefined;
  #isFailing = false;

  constructor(options: DatabaseHealthOptions<DB>) {
    this.#options = options;
  }

  /** Throws `unavailable` with what is wrong and what to do, without a path; `internal` if the database is damaged. */
  async run(): Promise<void> {
    try {
      await this.#check();
      this.#note(undefined);
    } catch (error) {
      this.#note(error);
      const code = error instanceof AppError ? error.code : 'internal';
      throw new AppError(code, problemOf(error), { cause: error });
    }
  }

  async #check(): Promise<void> {
    const { database, read } = this.#options;
    await (read ? read(database) : database.ping());
    if (performance.now() - this.#writtenMs > writeEveryMs) this.#writing ??= this.#write();
    await Promise.race([this.#writing, delay(waitMs, undefined, { ref: false })]);
    if (this.#failure) throw this.#failure.error;
  }

  async #write(): Promise<void> {
    const { database } = this.#options;
    try {
      await database.write((session) => touch.run(session, { nowMs: Date.now() }), { mayBeLost: true });
      this.#failure = undefined;
    } catch (error) {
      this.#failure = { error };
    } finally {
      this.#writing = undefined;
      this.#writtenMs = performance.now();
    }
  }

  #note(error: unknown): void {
    const isFailing = error !== undefined;
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    const { log } = this.#options;
    if (!isFailing) log.info('the database can be used again');
    else log.error({ err: error }, describeSystemError(error)?.message ?? 'the database cannot be used');
  }
}

const touch = statement<HealthTables, { nowMs: number }>()((db, p) =>
  db.updateTable('health_probe').set({ written_at_ms: p('nowMs') }),
);
