import type { ClientBase } from 'pg';
import { UnknownOutcome } from '../../errors.ts';
import type { Outcome, Query, Runner } from '../../session.ts';
import { Transaction } from '../../transaction.ts';
import { type ConstraintColumns, fromPostgresError, isRolledBack, isTransient } from '../errors.ts';

/** Changes a statement into the one that the connection runs. */
export interface StatementNames {
  inFull(query: Query): Query;
}

export interface SessionOptions {
  readonly schema: string;
  readonly columns: ConstraintColumns;
  readonly names: StatementNames;
  /** Locks that the transaction holds to its end. They are not taken again, and those that it takes are added. */
  readonly held?: Set<string>;
}

/** A session on a connection that is in a transaction. */
export function postgresTransaction<DB>(client: ClientBase, options: SessionOptions): Transaction<DB> {
  const { held = new Set() } = options;
  const runner = new ClientRunner(client, options.names);
  return new Transaction<DB>({
    dialect: 'postgres',
    runner,
    translate: (error) => fromPostgresError(error, options.columns),
    lock: async (name, mode) => {
      const key = `${mode} ${name}`;
      if (held.has(key)) return;
      const lock = mode === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared';
      const sql = `SELECT ${lock}(hashtextextended($1, 0))`;
      await runner.execute({
        sql,
        parameters: [lockName(options, name)],
        writes: true,
        name: `lock ${mode}`,
      });
      held.add(key);
    },
  });
}

/** The error of the driver where the transaction may succeed when it runs again. */
export function retriable<DB>({ failure }: Transaction<DB>, error: unknown): unknown {
  return isTransient(failure) ? failure : error;
}

/** The advisory locks of a service have names of its own. */
export function lockName({ schema }: { readonly schema: string }, name: string): string {
  return `${schema}:${name}`;
}

/** The transactions that share a lock now, by ids that no other transaction has. The key of an advisory lock is divided between two columns. */
export const sharersOf = `SELECT virtualtransaction AS id FROM pg_locks
  WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock' AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (classid::bigint << 32) | objid::bigint = hashtextextended($1, 0)`;

/** Begins what {@link inTransaction} only reads with: one snapshot. */
export const beginRead = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/**
 * Runs `work` between BEGIN and COMMIT, or rolls back if it throws. `onCommit` gets the duration of the commit. A commit of changes that
 * was not confirmed throws {@link UnknownOutcome}. BEGIN goes in one round trip with the first statement. COMMIT waits for the last one:
 * what a frozen server finds when it goes on is then never the whole of a transaction that was given up.
 */
export async function inTransaction<T>(
  client: ClientBase,
  begin: string,
  work: () => Promise<T>,
  onCommit?: (durationMs: number) => void,
): Promise<T> {
  const begun = client.query(begin);
  // Its error is thrown below. A statement sent behind it fails with the connection, too.
  begun.catch(() => {});
  try {
    const value = await work();
    await begun;
    const startedMs = performance.now();
    await client.query('COMMIT').catch((error: unknown) => {
      throw begin.startsWith(beginRead) || isRolledBack(error) ? error : new UnknownOutcome(error);
    });
    onCommit?.(performance.now() - startedMs);
    return value;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** Runs one query; booleans go as 1 and 0, as to SQLite. */
export async function runQuery(client: ClientBase, query: Query): Promise<Outcome> {
  const values = query.parameters.map((value) => (typeof value === 'boolean' ? Number(value) : value));
  const { rows, rowCount } = await client.query({ name: query.name, text: query.sql, values });
  return { rows, changes: query.writes ? (rowCount ?? 0) : 0 };
}

/** Sends statements in the order in which the work starts them. The connection runs one after another. */
export class ClientRunner implements Runner {
  readonly #client: ClientBase;
  readonly #names: StatementNames;

  constructor(client: ClientBase, names: StatementNames) {
    this.#client = client;
    this.#names = names;
  }

  async first(query: Query): Promise<Record<string, unknown> | undefined> {
    return (await this.execute(query)).rows[0];
  }

  execute(query: Query): Promise<Outcome> {
    return runQuery(this.#client, this.#names.inFull(query));
  }
}
