import { channel } from 'node:diagnostics_channel';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { lettersOf } from '@octavo/core/text';
import type { Outcome, Query, Row, Runner } from '../session.ts';

/** Time that SQLite itself waits for a lock of another process. The writer does not use it: it tries again without blocking. */
const busyTimeoutMs = 5_000;
const adHocStatementsMax = 200;
/** Size of the page cache of a connection, in KiB. */
export const cacheKiBDefault = 16_384;
/** Size to which the file of the write-ahead log is truncated when the log starts over. */
export const walBytesMax = 64 * 1024 * 1024;

/** Gets a {@link StatementRun} after each statement on the event loop; tests subscribe to it. */
const statementRuns = channel('octavo:sqlite:statement');

export interface StatementRun {
  readonly sql: string;
  /** Steps of SQLite's virtual machine: at least three for each row that was looked at. */
  readonly steps: number;
}

/** One connection with its prepared statements. Everything here is synchronous. */
export class SqliteConnection implements Disposable {
  readonly file: string;
  readonly database: DatabaseSync;
  /** The connection as a session needs it. */
  readonly runner: Runner = {
    first: async (query) => this.first(query),
    execute: async (query) => this.execute(query),
  };
  readonly #named = new Map<string, Prepared>();
  readonly #adHoc = new Map<string, Prepared>();

  constructor(file: string, options: { readOnly: boolean; busyTimeoutMs?: number; cacheKiB?: number }) {
    this.file = file;
    this.database = new DatabaseSync(file, {
      readOnly: options.readOnly,
      timeout: options.busyTimeoutMs ?? busyTimeoutMs,
      enableForeignKeyConstraints: true,
    });
    // For `containsWord` of packages/data/search: `lower` and `like` know the case of ASCII letters only.
    this.database.function('letters_of', { deterministic: true }, (value) =>
      value === null ? null : lettersOf(String(value)),
    );
    try {
      this.database.exec(
        `PRAGMA cache_size = -${options.cacheKiB ?? cacheKiBDefault}; PRAGMA temp_store = MEMORY`,
      );
      if (!options.readOnly)
        this.database.exec(`PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${walBytesMax}`);
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  get isTransaction(): boolean {
    return this.database.isTransaction;
  }

  /** The first row as a plain object. */
  first(query: Query): Row | undefined {
    const prepared = this.#prepare(query);
    const values = prepared.statement.get(...bindable(query.parameters)) as unknown[] | undefined;
    if (statementRuns.hasSubscribers) prepared.publish(query.sql);
    return values === undefined ? undefined : prepared.toRow(values);
  }

  /** All rows of a statement that returns rows, otherwise how many it changed. */
  execute(query: Query): Outcome {
    const prepared = this.#prepare(query);
    const parameters = bindable(query.parameters);
    if (!prepared.returnsRows) {
      const { changes } = prepared.statement.run(...parameters);
      if (statementRuns.hasSubscribers) prepared.publish(query.sql);
      return { rows: [], changes: Number(changes) };
    }
    const lists = prepared.statement.all(...parameters) as unknown as unknown[][];
    if (statementRuns.hasSubscribers) prepared.publish(query.sql);
    const rows = lists.map((values) => prepared.toRow(values));
    return { rows, changes: query.writes ? rows.length : 0 };
  }

  /** The rows one by one as arrays, read as they are asked for. The connection is busy until the iteration ends. */
  iterate(query: Query): { names: string[]; rows: Iterable<unknown[]> } {
    const prepared = this.#prepare(query);
    const rows = prepared.statement.iterate(...bindable(query.parameters)) as unknown as Iterable<unknown[]>;
    return { names: prepared.names, rows };
  }

  exec(sql: string): void {
    this.database.exec(sql);
  }

  [Symbol.dispose](): void {
    if (this.database.isOpen) this.database.close();
  }

  #prepare(query: Query): Prepared {
    if (query.name !== undefined) {
      const kept = this.#named.get(query.sql);
      if (kept) return kept;
      const prepared = new Prepared(this.database.prepare(query.sql));
      this.#named.set(query.sql, prepared);
      return prepared;
    }
    const prepared = this.#adHoc.get(query.sql) ?? new Prepared(this.database.prepare(query.sql));
    this.#adHoc.delete(query.sql);
    this.#adHoc.set(query.sql, prepared);
    if (this.#adHoc.size > adHocStatementsMax) this.#adHoc.delete(this.#adHoc.keys().next().value as string);
    return prepared;
  }
}

/** A row as a plain object. */
export function toRow(names: readonly string[], values: readonly unknown[]): Row {
  const row: Row = {};
  for (let index = 0; index < names.length; index++) row[names[index] as string] = values[index];
  return row;
}

interface StatementStats {
  stat(counter: 'vmStep'): number;
  resetStats(): void;
}

/** A prepared statement that gives rows as arrays. Plain objects made of them are as fast as node's own, which have no prototype. */
class Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
  names: string[];

  constructor(statement: StatementSync) {
    statement.setReturnArrays(true);
    this.statement = statement;
    this.names = statement.columns().map((column) => column.name);
    this.returnsRows = this.names.length > 0;
    // The last row id, which node reads too, is beyond 2^53 where FTS5 has written tombstones.
    if (!this.returnsRows) statement.setReadBigInts(true);
  }

  publish(sql: string): void {
    // Not in @types/node yet.
    const { stat, resetStats } = this.statement as StatementSync & StatementStats;
    const steps = stat.call(this.statement, 'vmStep');
    resetStats.call(this.statement);
    statementRuns.publish({ sql, steps } satisfies StatementRun);
  }

  toRow(values: unknown[]): Row {
    // The schema may have changed under a `select *` since it was prepared.
    if (values.length !== this.names.length)
      this.names = this.statement.columns().map((column) => column.name);
    return toRow(this.names, values);
  }
}

/** A statement of transaction control, kept prepared. */
export function control(sql: string): Query {
  return { sql, parameters: [], writes: true, name: sql };
}

type Bindable = null | number | bigint | string | Uint8Array;

/** SQLite has no booleans, and node binds every number as a float unless it is a bigint. */
function bindable(parameters: readonly unknown[]): Bindable[] {
  const values = new Array<Bindable>(parameters.length);
  for (let index = 0; index < parameters.length; index++) {
    const value = parameters[index];
    if (typeof value === 'number') values[index] = Number.isSafeInteger(value) ? BigInt(value) : value;
    else if (typeof value === 'boolean') values[index] = value ? 1n : 0n;
    else values[index] = value as Bindable;
  }
  return values;
}
