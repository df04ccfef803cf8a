import { setTimeout as delay } from 'node:timers/promises';
import type { JetStreamClient, JetStreamManager, StreamConfig } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';

export interface NatsOptions {
  /** `nats://[user:password@]host[:port]`, several separated by commas; `tls://` for TLS. A user without password is a token. */
  readonly url: string;
  /** What the server calls this connection. */
  readonly name: string;
  readonly log: Log;
}

/** A connection that works, with its JetStream client. */
export interface Nats {
  readonly connection: NatsConnection;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
}

/** How long a request to the server may take. */
export const requestTimeoutMs = 2_000;
const reconnectWaitMs = 300;

/**
 * A connection to NATS that is opened in the background and comes back by itself, however long the server is away. While
 * it is down, work on it throws `unavailable` at once.
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

  /** Runs `work` on the connection; `unavailable` where it is down, or the server does not answer. */
  async use<T>(work: (nats: Nats) => Promise<T>): Promise<T> {
    if (!this.#nats) await Promise.race([this.#ready, delay(requestTimeoutMs, undefined, { ref: false })]);
    const nats = this.#nats;
    if (!nats || !this.#isUp) throw brokerUnavailable();
    try {
      return await work(nats);
    } catch (error) {
      throw isUnanswered(error) ? brokerUnavailable(error) : error;
    }
  }

  /** Calls back whenever the connection is there, first or again; gives the way to stop that. */
  onUp(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#isUp) queueMicrotask(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Makes a stream of this configuration where there is none of its name. */
  async ensureStream(config: Partial<StreamConfig> & Pick<StreamConfig, 'name'>): Promise<void> {
    await this.use(async ({ manager }) => {
      const exists = await manager.streams.info(config.name).then(
        () => true,
        (error: unknown) => {
          if (isMissing(error)) return false;
          throw error;
        },
      );
      if (!exists) await manager.streams.add(config);
    });
  }

  /** Throws where the server, or its JetStream, does not answer. */
  async ping(): Promise<void> {
    await this.use(({ manager }) => manager.getAccountInfo());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#ready;
    const connection = this.#nats?.connection;
    if (connection?.isClosed()) return;
    // What was acknowledged last goes out, unless the server is away.
    if (this.#isUp) await connection?.flush().catch(() => {});
    await connection?.close();
  }

  async #connect(): Promise<void> {
    const { connect } = await import('@nats-io/transport-node');
    const { jetstream, jetstreamManager } = await import('@nats-io/jetstream');
    for (let told = false; !this.#stop.signal.aborted; told = true) {
      try {
        const connection = await connect(connectionOptions(this.#options));
        const options = { timeout: requestTimeoutMs };
        const manager = await jetstreamManager(connection, { ...options, checkAPI: false });
        this.#nats = { connection, client: jetstream(connection, options), manager };
        void this.#watch(connection);
        this.#turned(true);
        return;
      } catch (error) {
        if (!told) this.#options.log.warn({ err: error }, 'NATS does not answer');
        await delay(reconnectWaitMs, undefined, { signal: this.#stop.signal }).catch(() => {});
      }
    }
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect' || type === 'staleConnection') this.#turned(false);
      if (type === 'reconnect') this.#turned(true);
    }
  }

  #turned(isUp: boolean): void {
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

/** Whether a stream, consumer or message does not exist. */
export function isMissing(error: unknown): boolean {
  const { code, status } = error as { code?: unknown; status?: unknown };
  return code === 404 || status === 404 || /not found/i.test((error as Error).message);
}

function connectionOptions({ url, name }: NatsOptions): object {
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

/** Whether the server did not answer, or has no JetStream at the moment. */
function isUnanswered(error: unknown): boolean {
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
  }
  return false;
}

function brokerUnavailable(cause?: unknown): AppError {
  return new AppError('unavailable', 'the message broker cannot be used at the moment', {
    retryAfterSeconds: 1,
    cause,
  });
}
