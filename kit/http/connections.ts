import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Limits } from './options.ts';

/** What Node's HTTP server keeps on a connection, under names of its own. */
interface HttpSocket extends Socket {
  /** Absent or null between answers. */
  readonly _httpMessage?: ServerResponse | null;
  /** Null once the connection speaks another protocol. */
  readonly parser?: object | null;
}

interface Seen {
  bytes: number;
  sinceMs: number;
}

/**
 * The open connections of a server. Those that are idle for too long are closed, and those on which an answer is wanted
 * but nothing moves. All are looked at once in a while: Node's own timers, which are wound up again for every piece
 * that comes or goes, cost a trivial request a tenth of its time.
 */
export class Connections {
  readonly #limits: Limits;
  readonly #open = new Map<HttpSocket, Seen>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Looks after the connections of a server until it closes. */
  watch(server: Server): void {
    const { keepAliveTimeoutMs, stalledMs, connections } = this.#limits;
    server.timeout = 0;
    server.keepAliveTimeout = 0;
    server.maxConnections = connections;
    server.on('connection', (socket: HttpSocket) => {
      this.#open.set(socket, { bytes: -1, sinceMs: 0 });
      // Asked once, it is known in the log also when the connection is gone.
      void socket.remoteAddress;
      socket.once('close', () => this.#open.delete(socket));
    });
    const everyMs = Math.min(1_000, keepAliveTimeoutMs / 2, stalledMs / 2);
    const timer = setInterval(() => this.#look(performance.now()), everyMs).unref();
    server.once('close', () => clearInterval(timer));
  }

  /** Cuts every connection, also those that speak another protocol by now. */
  cut(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #look(nowMs: number): void {
    const { keepAliveTimeoutMs, stalledMs } = this.#limits;
    for (const [socket, seen] of this.#open) {
      const bytes = socket.bytesRead + socket.bytesWritten - socket.writableLength;
      if (bytes !== seen.bytes || socket.parser === null) {
        seen.bytes = bytes;
        seen.sinceMs = nowMs;
      } else if (nowMs - seen.sinceMs > (answerOn(socket) ? stalledMs : keepAliveTimeoutMs)) {
        socket.destroy();
      }
    }
  }
}

/** The answer that is being given on a connection. */
export function answerOn(socket: HttpSocket): ServerResponse | undefined {
  return socket._httpMessage ?? undefined;
}
