import type { Log } from '@octavo/core';
import { Pool } from 'undici';

/** Address of a server. */
export interface Target {
  /** An IP address. */
  readonly ip: string;
  readonly port: number;
  /** The name and port by which it was asked for, sent as `host`. */
  readonly host: string;
}

/** One server that can receive calls, with its connections and its last known health. */
export class Endpoint {
  readonly target: Target;
  /** `http://127.0.0.1:50051` */
  readonly origin: string;
  /** Connections for unary calls. */
  readonly unary: Pool;
  /** Connections for streams and pings, so that open streams never block unary calls. */
  readonly streams: Pool;
  readonly #log: Log;
  #failures = 0;
  #downSinceMs = 0;
  #skipUntilMs = 0;
  #answeredMs = 0;
  #closed: Promise<unknown> | undefined;

  constructor(target: Target, log: Log) {
    const { ip, port } = target;
    this.target = target;
    this.origin = ip.includes(':') ? `http://[${ip}]:${port}` : `http://${ip}:${port}`;
    this.unary = new Pool(this.origin, poolOptions);
    this.streams = new Pool(this.origin, poolOptions);
    this.#log = log;
  }

  /** True if it failed or announced its stop a moment ago, so that others are tried first; for 1 s at most. */
  isSkipped(nowMs: number): boolean {
    return nowMs < this.#skipUntilMs;
  }

  /** True if it has been failing for so long that a short wait will not help. */
  isLongDown(nowMs: number): boolean {
    return this.#failures > 0 && nowMs - this.#downSinceMs > longDownMs;
  }

  /** A call goes to it. If it is down, this call is the only one that tries it for a second. */
  picked(nowMs: number): void {
    if (this.#failures > 0) this.#skipUntilMs = nowMs + skipMsMax;
  }

  /** Records a refused connection or call. */
  failed(nowMs: number, reason: unknown): void {
    if (this.#closed) return;
    if (this.#failures === 0) {
      this.#downSinceMs = nowMs;
      this.#log.warn({ address: this.origin, err: reason }, 'RPC server does not accept calls');
    }
    this.#failures += 1;
    this.#skipUntilMs = nowMs + Math.min(skipMsMax, 25 * 2 ** this.#failures);
  }

  /** A call that began at `sinceMs` timed out. If no other call was answered since then, the server hangs. */
  timedOut(sinceMs: number, reason: unknown): void {
    if (this.#answeredMs < sinceMs) this.failed(performance.now(), reason);
  }

  /** Records a connection that closes after its response, as before a server stops. */
  leaves(nowMs: number): void {
    this.#skipUntilMs = nowMs + skipMsMax;
  }

  /** Records the response to a call. */
  answered(): void {
    this.#answeredMs = performance.now();
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.#skipUntilMs = 0;
    this.#log.info({ address: this.origin }, 'RPC server accepts calls again');
  }

  /** Lets unary calls in flight finish, which their deadlines bound, and cuts streams. */
  async close(): Promise<void> {
    this.#closed ??= Promise.all([this.unary.close(), this.streams.destroy()]);
    await this.#closed;
  }
}

const longDownMs = 1_000;
const skipMsMax = 1_000;

/** Calls have deadlines of their own, which count from before the connection and to the millisecond. */
const poolOptions: Pool.Options = {
  connections: 64,
  connect: { timeout: 1_000 },
  headersTimeout: 0,
  bodyTimeout: 0,
};
