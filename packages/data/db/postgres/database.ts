import { AsyncLocalStorage } from 'node:async_hooks';
import type { Compilable, Kysely, RawBuilder } from 'kysely';
import type { Database, StreamOptions, WriteOptions } from '../database.ts';
import { outerHandleError } from '../errors.ts';
import { compileQuery, kyselyOver } from '../kysely.ts';
import type { WriteMetrics } from '../metrics.ts';
import type { Outcome, Query, Row, Runner, Session, WriteSession } from '../session.ts';
import type { Transaction } from '../transaction.ts';
import { type ConstraintColumns, fromPostgresError, isTransient, whileTransient } from './errors.ts';
import type { PostgresPool } from './pool.ts';
import {
  beginRead,
  inTransaction,
  lockName,
  postgresTransaction,
  runQuery,
  type StatementNames,
  sharersOf,
} from './session.ts';
import { streamRows } from './stream.ts';

const beginUnsynced = 'BEGIN; SET LOCAL synchronous_commit = off';

interface PostgresParts {
  readonly schema: string;
  readonly names: StatementNames;
  readonly pool: PostgresPool;
  /** Connections for streams, so that they cannot use up those of the requests. */
  readonly streamPool: PostgresPool;
  readonly columns: ConstraintColumns;
  readonly metrics: WriteMetrics;
}

/** A {@link Database} in one schema of PostgreSQL, which is in place. */
export class PostgresDatabase<DB> implements Database<DB>, Runner {
  readonly dialect = 'postgres';
  readonly runner: Runner = this;
  readonly kysely: Kysely<DB> = kyselyOver<DB>('postgres', this);
  readonly #parts: PostgresParts;
  readonly #inside = new AsyncLocalStorage<Transaction<DB>>();
  #writing = 0;

  constructor(parts: PostgresParts) {
    this.#parts = parts;
  }

  async first(query: Query): Promise<Row | undefined> {
    return (await this.execute(query)).rows[0];
  }

  async execute(query: Query): Promise<Outcome> {
    this.#refuseInside();
    // By itself, a frozen server would carry out a write that it got before the connection was given up.
    if (query.writes) return this.#retry(() => this.#transact('BEGIN', (session) => session.execute(query)));
    return this.#retry(() =>
      this.#parts.pool.use((client) => runQuery(client, this.#parts.names.inFull(query))),
    );
  }

  async read<T>(work: (session: Session<DB>) => Promise<T>): Promise<T> {
    this.#refuseInside();
    return this.#retry(() => this.#transact(beginRead, (session) => session.run(work)));
  }

  async write<T>(
    work: (session: WriteSession<DB>) => Promise<T>,
    { mayBeLost = false }: WriteOptions = {},
  ): Promise<T> {
    this.#refuseInside();
    const { metrics } = this.#parts;
    const begin = mayBeLost ? beginUnsynced : 'BEGIN';
    const inside = (session: Transaction<DB>): Promise<T> =>
      this.#inside.run(session, () => session.run(work));
    metrics.queued(++this.#writing);
    try {
      return await this.#retry(() => this.#transact(begin, inside, (ms) => metrics.committed(1, ms)));
    } finally {
      metrics.queued(--this.#writing);
    }
  }

  stream<R>(query: Compilable<R> | RawBuilder<R>, options: StreamOptions): AsyncGenerator<R[]> {
    this.#refuseInside();
    return streamRows(this.#parts, compileQuery(this.kysely, query), options) as AsyncGenerator<R[]>;
  }

  async sharers(name: string): Promise<ReadonlySet<unknown>> {
    const query = { sql: sharersOf, parameters: [lockName(this.#parts, name)], writes: false };
    return new Set((await this.execute(query)).rows.map(({ id }) => id));
  }

  async ping(): Promise<void> {
    await this.execute({ sql: 'SELECT 1', parameters: [], writes: false });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pool, streamPool } = this.#parts;
    // Streams may have no reader left, so end them.
    streamPool.interrupt();
    await Promise.all([pool[Symbol.asyncDispose](), streamPool[Symbol.asyncDispose]()]);
  }

  async #transact<T>(
    begin: string,
    work: (session: Transaction<DB>) => Promise<T>,
    onCommit?: (durationMs: number) => void,
  ): Promise<T> {
    const { pool } = this.#parts;
    return pool.use(async (client) => {
      const session = postgresTransaction<DB>(client, this.#parts);
      try {
        return await inTransaction(client, `${begin}${pool.afterBegin}`, () => work(session), onCommit);
      } catch (error) {
        throw isTransient(session.failure) ? session.failure : error;
      }
    });
  }

  #retry<T>(act: () => Promise<T>): Promise<T> {
    return whileTransient(act).catch((error: unknown) => {
      throw fromPostgresError(error, this.#parts.columns);
    });
  }

  #refuseInside(): void {
    if (this.#inside.getStore()?.isOpen) throw outerHandleError();
  }
}
