import pg from 'pg';
import type { Log } from '../../log.ts';
import { ConnectionLost, mustReconnect } from './errors.ts';
import { rowTypes } from './types.ts';

const connectTimeoutMs = 5_000;
const idleMs = 30_000;

/** A connection taken from the pool, until it is released. */
export interface Lease {
  readonly client: pg.PoolClient;
  /**
   * Gives it back, with the error that ended its use where one did; the result is what that error means. With `discard`
   * nobody gets the connection again.
   */
  release(error?: unknown, discard?: boolean): unknown;
}

/** A few connections to one schema, made when needed; broken ones are replaced. */
export class PostgresPool implements AsyncDisposable {
  readonly #pool: pg.Pool;
  readonly #leases = new Set<Lease>();
  readonly #idle = Promise.withResolvers<void>();
  /** Leases, and those who wait for one. */
  #taken = 0;
  #closed = false;
  #ended: Promise<void> | undefined;

  constructor(options: { url: string; schema: string; max: number; log: Log }) {
    this.#pool = new pg.Pool({
      connectionString: options.url,
      application_name: options.schema,
      max: options.max,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: idleMs,
      keepAlive: true,
      types: rowTypes,
      onConnect: async (client) => {
        await client.query(`SET search_path TO ${quoteName(options.schema)}`);
      },
    });
    this.#pool.on('error', (error) =>
      options.log.warn({ err: error }, 'lost an idle connection to PostgreSQL'),
    );
  }

  /** Runs `work` on a connection of its own. A lost connection throws {@link ConnectionLost}. */
  async use<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const lease = await this.lease();
    let value: T;
    try {
      value = await work(lease.client);
    } catch (error) {
      throw lease.release(error);
    }
    lease.release();
    return value;
  }

  /** A connection to hold longer than one function; whoever takes it must release it. */
  async lease(): Promise<Lease> {
    if (this.#closed) throw new Error('the database is closed');
    this.#taken++;
    try {
      const lease = new PoolLease(await this.#connect(), () => this.#giveBack(lease));
      this.#leases.add(lease);
      return lease;
    } catch (error) {
      this.#giveBack(undefined);
      throw error;
    }
  }

  /** Breaks off whatever is under way. */
  interrupt(): void {
    this.#closed = true;
    for (const lease of this.#leases) lease.release(undefined, true);
  }

  /** Takes no more, and resolves when what was begun is done. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    if (this.#taken === 0) this.#idle.resolve();
    await this.#idle.promise;
    this.#ended ??= this.#pool.end();
    await this.#ended;
  }

  #giveBack(lease: Lease | undefined): void {
    if (lease) this.#leases.delete(lease);
    if (--this.#taken === 0 && this.#closed) this.#idle.resolve();
  }

  async #connect(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw error instanceof pg.DatabaseError ? error : new ConnectionLost(error);
    }
  }
}

class PoolLease implements Lease {
  readonly client: pg.PoolClient;
  readonly #onRelease: () => void;
  #lost: Error | undefined;
  #released = false;

  constructor(client: pg.PoolClient, onRelease: () => void) {
    this.client = client;
    this.#onRelease = onRelease;
    client.on('error', this.#onError);
  }

  release(error?: unknown, discard = false): unknown {
    if (!this.#released) {
      this.#released = true;
      this.client.release(discard || this.#lost !== undefined || mustReconnect(error));
      if (!discard) this.client.off('error', this.#onError);
      this.#onRelease();
    }
    return this.#lost === undefined || error instanceof pg.DatabaseError ? error : new ConnectionLost(error);
  }

  readonly #onError = (error: Error): void => {
    this.#lost = error;
  };
}

/** An SQL identifier, quoted. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
