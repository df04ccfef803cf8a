import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type {} from '@fastify/swagger';
import type { Log } from '@octavo/core';
import { AppError, type ErrorCode, toAppError } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { Access, HttpApp } from '@octavo/web/server';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { defaults, type Handlers, type ServiceDefinition } from '../contract.ts';
import { envelopeHeaderBytes } from '../envelope.ts';
import { callMetrics } from '../metrics.ts';
import { requireToken } from '../token.ts';
import { toWire } from '../wire-error.ts';
import { endEnvelope, sendError, serveStream, serveUnary } from './methods.ts';
import { contentTypeOf } from './request.ts';
import type { ServedMethod } from './run.ts';

/** Options of a server. */
export interface ServeOptions {
  /** Log of unexpected errors of the handlers; the caller only sees `internal`. */
  readonly log: Log;
  /** Bearer token that callers must send; without it anybody may call. */
  readonly token?: string;
  readonly metrics?: Registry;
  /** The largest request, in bytes. */
  readonly messageBytesMax?: number;
  /** Longest time that either side of a stream may wait for the other. */
  readonly streamIdleTimeoutMs?: number;
}

/**
 * Serves handlers on an HTTP server by the Connect protocol (https://connectrpc.com/docs/protocol): `POST` to
 * `/testing.v1.TestService/Read` in protobuf or JSON, streams in envelopes. Throws for methods that take streams.
 * What hooks of the server throw is sent in the form of the protocol, and may be tried at another server.
 */
export async function serveRpc<D extends ServiceDefinition>(
  app: HttpApp,
  definition: D,
  handlers: Handlers<D>,
  options: ServeOptions,
): Promise<void> {
  const { log, token, metrics, messageBytesMax = defaults.messageBytesMax } = options;
  const { streamIdleTimeoutMs = defaults.streamIdleTimeoutMs } = options;
  const noteCalls = callMetrics(metrics, 'server');
  const access: Access = token ? { security: [{ bearer: [] }], onRequest: requireToken(token) } : 'public';
  const streamBytesMax = messageBytesMax + envelopeHeaderBytes;
  const route = { access, schema: { hide: true }, config: { largeBody: 'handler' as const } };
  await app.register(async (scope) => {
    const preHandler = waitAfterStalls(scope);
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(mediaTypes, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.setErrorHandler((error, request, reply) =>
      sendUnserved(asAppError(error, request, log), request, reply),
    );
    for (const [key, method] of Object.entries(definition.methods)) {
      if (method.requestStream) throw new Error(`${method.name} takes a stream, which HTTP/1.1 cannot serve`);
      const served: ServedMethod = {
        name: `${definition.fullName}/${method.name}`,
        handler: handlers[key] as ServedMethod['handler'],
        log,
        streamIdleTimeoutMs,
      };
      const serve = method.responseStream ? serveStream : serveUnary;
      const isRead = method.responseStream || method.options.idempotencyLevel === 'NO_SIDE_EFFECTS';
      const bodyLimit = method.responseStream ? streamBytesMax : messageBytesMax;
      const options = { ...route, bodyLimit, ...(!isRead && { preHandler }) };
      scope.post(`/${served.name}`, options, serve(method, served, noteCalls(served.name)));
    }
    const unknown = { ...route, bodyLimit: streamBytesMax };
    scope.post(`/${definition.fullName}/*`, unknown, async (request, reply) => {
      const error = new AppError('internal', `there is no RPC method ${request.url.slice(1)}`);
      return sendError(reply, toWire(error, { isUndone: true, code: 'unimplemented' }), 404);
    });
  });
}

const mediaTypes = ['proto', 'json', 'connect+proto', 'connect+json'].map((type) => `application/${type}`);

/** Responds to a call that no handler has seen, and says so, so that its client may try another server. */
function sendUnserved(error: AppError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const wire = toWire(error, { isUndone: true });
  if (error.code === 'method_not_allowed') return sendError(reply, wire, 405);
  if (error.code === 'unsupported_media_type') return sendError(reply, wire, 415);
  const contentType = contentTypeOf(request);
  if (!contentType.startsWith('application/connect+')) return sendError(reply, wire);
  return reply.code(200).type(contentType).send(endEnvelope(wire));
}

/** The error to respond with: Fastify's own errors about a request by their status, and `internal` for any other. */
function asAppError(thrown: unknown, request: FastifyRequest, log: Log): AppError {
  if (thrown instanceof AppError) return thrown;
  const known = fastifyErrors[(thrown as FastifyError).statusCode ?? 500];
  if (known) return new AppError(known[0], known[1], { cause: thrown });
  log.error({ err: thrown, requestId: request.id }, 'RPC request failed');
  return toAppError(thrown);
}

const fastifyErrors: Readonly<Record<number, readonly [ErrorCode, string]>> = {
  400: ['invalid_input', 'The request is malformed.'],
  413: ['too_large', 'The request body is too large.'],
  415: ['unsupported_media_type', 'The media type of the request body is not supported here.'],
  503: ['unavailable', 'The server is overloaded. Try again shortly.'],
};

const tickMs = 100;
const stallMs = 250;

/** Time until calls are settled that their callers hardly, and probably no longer, wait for. */
const settleMs = { usual: 50, overdue: 300 };

/** Time after a standstill in which a busy process may read requests of that time. */
const backlogMs = 5_000;
/** Turns of the event loop in which a connection that has been closed is noticed: its end is read in the one after its request. */
const settleTurns = 5;

/**
 * Notices when the process goes on after it stood still for a quarter of a second: stopped, suspended with its machine, or busy.
 * Gives a hook that makes calls of that moment wait. Their callers may have given up in the meantime, which the server learns only
 * after it has read their requests; their handlers are then not run. A call whose time is shorter than the process stood still
 * was probably given up, and waits longer.
 */
function waitAfterStalls(
  scope: Pick<FastifyInstance, 'addHook'>,
): (request: Pick<FastifyRequest, 'headers'>) => Promise<void> {
  let lastMs = Date.now();
  let stalledMs = 0;
  let resumedMs = 0;
  const look = (): void => {
    const nowMs = Date.now();
    const lateMs = nowMs - lastMs - tickMs;
    if (lateMs > stallMs) {
      stalledMs = lateMs + tickMs;
      resumedMs = nowMs;
    }
    lastMs = nowMs;
  };
  const looking = runEvery(tickMs, look);
  scope.addHook('onClose', async () => looking[Symbol.dispose]());
  return async ({ headers }) => {
    look();
    const isOverdue = Number(headers['connect-timeout-ms']) <= stalledMs;
    const leftMs = resumedMs + (isOverdue ? settleMs.overdue : settleMs.usual) - Date.now();
    if (leftMs > 0) await delay(leftMs);
    // The time may be over before this process, which others keep from running, has read anything.
    if (Date.now() - resumedMs > backlogMs) return;
    for (let turn = 0; turn < settleTurns; turn++) await nextTurn();
  };
}
