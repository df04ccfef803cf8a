import type { Log } from '@octavo/core';
import type { Compilable, RawBuilder } from 'kysely';
import type { Registry } from 'prom-client';
import type { Migrations } from './migrations.ts';
import type { Session, WriteSession } from './session.ts';

/**
 * A pooler between processes and PostgreSQL: none, or one in session mode, which is like none; or one that gives each transaction any of its
 * connections, and keeps statements that were prepared by `named` connections or does not.
 */
export type Pooler = 'none' | 'transaction' | 'named';

export interface DatabaseOptions {
  /** Names the SQLite file (`<folder>/<name>.sqlite`) or the PostgreSQL schema: letters, digits, `_`. */
  readonly name: string;
  /** `postgres://…`; without it SQLite. */
  readonly url: string | undefined;
  /** The pooler at the URL; `none` by default. */
  readonly pooler?: Pooler | undefined;
  /** PostgreSQL itself behind a pooler, for migrations. */
  readonly directUrl?: string | undefined;
  /** Most connections to PostgreSQL for the requests of the process; 8 by default. Streams have half as many beside. */
  readonly connections?: number | undefined;
  /** Folder of the SQLite file; created if missing. */
  readonly folder: string;
  /** Name of the SQLite file; `<name>.sqlite` by default. */
  readonly fileName?: string;
  /** The folder of migrations: `new URL('./migrations/', import.meta.url)`; with those of packages, a list. */
  readonly migrations: Migrations;
  /** Tables and columns that a move to another kind of database does not copy. */
  readonly derived?: Derived;
  readonly log: Log;
  /** Gets the metrics of the writer. */
  readonly metrics?: Registry;
}

/**
 * Tables, and columns as `table.column`, that are made from others, such as the index of a search, which differs between databases. The
 * function fills them in a database that has all else; null where that is done later, or not needed.
 */
export type Derived = Readonly<Record<string, DerivedFrom | null>>;

export interface DerivedFrom {
  /** Fills the table, which is empty. */
  fill(session: WriteSession<unknown>): Promise<void>;
}

/** Reads from a database whose schema may be older or newer than the program; `tables` has the names of its tables. */
export type ReadWork<DB, T> = (session: Session<DB>, tables: ReadonlySet<string>) => Promise<T>;

export interface StreamOptions {
  readonly batchRows: number;
  readonly signal?: AbortSignal;
}

export interface WriteOptions {
  /** A long transaction, which must not share its commit with others. */
  readonly alone?: boolean;
  /**
   * Holds these names as {@link WriteSession.lock} does, from the start and taken in this order. On PostgreSQL, writes of a process that
   * wait for the same names share a transaction with a savepoint each.
   */
  readonly locks?: readonly string[];
  /** Skips the wait for the disk, so the write is lost as a whole if the power fails right after it: for work that is then done again. */
  readonly mayBeLost?: boolean;
  /** Turns off foreign keys and cascades on SQLite. The write shares its transaction with no other. */
  readonly withoutForeignKeys?: boolean;
}

/**
 * The data of one service. As a {@link Session} it runs each statement by itself; errors of the database come as
 * `conflict` (unique and foreign keys) and `unavailable` (full, locked, gone), anything else as it is.
 */
export interface Database<DB> extends Session<DB>, AsyncDisposable {
  /** Runs `work` on one read-only snapshot, unaffected by later commits. */
  read<T>(work: (session: Session<DB>) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in one durable transaction: all of it is on disk when this resolves, none of it where it rejects. Only
   * with {@link UnknownOutcome} either is possible: PostgreSQL was lost while it committed.
   * `work` may run more than once (after a conflict of transactions, or when a neighbor failed the commit), so it must only touch the session.
   * On SQLite writes run one after another, and those that wait share a commit; on PostgreSQL those do that wait for the same `locks`.
   */
  write<T>(work: (session: WriteSession<DB>) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * The rows of a query in batches, from one snapshot taken at the first batch, off the event loop (SQLite: a worker thread) and on a
   * connection of its own that is given back when the consumer stops or `signal` aborts. It reads one batch ahead. A consumer that
   * does not ask for the next batch within two minutes loses the snapshot: the stream throws `unavailable`.
   */
  stream<R>(query: Compilable<R> | RawBuilder<R>, options: StreamOptions): AsyncIterable<R[]>;
  /** Ids of the transactions that `share` this name now. What one committed is visible to reads that start after it is gone. On SQLite, none. */
  sharers(name: string): Promise<ReadonlySet<unknown>>;
  /** Resolves when the database answers; otherwise throws `unavailable`. */
  ping(): Promise<void>;
}
