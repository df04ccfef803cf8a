import { setTimeout as delay } from 'node:timers/promises';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';

export interface NatsOptions {
  /** `nats://[user:password@]host[:port]`, or several, separated by commas. `tls://` uses TLS. A user without a password is a token. */
  readonly url: string;
  /** The name of this connection at the server. */
  readonly name: string;
  readonly log: Log;
}

/** An open connection with its JetStream client. */
export interface Nats {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
}

/** Timeout of a request to the server, in milliseconds. */
export const requestTimeoutMs = 2_000;
const reconnectWaitMs = 300;

/**
 * A connection to NATS that is opened in the background and reconnects, however long the server is down. Meanwhile, `use` throws
 * `unavailable` immediately.
 */
export class NatsLink implements AsyncDisposable {
  readonly #options: NatsOptions;
  readonly #stop = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #ready: Promise<void>;
  #nats: Nats | undefined;
  #isUp = false;

  constructor(options: NatsOptions) {
    this.#options = options;
    this.#ready = this.#connect();
  }

  /** Runs `work` on the connection. Throws `unavailable` if it is down or the server does not respond. */
  async use<T>(work: (nats: Nats) => Promise<T>): Promise<T> {
    if (!this.#nats) await Promise.race([this.#ready, delay(requestTimeoutMs, undefined, { ref: false })]);
    const nats = this.#nats;
    if (!nats || !this.#isUp) throw brokerUnavailable();
    try {
      return await work(nats);
    } catch (error) {
      throw isUnavailable(error) ? brokerUnavailable(error) : error;
    }
  }

  /** Calls back at each connect and reconnect. Returns a function that unsubscribes. */
  onUp(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#isUp) queueMicrotask(listener);
    return () => this.#listeners.delete(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ready;
    const connection = this.#nats?.connection;
    if (connection?.isClosed()) return;
    // Sends the last acknowledgements, unless the server is down.
    if (this.#isUp) await connection?.flush().catch(() => {});
    await connection?.close();
  }

  async #connect(): Promise<void> {
    const { connect } = await import('@nats-io/transport-node');
    const { jetstream, jetstreamManager } = await import('@nats-io/jetstream');
    for (let isLogged = false; !this.#stop.signal.aborted; isLogged = true) {
      try {
        const connection = await connect(connectionOptions(this.#options));
        const options = { timeout: requestTimeoutMs };
        const manager = await jetstreamManager(connection, { ...options, checkAPI: false });
        this.#nats = { connection, client: jetstream(connection, options), manager };
        void this.#watch(connection);
        this.#setUp(true);
        return;
      } catch (error) {
        if (!isLogged) this.#options.log.warn({ err: error }, 'NATS does not respond');
        await delay(reconnectWaitMs, undefined, { signal: this.#stop.signal }).catch(() => {});
      }
    }
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect' || type === 'staleConnection') this.#setUp(false);
      if (type === 'reconnect') this.#setUp(true);
    }
  }

  #setUp(isUp: boolean): void {
    if (isUp === this.#isUp) return;
    this.#isUp = isUp;
    if (!this.#stop.signal.aborted) {
      this.#options.log[isUp ? 'info' : 'warn'](
        isUp ? 'connected to NATS' : 'the connection to NATS is lost',
      );
    }
    if (isUp) for (const listener of this.#listeners) listener();
  }
}

/** Returns true if the error says that a stream, consumer or message does not exist. */
export function isMissing(error: unknown): boolean {
  const { code, status } = error as { code?: unknown; status?: unknown };
  return code === 404 || status === 404 || /not found/i.test((error as Error).message);
}

/** Options of NATS's own `connect`: servers, credentials and TLS from the address, and short waits. */
export function connectionOptions({ url, name }: Pick<NatsOptions, 'url' | 'name'>): object {
  const servers = url.split(',').map((server) => new URL(server.trim()));
  const [{ username, password, protocol } = { username: '', password: '', protocol: '' }] = servers;
  const user = decodeURIComponent(username);
  const credentials = password === '' ? { token: user } : { user, pass: decodeURIComponent(password) };
  return {
    servers: servers.map((server) => server.host),
    name,
    ...(user === '' ? {} : credentials),
    ...(protocol === 'tls:' ? { tls: {} } : {}),
    maxReconnectAttempts: -1,
    reconnectTimeWait: reconnectWaitMs,
    reconnectJitter: reconnectWaitMs,
    pingInterval: 5_000,
    maxPingOut: 2,
    timeout: 3_000,
  };
}

/** Codes of JetStream for too little memory and too little storage. */
const noRoom: readonly unknown[] = [10_028, 10_047];

/** Returns true if the server did not respond, has no JetStream at the moment, or could not store a message, as on a full disk. */
function isUnavailable(error: unknown): boolean {
  const names = [
    'TimeoutError',
    'NoRespondersError',
    'JetStreamNotEnabled',
    'ClosedConnectionError',
    'DrainingConnectionError',
    'RequestError',
    'ConnectionError',
  ];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (names.includes(cause.name) || ('code' in cause && cause.code === 503)) return true;
    if ('status' in cause && cause.status === 503) return true;
    if ('code' in cause && noRoom.includes(cause.code)) return true;
  }
  return false;
}

function brokerUnavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'the message broker cannot be used at the moment', {
    retryAfterSeconds: 1,
    cause,
  });
}
