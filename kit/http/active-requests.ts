import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../log.ts';
import { clientAddress } from './client-address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, for the access log. Set by whatever identifies the caller. */
    userId: string | number | null;
    /** The status to record if the response was cut off. */
    brokenOffWith: number | null;
  }
}

/** Called once for every response that ended, complete or not. */
export type OnEnd = (request: FastifyRequest, reply: FastifyReply) => void;

/** The requests in flight on a server. */
export class ActiveRequests {
  count = 0;
  /** Once true, each response closes its connection. */
  isStopping = false;
  readonly #onEnd: OnEnd;
  readonly #replies = new WeakMap<Socket, FastifyReply>();

  constructor(app: FastifyInstance, onEnd: OnEnd) {
    app.decorateRequest('userId', null);
    app.decorateRequest('brokenOffWith', null);
    this.#onEnd = onEnd;
  }

  /** Counts a request until its response ends. Fastify's `onResponse` does not report clients that went away; `close` does. */
  add(request: FastifyRequest, reply: FastifyReply): void {
    this.count++;
    this.#replies.set(request.raw.socket, reply);
    reply.raw.on('close', () => {
      this.count--;
      this.#onEnd(request, reply);
    });
  }

  /** The reply on a connection that is not sent completely, if there is one. */
  replyOn(socket: Socket): FastifyReply | undefined {
    const reply = this.#replies.get(socket);
    return reply?.raw.writableFinished ? undefined : reply;
  }
}

/** The status of the response; 499 (as in nginx) if the client went away before it was complete. */
export function statusOf(request: FastifyRequest, reply: FastifyReply): number {
  return reply.raw.writableFinished ? reply.raw.statusCode : (request.brokenOffWith ?? 499);
}

/** The template of a request's route, such as `/posts/:id`. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? 'unmatched';
}

/**
 * Logs a line for each response at the given level. The default is `debug`, because a line costs more than a trivial request, and
 * `/metrics` has the sums. Responses with status 500 or above are logged with their error.
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
