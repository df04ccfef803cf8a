import type {} from '@fastify/swagger';
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { AppError, type ErrorCode, toAppError } from '../errors.ts';
import type { Access, HttpApp } from '../http/access.ts';
import type { Log } from '../log.ts';
import { defaults, type Handlers, type ServiceDefinition } from './contract.ts';
import { envelopeHeaderBytes } from './envelope.ts';
import { callMetrics } from './metrics.ts';
import { contentTypeOf } from './request.ts';
import type { ServedMethod } from './run.ts';
import { endEnvelope, sendError, serveStream, serveUnary } from './serve-methods.ts';
import { waitAfterStalls } from './stall.ts';
import { requireToken } from './token.ts';
import { toWire } from './wire-error.ts';

/** How a service is served. */
export interface ServeOptions {
  /** Where unexpected errors of the handlers are logged; the caller only sees `internal`. */
  readonly log: Log;
  /** What callers must send as bearer token; without it anybody may call. */
  readonly token?: string;
  readonly metrics?: Registry;
  /** The largest request, in bytes. */
  readonly messageBytesMax?: number;
  /** How long either side of a stream may wait for the other. */
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
