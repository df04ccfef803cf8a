import type { Registry } from 'prom-client';
import type { Log } from '../log.ts';
import type { Session, WriteSession } from './session.ts';
import type { Statement } from './statement.ts';

export interface DatabaseOptions {
  /** Names the SQLite file (`<folder>/<name>.sqlite`) or the PostgreSQL schema: letters, digits, `_`. */
  readonly name: string;
  /** `postgres://…`; without it SQLite. */
  readonly url: string | undefined;
  /** Where SQLite keeps its file; made if missing. */
  readonly folder: string;
  /** What the SQLite file is called; `<name>.sqlite` by default. */
  readonly fileName?: string;
  /** The folder of migrations: `new URL('./migrations/', import.meta.url)`. */
  readonly migrations: URL;
  readonly log: Log;
  /** Gets the figures of the writer. */
  readonly metrics?: Registry;
}

export interface StreamOptions {
  readonly batchRows: number;
  readonly signal?: AbortSignal;
}

export interface WriteOptions {
  /** A long transaction that shall share its commit with no other. */
  readonly alone?: boolean;
  /**
   * It may be lost where the power fails right after it, as a whole: for what is merely done again then. It does not wait for the disk.
   */
  readonly mayBeLost?: boolean;
}

/**
 * The data of one service. As a {@link Session} it runs each statement by itself; errors of the database come as
 * `conflict` (unique and foreign keys) and `unavailable` (full, locked, gone), anything else as it is.
 */
export interface Database<DB> extends Session<DB>, AsyncDisposable {
  /** Runs `work` on one snapshot: nothing that is committed meanwhile shows. It cannot write. */
  read<T>(work: (session: Session<DB>) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in one durable transaction: all of it is on disk when this resolves, none of it where it rejects.
   * `work` may run more than once (a conflict of transactions, a neighbour's fault), so it must only touch the session.
   * On SQLite writes run one after another, and those that wait share a commit.
   */
  write<T>(work: (session: WriteSession<DB>) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * The rows in batches, from one snapshot taken at the first batch, on a connection of its own that is given back when
   * the consumer stops or `signal` aborts. It holds one batch and gives way to other work between batches.
   */
  stream<P, R>(statement: Statement<P, R>, params: P, options: StreamOptions): AsyncIterable<R[]>;
  /** A read that computes for long, off the event loop (SQLite: a worker thread). */
  offload<P, R>(statement: Statement<P, R>, params: P, options?: { signal?: AbortSignal }): Promise<R[]>;
  /** Resolves when the database answers; `unavailable` else. */
  ping(): Promise<void>;
  /** Writes a consistent copy to a new file while serving. `restore` reads it. */
  backup(file: string): Promise<void>;
}
