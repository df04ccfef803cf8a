import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kysely } from 'kysely';
import type { Database, StreamOptions, WriteOptions } from '../database.ts';
import { outerHandleError, translatingErrors } from '../errors.ts';
import { kyselyOver } from '../kysely.ts';
import type { WriteMetrics } from '../metrics.ts';
import type { Outcome, Query, Row, Runner, Session, WriteSession } from '../session.ts';
import type { Statement } from '../statement.ts';
import type { Transaction } from '../transaction.ts';
import { backupFile } from './backup.ts';
import { SqliteConnection } from './connection.ts';
import { fromSqliteError } from './errors.ts';
import { Readers } from './readers.ts';
import { sqliteTransaction } from './session.ts';
import { Threads } from './threads.ts';
import { TurnReader } from './turn-reader.ts';
import { WriteQueue } from './writer.ts';

/** A {@link Database} in one SQLite file, whose schema is in place. */
export class SqliteDatabase<DB> implements Database<DB>, Runner {
  readonly dialect = 'sqlite';
  readonly runner: Runner = this;
  readonly kysely: Kysely<DB> = kyselyOver<DB>('sqlite', this);
  readonly #file: string;
  readonly #writer: SqliteConnection;
  readonly #queue: WriteQueue;
  readonly #reader: TurnReader;
  readonly #readers: Readers;
  readonly #threads: Threads;
  readonly #inside = new AsyncLocalStorage<Transaction<DB>>();

  constructor(file: string, writer: SqliteConnection, metrics: WriteMetrics) {
    this.#file = file;
    this.#writer = writer;
    this.#reader = new TurnReader(new SqliteConnection(file, { readOnly: true }));
    this.#queue = new WriteQueue(writer, metrics);
    this.#readers = new Readers(file);
    this.#threads = new Threads(file);
  }

  async first(query: Query): Promise<Row | undefined> {
    if (query.writes) return (await this.execute(query)).rows[0];
    this.#refuseInside();
    try {
      return this.#reader.first(query);
    } catch (error) {
      throw fromSqliteError(error, this.#reader.connection);
    }
  }

  async execute(query: Query): Promise<Outcome> {
    this.#refuseInside();
    if (query.writes) return this.#queue.submit(async () => this.#writer.execute(query));
    try {
      return this.#reader.execute(query);
    } catch (error) {
      throw fromSqliteError(error, this.#reader.connection);
    }
  }

  async read<T>(work: (session: Session<DB>) => Promise<T>): Promise<T> {
    this.#refuseInside();
    return this.#readers.snapshot((connection) => sqliteTransaction<DB>(connection).run(work));
  }

  async write<T>(work: (session: WriteSession<DB>) => Promise<T>, options: WriteOptions = {}): Promise<T> {
    this.#refuseInside();
    return this.#queue.submit(() => {
      const session = sqliteTransaction<DB>(this.#writer);
      return this.#inside.run(session, () => session.run(work));
    }, options);
  }

  stream<P, R>(statement: Statement<P, R>, params: P, options: StreamOptions): AsyncGenerator<R[]> {
    this.#refuseInside();
    const rows = this.#threads.stream(statement.bind('sqlite', params), options);
    return translatingErrors(rows, (error) =>
      fromSqliteError(error, this.#reader.connection),
    ) as AsyncGenerator<R[]>;
  }

  async offload<P, R>(
    statement: Statement<P, R>,
    params: P,
    options: { signal?: AbortSignal } = {},
  ): Promise<R[]> {
    for await (const rows of this.stream(statement, params, {
      batchRows: Number.POSITIVE_INFINITY,
      ...options,
    })) {
      return rows;
    }
    return [];
  }

  async ping(): Promise<void> {
    await this.first({ sql: 'SELECT 1', parameters: [], writes: false, name: 'ping' });
  }

  async backup(file: string): Promise<void> {
    using source = new SqliteConnection(this.#file, { readOnly: true });
    await backupFile(source, file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#queue.close();
    await this.#threads[Symbol.asyncDispose]();
    this.#readers[Symbol.dispose]();
    this.#reader[Symbol.dispose]();
    this.#writer[Symbol.dispose]();
  }

  #refuseInside(): void {
    if (this.#inside.getStore()?.isOpen) throw outerHandleError();
  }
}
