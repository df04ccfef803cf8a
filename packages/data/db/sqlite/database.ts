import { AsyncLocalStorage } from 'node:async_hooks';
import { statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Log } from '@octavo/core';
import { AppError, FileProblem, measureCache } from '@octavo/core';
import { runEvery, WorkerPool } from '@octavo/core/concurrency';
import type { Compilable, Kysely, RawBuilder } from 'kysely';
import type { Database, StreamOptions, WriteOptions } from '../database.ts';
import { completeDeletions } from '../deletion/delete-rows.ts';
import { databaseUnavailable, outerHandleError } from '../errors.ts';
import { compileQuery, kyselyOver } from '../kysely.ts';
import type { WriteMetrics } from '../metrics.ts';
import type { Outcome, Query, Row, Runner, Session, WriteSession } from '../session.ts';
import { Transaction } from '../transaction.ts';
import { cacheKiBDefault, SqliteConnection, toRow } from './connection.ts';
import { fromSqliteError } from './errors.ts';
import { SnapshotPool } from './snapshots.ts';
import type { StreamTasks } from './stream-thread.ts';
import { WriteQueue } from './writer.ts';

const streamThreadsMax = Math.max(2, Math.min(4, availableParallelism() - 1));
const streamThreadIdleMs = 60_000;
/** A snapshot that stays open keeps the write-ahead log from being reset. */
const streamPauseMsMax = 120_000;
/** Interval at which deletions of processes that have crashed are looked for. */
const deletionsEveryMs = 60_000;

interface SqliteParts {
  readonly file: string;
  readonly writer: SqliteConnection;
  readonly metrics: WriteMetrics;
  readonly log: Log;
}

/** A {@link Database} in one SQLite file, whose schema is in place. */
export class SqliteDatabase<DB> implements Database<DB>, Runner {
  readonly dialect = 'sqlite';
  readonly runner: Runner = this;
  readonly kysely: Kysely<DB> = kyselyOver<DB>('sqlite', this);
  readonly #writer: SqliteConnection;
  readonly #queue: WriteQueue;
  /** Connection for single statements, each of which sees all earlier commits. */
  readonly #reader: SqliteConnection;
  readonly #snapshots: SnapshotPool;
  readonly #streamThreads: WorkerPool<StreamTasks>;
  readonly #inside = new AsyncLocalStorage<Transaction<DB>>();
  readonly #deletions: AsyncDisposable;
  readonly #inode: number | undefined;

  constructor({ file, writer, metrics, log }: SqliteParts) {
    this.#writer = writer;
    this.#inode = inodeOf(file);
    this.#queue = new WriteQueue(writer, metrics);
    this.#reader = new SqliteConnection(file, { readOnly: true });
    this.#snapshots = new SnapshotPool(file);
    this.#streamThreads = new WorkerPool<StreamTasks>(new URL('./stream-thread.ts', import.meta.url), {
      name: 'sqlite-stream',
      workerData: { file },
      threadsMax: streamThreadsMax,
      idleMs: streamThreadIdleMs,
    });
    const failure = 'a deletion that was interrupted could not be completed';
    measureCache('pages of SQLite', this, (database) => database.pageBytes);
    this.#deletions = runEvery(deletionsEveryMs, () => completeDeletions(this), { log, failure });
  }

  /** Most memory that pages take: all of the file in each connection, up to the size of its cache. */
  get pageBytes(): number {
    const fileBytes = statSync(this.#writer.file, { throwIfNoEntry: false })?.size ?? 0;
    return (2 + this.#snapshots.idle) * Math.min(cacheKiBDefault * 1_024, fileBytes);
  }

  async first(query: Query): Promise<Row | undefined> {
    if (query.writes) return (await this.execute(query)).rows[0];
    this.#refuseInside();
    try {
      return this.#reader.first(query);
    } catch (error) {
      throw fromSqliteError(error, this.#reader);
    }
  }

  async execute(query: Query): Promise<Outcome> {
    this.#refuseInside();
    if (query.writes) return this.#queue.submit(async () => this.#writer.execute(query));
    try {
      return this.#reader.execute(query);
    } catch (error) {
      throw fromSqliteError(error, this.#reader);
    }
  }

  async read<T>(work: (session: Session<DB>) => Promise<T>): Promise<T> {
    this.#refuseInside();
    return this.#snapshots.run((connection) => transactionOn<DB>(connection).run(work));
  }

  async write<T>(work: (session: WriteSession<DB>) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    this.#refuseInside();
    const asCaller = AsyncLocalStorage.snapshot();
    return this.#queue.submit(() => {
      const session = transactionOn<DB>(this.#writer);
      return asCaller(() => this.#inside.run(session, () => session.run(work)));
    }, options);
  }

  stream<R>(query: Compilable<R> | RawBuilder<R>, options: StreamOptions): AsyncGenerator<R[]> {
    this.#refuseInside();
    return this.#streamRows(compileQuery(this.kysely, query), options) as AsyncGenerator<R[]>;
  }

  async sharers(): Promise<ReadonlySet<unknown>> {
    return new Set();
  }

  async ping(): Promise<void> {
    // Open connections go on with a file that no longer has a name, and lose what they write when they close.
    if (inodeOf(this.#writer.file) !== this.#inode) {
      const remedy = 'was deleted or replaced: stop the service, and put the file back or restore a backup';
      throw databaseUnavailable(new FileProblem(this.#writer.file, remedy, undefined));
    }
    await this.first({ sql: 'SELECT 1', parameters: [], writes: false, name: 'ping' });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const deletions = this.#deletions[Symbol.asyncDispose]();
    await this.#queue.close();
    await deletions;
    await this.#streamThreads[Symbol.asyncDispose]();
    this.#snapshots[Symbol.dispose]();
    this.#reader[Symbol.dispose]();
    this.#writer[Symbol.dispose]();
  }

  async *#streamRows(query: Query, { batchRows, signal }: StreamOptions): AsyncGenerator<Row[]> {
    const paused = new AbortController();
    const signals = signal ? AbortSignal.any([signal, paused.signal]) : paused.signal;
    for await (const { names, rows } of this.#streamThreads.stream(
      'stream',
      { query, batchRows },
      { signal: signals },
    )) {
      const timer = setTimeout(() => paused.abort(pausedError()), streamPauseMsMax).unref();
      try {
        yield rows.map((values) => toRow(names, values));
      } finally {
        clearTimeout(timer);
      }
    }
  }

  #refuseInside(): void {
    if (this.#inside.getStore()?.isOpen) throw outerHandleError();
  }
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}

/** A session on a connection that is in a transaction, or about to be. */
export function transactionOn<DB>(connection: SqliteConnection): Transaction<DB> {
  return new Transaction<DB>({
    dialect: 'sqlite',
    runner: connection.runner,
    translate: (error) => fromSqliteError(error, connection),
  });
}

function pausedError(): AppError {
  return new AppError('unavailable', `the rows were not read for ${streamPauseMsMax / 1_000} seconds`);
}
