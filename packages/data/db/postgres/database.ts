import { AsyncLocalStorage } from 'node:async_hooks';
import type { Compilable, Kysely, RawBuilder } from 'kysely';
import type { ClientBase } from 'pg';
import type { Database, StreamOptions, WriteOptions } from '../database.ts';
import { outerHandleError } from '../errors.ts';
import { compileQuery, kyselyOver } from '../kysely.ts';
import type { WriteMetrics } from '../metrics.ts';
import type { Outcome, Query, Row, Runner, Session, WriteSession } from '../session.ts';
import type { Transaction } from '../transaction.ts';
import { type ConstraintColumns, fromPostgresError, whileTransient } from './errors.ts';
import type { PostgresPool } from './pool.ts';
import { streamRows } from './stream.ts';
import {
  beginRead,
  inTransaction,
  lockName,
  postgresTransaction,
  retriable,
  runQuery,
  type StatementNames,
  sharersOf,
} from './transactions/session.ts';
import { WriteGroups } from './transactions/write-groups.ts';

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
  readonly #groups: WriteGroups<DB>;
  #writing = 0;
  #closed = false;

  constructor(parts: PostgresParts) {
    this.#parts = parts;
    this.#groups = new WriteGroups<DB>({
      session: parts,
      transact: (act, countWrites) =>
        this.#retry(() => this.#transact('BEGIN', act, (ms) => parts.metrics.committed(countWrites(), ms))),
    });
  }

  async first(query: Query): Promise<Row | undefined> {
    return (await this.execute(query)).rows[0];
  }

  async execute(query: Query): Promise<Outcome> {
    this.#check();
    // By itself, a frozen server would carry out a write that it got before the connection was given up.
    if (query.writes)
      return this.#retry(() => this.#transactAlone('BEGIN', (session) => session.execute(query)));
    return this.#retry(() =>
      this.#parts.pool.use((client) => runQuery(client, this.#parts.names.inFull(query))),
    );
  }

  async read<T>(work: (session: Session<DB>) => Promise<T>): Promise<T> {
    this.#check();
    return this.#retry(() => this.#transactAlone(beginRead, (session) => session.run(work)));
  }

  async write<T>(
    work: (session: WriteSession<DB>) => Promise<T>,
    { mayBeLost = false, alone = false, locks = [] }: WriteOptions = {},
  ): Promise<T> {
    this.#check();
    const { metrics } = this.#parts;
    const begin = mayBeLost ? beginUnsynced : 'BEGIN';
    const asCaller = AsyncLocalStorage.snapshot();
    const inside = (session: Transaction<DB>): Promise<T> =>
      asCaller(() => this.#inside.run(session, () => session.run(work)));
    const locked = async (session: Transaction<DB>): Promise<T> => {
      for (const name of locks) await session.lock(name);
      return inside(session);
    };
    metrics.queued(++this.#writing);
    try {
      if (locks.length > 0 && !alone && !mayBeLost) return await this.#groups.submit(locks, inside);
      return await this.#retry(() => this.#transactAlone(begin, locked, (ms) => metrics.committed(1, ms)));
    } finally {
      metrics.queued(--this.#writing);
    }
  }

  stream<R>(query: Compilable<R> | RawBuilder<R>, options: StreamOptions): AsyncGenerator<R[]> {
    this.#check();
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
    this.#closed = true;
    // Streams may have no reader left, so end them.
    streamPool.interrupt();
    await this.#groups.ended(pool.closeMs);
    await Promise.all([pool[Symbol.asyncDispose](), streamPool[Symbol.asyncDispose]()]);
  }

  #transactAlone<T>(
    begin: string,
    work: (session: Transaction<DB>) => Promise<T>,
    onCommit?: (durationMs: number) => void,
  ): Promise<T> {
    const run = async (client: ClientBase): Promise<T> => {
      const session = postgresTransaction<DB>(client, this.#parts);
      try {
        return await work(session);
      } catch (error) {
        throw retriable(session, error);
      }
    };
    return this.#transact(begin, run, onCommit);
  }

  #transact<T>(
    begin: string,
    act: (client: ClientBase) => Promise<T>,
    onCommit?: (durationMs: number) => void,
  ): Promise<T> {
    const { pool } = this.#parts;
    return pool.use((client) =>
      inTransaction(client, `${begin}${pool.afterBegin}`, () => act(client), onCommit),
    );
  }

  #retry<T>(act: () => Promise<T>): Promise<T> {
    return whileTransient(act).catch((error: unknown) => {
      throw fromPostgresError(error, this.#parts.columns);
    });
  }

  /** Throws where the database cannot be used: inside one of its writes, and once it is closed. */
  #check(): void {
    if (this.#closed) throw new Error('the database is closed');
    if (this.#inside.getStore()?.isOpen) throw outerHandleError();
  }
}
