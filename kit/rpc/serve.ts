import type {} from '@fastify/swagger';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Handlers, ServiceDefinition } from './contract.ts';
import { defaults } from './defaults.ts';
import { envelopeHeaderBytes } from './envelope.ts';
import { callMetrics } from './metrics.ts';
import { sendRefusal } from './reply.ts';
import type { ServedMethod } from './run.ts';
import { serveStream } from './serve-stream.ts';
import { serveUnary } from './serve-unary.ts';
import { requireToken } from './token.ts';

export interface ServeOptions {
  /** Where a handler's unexpected errors are told; the caller only sees `internal`. */
  readonly log: Log;
  /** What callers must send as bearer token; without it anybody may call. */
  readonly token?: string;
  readonly metrics?: Registry;
  /** The largest request taken, in bytes. */
  readonly messageBytesMax?: number;
  /** How long either side of a stream may wait for the other. */
  readonly streamIdleTimeoutMs?: number;
}

/**
 * Serves handlers on an HTTP server by the Connect protocol (https://connectrpc.com/docs/protocol): `POST` to
 * `/testing.v1.TestService/Read` in protobuf or JSON, streams in envelopes. Methods that take streams are refused.
 * Hooks of the server that refuse a call answer it in the protocol's form.
 */
export async function serveRpc<D extends ServiceDefinition>(
  app: FastifyInstance,
  definition: D,
  handlers: Handlers<D>,
  options: ServeOptions,
): Promise<void> {
  const { log, token, metrics, messageBytesMax = defaults.messageBytesMax } = options;
  const { streamIdleTimeoutMs = defaults.streamIdleTimeoutMs } = options;
  const noteCalls = callMetrics(metrics, 'server');
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    takeTypes(scope, ['application/proto', 'application/json'], messageBytesMax);
    const envelopeBytesMax = messageBytesMax + envelopeHeaderBytes;
    takeTypes(scope, ['application/connect+proto', 'application/connect+json'], envelopeBytesMax);
    scope.setErrorHandler((error, request, reply) => sendRefusal(request, reply, { error, log }));
    if (token) scope.addHook('onRequest', requireToken(token));
    for (const [key, method] of Object.entries(definition.methods)) {
      if (method.requestStream) throw new Error(`${method.name} takes a stream, which HTTP/1.1 cannot serve`);
      const served: ServedMethod = {
        name: `${definition.fullName}/${method.name}`,
        handler: handlers[key] as ServedMethod['handler'],
        log,
        streamIdleTimeoutMs,
      };
      const serve = method.responseStream ? serveStream : serveUnary;
      scope.post(`/${served.name}`, hidden, serve(method, served, noteCalls(served.name)));
    }
    scope.post(`/${definition.fullName}/*`, hidden, (request, reply) => refuseUnknown(request, reply, log));
  });
}

const hidden = { schema: { hide: true } };

function takeTypes(scope: FastifyInstance, types: string[], bodyLimit: number): void {
  scope.addContentTypeParser(types, { parseAs: 'buffer', bodyLimit }, (_request, body, done) =>
    done(null, body),
  );
}

function refuseUnknown(request: FastifyRequest, reply: FastifyReply, log: Log): void {
  const error = new AppError('internal', `there is no RPC method ${request.url.slice(1)}`);
  sendRefusal(request, reply, { error, code: 'unimplemented', status: 404, log });
}
