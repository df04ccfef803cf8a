import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Log } from '@octavo/core';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { clientAddress } from './client-address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Time of arrival, by `performance.now()`. */
    startMs: number;
    /** The caller, for the access log. Set by whatever identifies the caller. */
    userId: string | number | null;
    /** The status to record if the response was cut off. */
    brokenOffWith: number | null;
    /** True while the request counts as in flight. */
    isInFlight: boolean;
    /** Stops counting the request as in flight, when the rest of its response waits for events or for its client. */
    leaveFlight(): void;
    /** The handler's promise, once it runs. */
    handling: Promise<unknown> | null;
  }
}

/** Called once for every response that ended, complete or not. */
export type OnEnd = (request: FastifyRequest, reply: FastifyReply) => void;

/** The requests in flight on a server. */
export class ActiveRequests {
  /** Number of active requests, without sockets and responses that are being streamed. */
  count = 0;
  /** Once true, each response closes its connection. */
  isStopping = false;
  readonly #onEnd: OnEnd;
  readonly #replies = new WeakMap<Socket, FastifyReply>();
  /** Handlers that go on after their client has left. */
  readonly #orphans = new Set<Promise<unknown>>();

  constructor(app: FastifyInstance, onEnd: OnEnd) {
    app.decorateRequest('startMs', 0);
    app.decorateRequest('userId', null);
    app.decorateRequest('brokenOffWith', null);
    app.decorateRequest('isInFlight', false);
    const active = this;
    app.decorateRequest('leaveFlight', function leaveFlight(this: FastifyRequest) {
      active.#leave(this);
    });
    app.decorateRequest('handling', null);
    app.addHook('onRoute', (route) => {
      route.handler = this.#followed(route.handler);
    });
    this.#onEnd = onEnd;
  }

  /** Counts a request until its response ends. Fastify's `onResponse` does not report clients that went away; `close` does. */
  add(request: FastifyRequest, reply: FastifyReply): void {
    this.count++;
    request.isInFlight = true;
    request.startMs = performance.now();
    if (hasBody(request.raw)) this.track(request.raw.socket, reply);
    reply.raw.on('close', () => {
      // Requests with a malformed address come without the methods of others.
      this.#leave(request);
      if (request.handling && !reply.raw.writableFinished) this.#adopt(request.handling);
      this.#onEnd(request, reply);
    });
  }

  #leave(request: FastifyRequest): void {
    if (request.isInFlight) this.count--;
    request.isInFlight = false;
  }

  /** Settles when no handler is left that goes on without its client. */
  async orphansEnd(): Promise<void> {
    while (this.#orphans.size > 0) await Promise.allSettled(this.#orphans);
  }

  /** A tracked handler, so that its resources are not closed while it runs. */
  #followed(handler: RouteOptions['handler']): RouteOptions['handler'] {
    const active = this;
    return function follow(request, reply) {
      const handling = handler.call(this, request, reply);
      if (handling instanceof Promise) {
        request.handling = handling;
        // The client may have left during the hooks.
        if (reply.raw.destroyed) active.#adopt(handling);
      }
      return handling;
    };
  }

  #adopt(handling: Promise<unknown>): void {
    this.#orphans.add(handling);
    const end = () => this.#orphans.delete(handling);
    handling.then(end, end);
  }

  /** Remembers the reply of a request or response with more than one piece, in case the connection fails before its end. */
  track(socket: Socket, reply: FastifyReply): void {
    this.#replies.set(socket, reply);
  }

  /** The tracked reply on a connection that is not sent completely, if there is one. */
  replyOn(socket: Socket): FastifyReply | undefined {
    const reply = this.#replies.get(socket);
    return reply?.raw.writableFinished ? undefined : reply;
  }
}

/** Returns true if the head announces a body (RFC 9112 section 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return coding !== undefined || length !== '0';
}

/** Milliseconds since the request arrived. */
export function elapsedMs({ startMs }: FastifyRequest): number {
  return performance.now() - startMs;
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
        durationMs: Math.round(elapsedMs(request) * 1000) / 1000,
        address: clientAddress(request),
        ...(request.userId !== null && { userId: request.userId }),
      },
      'request',
    );
  };
}
