import type { Log } from '../log.ts';
import { ConnectionPool } from './connection-pool.ts';

/** Where a server is. */
export interface Target {
  /** An IP address. */
  readonly ip: string;
  readonly port: number;
  /** The name and port by which it was asked for. */
  readonly host: string;
}

/** One server that calls may go to, with its connections and what is known of its health. */
export class Endpoint {
  readonly target: Target;
  /** Connections for unary calls. */
  readonly unary: ConnectionPool;
  /** Connections for streams and probes: however many are open, unary calls have theirs. */
  readonly streams: ConnectionPool;
  readonly #log: Log;
  #failures = 0;
  #downSinceMs = 0;
  #skipUntilMs = 0;
  #answeredMs = 0;

  constructor(target: Target, log: Log) {
    this.target = target;
    this.unary = new ConnectionPool(target.ip, target.port);
    this.streams = new ConnectionPool(target.ip, target.port);
    this.#log = log;
  }

  /** `http://127.0.0.1:50051` */
  get origin(): string {
    const { ip, port } = this.target;
    return ip.includes(':') ? `http://[${ip}]:${port}` : `http://${ip}:${port}`;
  }

  /** Whether it failed or took its leave a moment ago, so that others are better tried first; 1 s at most, for it may be back. */
  isSkipped(nowMs: number): boolean {
    return nowMs < this.#skipUntilMs;
  }

  /** Whether it has failed, and only failed, for so long that waiting a little for it is in vain. */
  isLongDown(nowMs: number): boolean {
    return this.#failures > 0 && nowMs - this.#downSinceMs > longDownMs;
  }

  /** Notes that a call goes to it: while it is not known to be back, that one is to find out for the others. */
  picked(nowMs: number): void {
    if (this.#failures > 0) this.#skipUntilMs = nowMs + skipMsMax;
  }

  /** Notes that it took no connection, or no call. */
  failed(nowMs: number, reason: unknown): void {
    if (this.#failures === 0) {
      this.#downSinceMs = nowMs;
      this.#log.warn({ address: this.origin, err: reason }, 'RPC server does not take calls');
    }
    this.#failures += 1;
    this.#skipUntilMs = nowMs + Math.min(skipMsMax, 25 * 2 ** this.#failures);
  }

  /** Notes that a call had no answer in time; where nobody had one meanwhile, the server hangs. */
  timedOut(sinceMs: number, reason: unknown): void {
    if (this.#answeredMs < sinceMs) this.failed(performance.now(), reason);
  }

  /** Notes that it answered on a connection for the last time, as one does that is about to stop: others come first for a while. */
  leaves(nowMs: number): void {
    this.#skipUntilMs = nowMs + skipMsMax;
  }

  /** Notes that it answers. */
  answered(): void {
    this.#answeredMs = performance.now();
    if (this.#failures === 0) return;
    this.#failures = 0;
    this.#skipUntilMs = 0;
    this.#log.info({ address: this.origin }, 'RPC server takes calls again');
  }

  /** Lets unary calls in flight end, which their deadlines bound; cuts streams. */
  async close(): Promise<void> {
    await Promise.all([this.unary.close(), this.streams.cut()]);
  }
}

const longDownMs = 1_000;
const skipMsMax = 1_000;
