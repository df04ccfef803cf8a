import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@octavo/core';
import { AppError, describeSystemError, problemOf } from '@octavo/core';
import { sql } from 'kysely';
import type { Database } from './database.ts';
import type { PackageMigrations } from './migrations.ts';
import type { Session } from './session.ts';

/** The table of {@link DatabaseHealth}, for `migrations` of a service. Some services have it in a migration of their own. */
export const healthMigrations: PackageMigrations = {
  folder: new URL('./health-migrations/', import.meta.url),
  prefix: 'health',
  versionsFrom: 40_000,
};

/** The table that the migrations create with one row. */
export interface HealthTables {
  health_probe: { only_row: number; written_at_ms: number };
}

export interface DatabaseHealthOptions<DB extends HealthTables> {
  readonly database: Database<DB>;
  /** Receives each problem, with the path of the file, when it begins and when it ends. */
  readonly log: Log;
  /** Reads that must succeed too, at a cost that does not grow with the data. */
  readonly read?: (database: Database<DB>) => Promise<unknown>;
}

/** Shortest time between two writes, and the longest time that a caller waits for a write behind others. */
const writeEveryMs = 900;
const waitMs = 100;

/**
 * Checks that a database can be read and written, for readiness. It writes a row, which finds a full disk and a standby. A
 * write that waits behind a long one is not a failure.
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

  /** Throws `unavailable` with the problem and its fix, without a path; `internal` if the database is damaged. */
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
    await database.ping();
    await read?.(database);
    if (performance.now() - this.#writtenMs > writeEveryMs) this.#writing ??= this.#write();
    await Promise.race([this.#writing, delay(waitMs, undefined, { ref: false })]);
    if (this.#failure) throw this.#failure.error;
  }

  async #write(): Promise<void> {
    const { database } = this.#options;
    try {
      const touch = sql`UPDATE health_probe SET written_at_ms = ${Date.now()}`;
      await database.write(({ kysely }) => touch.execute(kysely), { mayBeLost: true });
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

/** A check for readiness: `checks: { database: databaseCheck({ database, log }) }`. */
export function databaseCheck<DB extends HealthTables>(
  options: DatabaseHealthOptions<DB>,
): () => Promise<void> {
  const health = new DatabaseHealth(options);
  return () => health.run();
}

/** The engine of a database and its version, such as `SQLite 3.50.4` or `PostgreSQL 16.2`. */
export async function engineOf<DB>({ kysely, dialect }: Session<DB>): Promise<string> {
  const isSqlite = dialect === 'sqlite';
  const version = isSqlite ? sql`sqlite_version()` : sql`current_setting('server_version')`;
  const { rows } = await sql<{ version: string }>`SELECT ${version} AS version`.execute(kysely);
  const [number = ''] = String(rows[0]?.version ?? '').split(' ', 1);
  return `${isSqlite ? 'SQLite' : 'PostgreSQL'} ${number}`.trim();
}
