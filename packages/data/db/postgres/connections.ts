import { Socket } from 'node:net';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@octavo/core';
import pg from 'pg';
import type { Pooler } from '../database.ts';
import { ConnectionLost, isAtConnectionLimit } from './errors.ts';
import { FreezeWatch, type WatchedConnection } from './freeze-watch.ts';
import { rowTypes } from './row-types.ts';
import { type ServerTimeouts, timeoutSettings } from './timeouts.ts';

const connectTimeoutMs = 5_000;
const idleMs = 30_000;
/** Time for which connections that met the limit of the server do not grow in number. */
const limitedMs = 1_000;
/** Time until a process without a connection asks the server again, at the limit. */
const askAgainMs = 200;
/** Time that the server may respond after its own timeout. */
const lateMs = 1_000;

/** The name of each connection of this process at the server, which tells how many processes there are. */
export const processName = `octavo ${process.pid}@${hostname()}`.slice(0, 63);
/** Matches the name of each process, for LIKE. */
export const processNames = 'octavo %@%';

/** A server, and how many connections to it there may be. Databases with equal values share their connections. */
export interface ConnectionOptions {
  readonly url: string;
  readonly pooler?: Pooler | undefined;
  /** PostgreSQL itself behind a pooler. */
  readonly directUrl?: string | undefined;
  readonly max: number;
  /** Connections that stay open when they are idle; none by default. */
  readonly min?: number;
  readonly timeouts: ServerTimeouts;
}

/**
 * Connections of this process to a server, opened when needed and shared by its databases. Broken ones are replaced, and so are those on
 * which the server is frozen or does not keep its own timeout. Where the server has no more of them, work waits for those that there are.
 */
export class Connections {
  readonly options: ConnectionOptions;
  /** Connections in use. */
  readonly used = new Set<WatchedConnection>();
  /** Databases that share them. */
  users = 0;
  readonly #pool: pg.Pool;
  readonly #sockets = new Set<Socket>();
  readonly #silenceMs: number;
  readonly #watch: FreezeWatch | undefined;
  #growsFromMs = 0;

  constructor(options: ConnectionOptions, log: Log) {
    const { pooler = 'none', timeouts, max, min = 0 } = options;
    const { statementMs } = timeouts;
    this.options = options;
    this.#silenceMs = statementMs === 0 ? 0 : statementMs + lateMs;
    // A pooler lets connections in when the server is frozen, and may let them wait when it is not.
    const watched = pooler === 'none' ? options.url : options.directUrl;
    if (watched) this.#watch = new FreezeWatch(watched, this.used);
    this.#pool = new pg.Pool({
      connectionString: options.url,
      application_name: processName,
      max,
      min,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: idleMs,
      keepAlive: true,
      // A statement is sent without waiting for the one before.
      pipeline: true,
      stream: () => this.#openSocket(),
      types: rowTypes,
      onConnect: async (client) => {
        if (pooler === 'none') await client.query(timeoutSettings('SET', timeouts));
      },
    });
    this.#pool.on('error', (error) => log.warn({ err: error }, 'lost an idle connection to PostgreSQL'));
  }

  /** Idle connections. */
  get idle(): number {
    return this.#pool.idleCount;
  }

  /** Calls that wait for a connection. */
  get waiting(): number {
    return this.#pool.waitingCount;
  }

  /** A connection, within some five seconds. At the limit of the server it is one of those that there are, as soon as that comes back. */
  async connect(): Promise<pg.PoolClient> {
    const giveUpMs = performance.now() + connectTimeoutMs;
    for (;;) {
      if (performance.now() >= this.#growsFromMs) this.#pool.options.max = this.options.max;
      try {
        return await this.#pool.connect();
      } catch (error) {
        const now = performance.now();
        if (!isAtConnectionLimit(error) || now >= giveUpMs)
          throw error instanceof pg.DatabaseError ? error : new ConnectionLost(error);
        const own = this.used.size + this.idle;
        this.#growsFromMs = now + limitedMs;
        this.#pool.options.max = Math.max(1, own);
        if (own === 0) await delay(askAgainMs);
      }
    }
  }

  /** Closes the connections, none of which is in use; those that are not closed after `cutMs` are cut. */
  async end(cutMs: number): Promise<void> {
    const cut = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, cutMs);
    await this.#pool.end();
    this.#watch?.[Symbol.dispose]();
    clearTimeout(cut);
  }

  /** A connection that ends when nothing comes or goes for longer than any statement may take. */
  #openSocket(): Socket {
    const socket = new TurnSocket();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    socket.setTimeout(this.#silenceMs, () => socket.destroy());
    return socket;
  }
}

/** Sends together what is written in one turn: statements that do not wait for one another cost one call of the system. */
class TurnSocket extends Socket {
  #isWaiting = false;

  override write(
    piece: Uint8Array | string,
    encoding?: BufferEncoding | ((error?: Error | null) => void),
    onWritten?: (error?: Error | null) => void,
  ): boolean {
    if (!this.#isWaiting) {
      this.#isWaiting = true;
      this.cork();
      process.nextTick(() => {
        this.#isWaiting = false;
        this.uncork();
      });
    }
    return super.write(piece, encoding as BufferEncoding, onWritten);
  }
}

const shared = new Map<string, Connections>();

/** The connections of this process, opened for the first database that shares them. {@link leaveConnections} must follow. */
export function shareConnections(options: ConnectionOptions, log: Log): Connections {
  const key = keyOf(options);
  const connections = shared.get(key) ?? new Connections(options, log);
  shared.set(key, connections);
  connections.users++;
  return connections;
}

/** Leaves connections that {@link shareConnections} gave. The last to leave closes them; see {@link Connections.end}. */
export async function leaveConnections(connections: Connections, cutMs: number): Promise<void> {
  if (--connections.users > 0) return;
  shared.delete(keyOf(connections.options));
  await connections.end(cutMs);
}

/** All connections that this process shares now. */
export function sharedConnections(): Connections[] {
  return [...shared.values()];
}

function keyOf({ url, pooler = 'none', directUrl, max, min, timeouts }: ConnectionOptions): string {
  return JSON.stringify([url, pooler, directUrl, max, min, Object.values(timeouts)]);
}
