import { type AnswerHandler, Connection, type ConnectionOwner, type WireRequest } from './connection.ts';

/**
 * Connections to one server: so many at most, kept while they are used. A request
 * that finds none free waits for its turn.
 */
export class ConnectionPool implements ConnectionOwner {
  readonly #host: string;
  readonly #port: number;
  readonly #all = new Set<Connection>();
  /** The last used is at the end and is used first, so that those which are too many grow old. */
  readonly #free: Connection[] = [];
  readonly #waiting: { readonly request: WireRequest; readonly handler: AnswerHandler }[] = [];
  readonly #closed = Promise.withResolvers<void>();
  #sweeper: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
  }

  dispatch(request: WireRequest, handler: AnswerHandler): void {
    const connection = this.#takeFree() ?? this.#open();
    if (connection) connection.send(request, handler);
    else this.#waiting.push({ request, handler });
  }

  /** Resolves when the requests that were sent or wait have been answered. */
  close(): Promise<void> {
    this.#isClosing = true;
    for (const connection of this.#free.splice(0)) connection.close();
    this.#endWhenEmpty();
    return this.#closed.promise;
  }

  /** Breaks off what is under way or waits; resolves when that is done. */
  cut(): Promise<void> {
    const closed = this.close();
    for (const { handler } of this.#waiting.splice(0)) {
      handler.onResponseError(new Error('the connections were closed'));
    }
    for (const connection of this.#all) connection.close();
    return closed;
  }

  onFree(connection: Connection): void {
    const next = this.#nextWaiting();
    if (next) {
      connection.send(next.request, next.handler);
    } else if (this.#isClosing) {
      connection.close();
    } else {
      connection.usedMs = performance.now();
      this.#free.push(connection);
    }
  }

  onClosed(connection: Connection): void {
    this.#all.delete(connection);
    const index = this.#free.indexOf(connection);
    if (index >= 0) this.#free.splice(index, 1);
    const next = this.#nextWaiting();
    if (next) this.#open()?.send(next.request, next.handler);
    this.#endWhenEmpty();
  }

  #open(): Connection | undefined {
    if (this.#all.size >= connectionsMax) return undefined;
    const connection = new Connection(this, this.#host, this.#port);
    this.#all.add(connection);
    this.#sweeper ??= setInterval(() => this.#sweep(), sweepEveryMs).unref();
    return connection;
  }

  #takeFree(): Connection | undefined {
    const connection = this.#free.pop();
    if (!connection || (connection.isOpen && !isStale(connection))) return connection;
    connection.close();
    return this.#takeFree();
  }

  #nextWaiting(): { request: WireRequest; handler: AnswerHandler } | undefined {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      if (!next.handler.hasEnded) return next;
    }
    return undefined;
  }

  #sweep(): void {
    while (this.#free[0] && isStale(this.#free[0])) this.#free.shift()?.close();
  }

  #endWhenEmpty(): void {
    if (this.#all.size > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
    if (this.#isClosing) this.#closed.resolve();
  }
}

const connectionsMax = 64;
const sweepEveryMs = 1_000;

function isStale(connection: Connection): boolean {
  return performance.now() - connection.usedMs > connection.idleMs;
}
