import type { Kysely } from 'kysely';

export type Dialect = 'sqlite' | 'postgres';

/** What a parameter may hold. Booleans are stored as 1 and 0; whole numbers are safe integers or bigints. */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array;

/** A result row by column name: strings, numbers (never beyond 2^53), null and Uint8Array, the same from both databases. */
export type Row = Record<string, unknown>;

/** One statement with its values, ready for the driver. */
export interface Query {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  /** Whether it may change something; outside a transaction that decides the connection. */
  readonly writes: boolean;
  /** Under which name to keep it prepared; absent for one built on the fly. */
  readonly name?: string;
}

/** The rows that came back, and how many rows were inserted, changed or deleted. */
export interface Outcome {
  readonly rows: Row[];
  readonly changes: number;
}

/** Where statements go. Each database has its own; everything above is shared. */
export interface Runner {
  first(query: Query): Promise<Row | undefined>;
  execute(query: Query): Promise<Outcome>;
}

/** What a compiled statement needs to run; every {@link Session} is one. */
export interface Executor {
  readonly dialect: Dialect;
  readonly runner: Runner;
}

/** What statements run on: a database (each statement by itself), a snapshot, or a transaction. */
export interface Session<DB> extends Executor {
  /** Typed queries built on the fly; hot paths use `statement` instead. */
  readonly kysely: Kysely<DB>;
}

/** The transaction of one `write`. It cannot be used after it. */
export interface WriteSession<DB> extends Session<DB> {
  /**
   * Waits until no other write transaction of this service holds `name`, and holds it to the end of this one, so that
   * transactions which take it commit one after another. SQLite has one writer anyway and does nothing.
   */
  lock(name: string): Promise<void>;
}
