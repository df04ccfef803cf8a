import type { Socket } from 'node:net';
import type { Log } from '@octavo/core';
import pg from 'pg';
import { UnknownOutcome } from '../errors.ts';
import {
  type ConnectionOptions,
  type Connections,
  leaveConnections,
  shareConnections,
} from './connections.ts';
import { ConnectionLost, mustReconnect } from './errors.ts';
import type { WatchedConnection } from './freeze-watch.ts';
import { timeoutSettings } from './timeouts.ts';

/** Time that running work gets after closing. */
const closeMsDefault = 10_000;

interface PoolOptions extends ConnectionOptions {
  readonly log: Log;
  /** Time that running work gets after the pool is closed. */
  readonly closeMs?: number;
}

/** A database's part of the {@link Connections} of its process: work runs on them until it is closed. */
export class PostgresPool implements AsyncDisposable {
  /** Statements that follow BEGIN in the same message. A pooler gives each transaction another connection, which keeps no settings of ours. */
  readonly afterBegin: string;
  /** False if statements are not prepared by name. */
  readonly keepsNames: boolean;
  /** Time that running work gets after closing. */
  readonly closeMs: number;
  readonly #connections: Connections;
  readonly #leases = new Set<Lease>();
  readonly #idle = Promise.withResolvers<void>();
  /** Leases, and calls that wait for one. */
  #taken = 0;
  #closed = false;
  #left: Promise<void> | undefined;

  constructor({ log, closeMs = closeMsDefault, ...options }: PoolOptions) {
    const { pooler = 'none', timeouts } = options;
    this.keepsNames = pooler !== 'transaction';
    this.afterBegin = pooler === 'none' ? '' : `; ${timeoutSettings('SET LOCAL', timeouts)}`;
    this.closeMs = closeMs;
    this.#connections = shareConnections(options, log);
  }

  /**
   * Runs `work` on a connection of its own. A lost connection throws {@link ConnectionLost}. Work must not wait for another connection:
   * if all are held by such work, none comes back. Tests with `TEST_CONNECTIONS=1` find it.
   */
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
      const client = await this.#connections.connect();
      const lease = new Lease(client, () => this.#giveBack(lease));
      this.#leases.add(lease);
      this.#connections.used.add(lease);
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
      for (const lease of this.#leases) lease.cut();
    }, this.closeMs);
    if (this.#taken === 0) this.#idle.resolve();
    await this.#idle.promise;
    clearTimeout(cut);
    this.#left ??= leaveConnections(this.#connections, this.closeMs);
    await this.#left;
  }

  #giveBack(lease: Lease | undefined): void {
    if (lease) {
      this.#leases.delete(lease);
      this.#connections.used.delete(lease);
    }
    if (--this.#taken === 0 && this.#closed) this.#idle.resolve();
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

/** An SQL identifier, quoted. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
