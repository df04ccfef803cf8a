import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../log.ts';
import { clientAddress } from './client-address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, for the access log; whoever identifies the caller sets it. */
    userId: string | number | null;
    /** The status that counts where the response did not end as its own status says. */
    brokenOffWith: number | null;
  }
}

/** Called once for every response that ended, whole or not. */
export type OnEnd = (request: FastifyRequest, reply: FastifyReply) => void;

/** The requests that a server is answering. */
export class ActiveRequests {
  count = 0;
  /** From then on each response is the last of its connection. */
  isStopping = false;
  readonly #onEnd: OnEnd;
  readonly #replies = new WeakMap<Socket, FastifyReply>();

  constructor(app: FastifyInstance, onEnd: OnEnd) {
    app.decorateRequest('userId', null);
    app.decorateRequest('brokenOffWith', null);
    this.#onEnd = onEnd;
  }

  /** Counts a request until its response ends. Fastify's `onResponse` does not tell of clients that went away; `close` does. */
  add(request: FastifyRequest, reply: FastifyReply): void {
    this.count++;
    this.#replies.set(request.raw.socket, reply);
    reply.raw.on('close', () => {
      this.count--;
      this.#onEnd(request, reply);
    });
  }

  /** The reply that is not sent whole on a connection, if there is one. */
  replyOn(socket: Socket): FastifyReply | undefined {
    const reply = this.#replies.get(socket);
    return reply?.raw.writableFinished ? undefined : reply;
  }
}

/** The status of the response; 499 (as in nginx) where it went away before the response was whole. */
export function statusOf(request: FastifyRequest, reply: FastifyReply): number {
  return reply.raw.writableFinished ? reply.raw.statusCode : (request.brokenOffWith ?? 499);
}

/** The template of the route that takes a request, such as `/posts/:id`. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched';
}

/**
 * Writes a line for each response at the given level. `debug` is the default of a server, because a line costs more than a
 * trivial request and `/metrics` tells the same in sum. What failed with 500 or above is logged with its error.
 */
export function createAccessLog(log: Log, level: 'debug' | 'info'): OnEnd {
  return (request, reply) => {
    if (!log.isLevelEnabled(level)) return;
    log[level](
      {
        requestId: request.id,
        method: request.method,
        route: routeOf(request),
        status: statusOf(request, reply),
        durationMs: Math.round(reply.elapsedTime * 1000) / 1000,
        address: clientAddress(request),
        ...(request.userId !== null && { userId: request.userId }),
      },
      'request',
    );
  };
}
