import { type Kysely, type RawBuilder, sql } from 'kysely';

export type Dialect = 'sqlite' | 'postgres';

/** Value of a parameter. Booleans are stored as 1 and 0; whole numbers are safe integers or bigints. */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array;

/** A result row by column name: strings, numbers (never beyond 2^53), null and Uint8Array, the same from both databases. */
export type Row = Record<string, unknown>;

/** One statement with its values, ready for the driver. */
export interface Query {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** True if it may change data; outside a transaction this selects the connection. */
  readonly writes: boolean;
  /** Under which name to keep it prepared; absent for one built on the fly. */
  readonly name?: string;
}

/** The rows that came back, and how many rows were inserted, changed or deleted. */
export interface Outcome {
  readonly rows: Row[];
  readonly changes: number;
}

/** Runs statements. Each database has its own runner; everything above is shared. */
export interface Runner {
  first(query: Query): Promise<Row | undefined>;
  execute(query: Query): Promise<Outcome>;
}

/** Parts that a compiled statement runs on; every {@link Session} has them. */
export interface Executor {
  readonly dialect: Dialect;
  readonly runner: Runner;
}

/** Runs statements on a database (each by itself), a snapshot, or a transaction. */
export interface Session<DB> extends Executor {
  /** Never set. Only a type, which names the tables that are missing where a package gets a database without them. */
  readonly tables?: DB;
  /** Typed queries. */
  readonly kysely: Kysely<DB>;
}

/** The transaction of one `write`. It cannot be used after it. */
export interface WriteSession<DB> extends Session<DB> {
  /**
   * Waits until no other write transaction of this service holds `name`, and holds it to the end of this one, so that
   * transactions which take it commit one after another. SQLite has one writer anyway and does nothing.
   */
  lock(name: string): Promise<void>;
  /**
   * Holds `name` to the end of this transaction beside others that share it, and is one of the `sharers` of the database. On SQLite it does nothing.
   */
  share(name: string): Promise<void>;
}

/**
 * The end of a `select` whose rows new rows will refer to. On PostgreSQL it waits for transactions that delete these rows, and leaves
 * out those that are gone; without it, the insert would break its foreign key. On SQLite it is empty, because writers take turns.
 *
 * ```ts
 * sql`insert into comment (quote_id) select id from quote where id = ${p('id')} ${keyShare(dialect, 'quote')}`
 * db.selectFrom('quote').select('id').modifyEnd(keyShare(dialect, 'quote'))
 * ```
 */
export function keyShare(dialect: Dialect, table: string): RawBuilder<unknown> {
  return dialect === 'postgres' ? sql`for key share of ${sql.table(table)}` : sql``;
}
