import { Socket } from 'node:net';
import type { Log } from '@octavo/core';
import pg, { type CustomTypesConfig } from 'pg';
import { UnknownOutcome } from '../errors.ts';
import { ConnectionLost, isAtConnectionLimit, mustReconnect } from './errors.ts';
import { FreezeWatch, type WatchedConnection } from './freeze-watch.ts';

const connectTimeoutMs = 5_000;
const idleMs = 30_000;
/** Time for which a pool that met the limit of the server does not grow. */
const limitedMs = 1_000;
/** Time that the server may respond after its own timeout. */
const lateMs = 1_000;
/** Time that running work gets after closing. */
const closeMsDefault = 10_000;

/**
 * Limits of the server for a statement, for waiting for a lock, and for an idle open transaction. When one process freezes in a
 * transaction, the others get its locks before their own wait is over.
 */
export interface ServerTimeouts {
  readonly statementMs: number;
  readonly lockMs: number;
  readonly idleInTransactionMs: number;
}

/** A connection of a request. Waiting for a lock takes at most as long as on SQLite. */
export const requestTimeouts: ServerTimeouts = {
  statementMs: 60_000,
  lockMs: 15_000,
  idleInTransactionMs: 10_000,
};

/** A connection of a stream: one batch may compute for long, and a slow consumer may take its time with each. */
export const streamTimeouts: ServerTimeouts = {
  statementMs: 600_000,
  lockMs: 15_000,
  idleInTransactionMs: 120_000,
};

/** A migration or a restore: it waits for another process that migrates, and a step over a large table takes long. */
export const migrationTimeouts: ServerTimeouts = {
  statementMs: 0,
  lockMs: 120_000,
  idleInTransactionMs: 60_000,
};

const { builtins } = pg.types;

/**
 * Parsers that make rows of PostgreSQL look like those of SQLite: integers and numerics as numbers (beyond 2^53 is an error,
 * not a wrong number), booleans as 1 and 0, bytea as Uint8Array, everything else (JSON, times) as its text.
 */
const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [builtins.INT2, Number],
  [builtins.INT4, Number],
  [builtins.INT8, safeNumber],
  [builtins.OID, Number],
  [builtins.FLOAT4, Number],
  [builtins.FLOAT8, Number],
  [builtins.NUMERIC, safeNumber],
  [builtins.BOOL, (text) => (text === 't' ? 1 : 0)],
  [builtins.BYTEA, (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex'))],
]);

const rowTypes: CustomTypesConfig = {
  getTypeParser: (oid: number) => parsers.get(oid) ?? ((text: string) => text),
};

interface PoolOptions {
  readonly url: string;
  readonly schema: string;
  readonly max: number;
  readonly timeouts: ServerTimeouts;
  readonly log: Log;
  /** Time that running work gets after the pool is closed. */
  readonly closeMs?: number;
}

/**
 * A few connections to one schema, opened when needed. Broken ones are replaced, and so are those on which the server is frozen or does
 * not keep its own timeout. Where the server has no more of them, work waits for those that there are.
 */
export class PostgresPool implements AsyncDisposable {
  readonly #pool: pg.Pool;
  readonly #max: number;
  readonly #sockets = new Set<Socket>();
  readonly #silenceMs: number;
  readonly #closeMs: number;
  readonly #leases = new Set<Lease>();
  readonly #watch: FreezeWatch;
  readonly #idle = Promise.withResolvers<void>();
  /** Leases, and calls that wait for one. */
  #taken = 0;
  #growsFromMs = 0;
  #closed = false;
  #ended: Promise<void> | undefined;

  constructor(options: PoolOptions) {
    const { statementMs } = options.timeouts;
    this.#max = options.max;
    this.#silenceMs = statementMs === 0 ? 0 : statementMs + lateMs;
    this.#closeMs = options.closeMs ?? closeMsDefault;
    this.#watch = new FreezeWatch(options.url, this.#leases);
    this.#pool = new pg.Pool({
      connectionString: options.url,
      application_name: options.schema,
      max: options.max,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: idleMs,
      keepAlive: true,
      // A statement is sent without waiting for the one before.
      pipeline: true,
      stream: () => this.#openSocket(),
      types: rowTypes,
      onConnect: async (client) => {
        await client.query(
          `SET search_path TO ${quoteName(options.schema)}; ${timeoutSettings('SET', options.timeouts)}`,
        );
      },
    });
    this.#pool.on('error', (error) =>
      options.log.warn({ err: error }, 'lost an idle connection to PostgreSQL'),
    );
  }

  /** Runs `work` on a connection of its own. A lost connection throws {@link ConnectionLost}. */
  async use<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const lease = await this.lease();
    try {
      const value = await work(lease.client);
      lease.release();
      return value;
    } catch (error) {
      lease.release(error);
      throw lease.explain(error);
    }
  }

  /** A connection to hold longer than one function. The caller must release it. */
  async lease(): Promise<Lease> {
    if (this.#closed) throw new Error('the database is closed');
    this.#taken++;
    try {
      const lease = new Lease(await this.#connect(), () => this.#giveBack(lease));
      this.#leases.add(lease);
      return lease;
    } catch (error) {
      this.#giveBack(undefined);
      throw error;
    }
  }

  /** Ends the connections in use and whatever runs on them. */
  interrupt(): void {
    this.#closed = true;
    for (const lease of this.#leases) lease.release(undefined, true);
  }

  /** Accepts no more work, and resolves when running work has finished or was cut off. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const cut = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, this.#closeMs);
    if (this.#taken === 0) this.#idle.resolve();
    await this.#idle.promise;
    this.#ended ??= this.#pool.end();
    await this.#ended;
    this.#watch[Symbol.dispose]();
    clearTimeout(cut);
  }

  /** A connection that ends when nothing comes or goes for longer than any statement may take. */
  #openSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.setTimeout(this.#silenceMs, () => socket.destroy());
    return socket;
  }

  #giveBack(lease: Lease | undefined): void {
    if (lease) this.#leases.delete(lease);
    if (--this.#taken === 0 && this.#closed) this.#idle.resolve();
  }

  /** A connection. At the limit of the server it is one of the pool's own, as soon as that comes back. */
  async #connect(): Promise<pg.PoolClient> {
    if (performance.now() >= this.#growsFromMs) this.#pool.options.max = this.#max;
    try {
      return await this.#pool.connect();
    } catch (error) {
      const own = this.#leases.size + this.#pool.idleCount;
      if (own > 0 && isAtConnectionLimit(error)) {
        this.#growsFromMs = performance.now() + limitedMs;
        this.#pool.options.max = own;
        return this.#connect();
      }
      throw error instanceof pg.DatabaseError ? error : new ConnectionLost(error);
    }
  }
}

/** Internal state of a `pg` client's connection. */
type Wired = pg.PoolClient & {
  readonly readyForQuery: boolean;
  readonly processID: number | null;
  readonly connection: { readonly stream: Socket };
};

/** A connection taken from the pool, until it is released. */
export class Lease implements WatchedConnection {
  readonly client: pg.PoolClient;
  readonly #onRelease: () => void;
  #lost = false;
  #released = false;
  #bytesRead = -1;
  #silentSinceMs = 0;

  constructor(client: pg.PoolClient, onRelease: () => void) {
    this.client = client;
    this.#onRelease = onRelease;
    client.on('error', this.#onError);
  }

  /** The error itself, or {@link ConnectionLost} where it came of a lost connection that carried no change. */
  explain(error: unknown): unknown {
    if (error instanceof UnknownOutcome) return error;
    return this.#lost && !(error instanceof pg.DatabaseError) ? new ConnectionLost(error) : error;
  }

  get processId(): number | null {
    return (this.client as Wired).processID;
  }

  silentSinceMs(nowMs: number): number | undefined {
    const { readyForQuery, connection } = this.client as Wired;
    const { bytesRead } = connection.stream;
    if (readyForQuery || bytesRead !== this.#bytesRead) this.#silentSinceMs = nowMs;
    this.#bytesRead = bytesRead;
    return readyForQuery ? undefined : this.#silentSinceMs;
  }

  cut(): void {
    (this.client as Wired).connection.stream.destroy();
  }

  /** Gives the connection back, with the error that ended its use, if any. With `discard` it is never used again. */
  release(error?: unknown, discard = false): void {
    if (this.#released) return;
    this.#released = true;
    this.client.release(discard || this.#lost || mustReconnect(error));
    if (!discard) this.client.off('error', this.#onError);
    this.#onRelease();
  }

  readonly #onError = (): void => {
    this.#lost = true;
  };
}

/** The statements that set the timeouts, for the connection (`SET`) or for a transaction (`SET LOCAL`). */
export function timeoutSettings(set: 'SET' | 'SET LOCAL', timeouts: ServerTimeouts): string {
  return `${set} statement_timeout = ${timeouts.statementMs}; ${set} lock_timeout = ${timeouts.lockMs};
    ${set} idle_in_transaction_session_timeout = ${timeouts.idleInTransactionMs}`;
}

/** An SQL identifier, quoted. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function safeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) && !text.includes('.')) {
    throw new RangeError(`${text} is too large for a number: keep integers within 2^53`);
  }
  return number;
}
