import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Suite } from '@octavo/core';
import { AppError, listenErrorOf } from '@octavo/core';
import type { FastifyInstance } from 'fastify';
import Fastify, {
  type FastifyHttpOptions,
  type FastifyReply,
  type FastifyRequest,
  type HookHandlerDoneFunction,
  LogController,
} from 'fastify';
import { enforceAccess, type FastifyApp, type HttpApp } from './access.ts';
import { answerServerOptions, isAboutServer, watchRoutes } from './fallback-routes.ts';
import { addMetrics, createRequestMetrics } from './observe/metrics.ts';
import { createRequestLog } from './observe/request-log.ts';
import { beginRequestSpan, decorateWithTrace, endRequestSpan } from './observe/trace.ts';
import { addDocs } from './openapi/docs.ts';
import { type HttpServerOptions, type Limits, withDefaults } from './options.ts';
import { addProbes } from './probes.ts';
import { ActiveRequests, createAccessLog, type OnEnd } from './requests/active-requests.ts';
import { boundLargeBodies, takeJson } from './requests/body.ts';
import { isForwardedHttps } from './requests/client-address.ts';
import { createClientErrorHandler } from './requests/client-errors.ts';
import { addFormParts } from './requests/multipart.ts';
import { shedLoad } from './requests/overload.ts';
import { checkHead, requestIdOf } from './requests/request-checks.ts';
import { type AddCorsHeaders, createCors } from './responses/cors.ts';
import { createErrorResponses } from './responses/error-responses.ts';
import { addResponseHooks } from './responses/response-hooks.ts';
import { securityHeaders, strictTransport } from './responses/security-headers.ts';
import { createStop } from './stop.ts';
import { schemaController } from './validation/compilers.ts';
import { parseQuery } from './validation/text-parameters.ts';

export type { HttpApp } from './access.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** The suite that the service belongs to. */
    suite: Suite | undefined;
  }
}

/** A Fastify server with what every service needs. Disposing it stops it gracefully. */
export interface HttpServer extends AsyncDisposable {
  /**
   * Add routes, plugins and hooks here, before `listen`. `onRequest` hooks run before any body is read, and before responses with
   * 404 and 405 (`request.isUnrouted`), so that they can reject strangers first.
   */
  readonly app: HttpApp;
  /** Listens at the context's host and port, and returns the address, such as `http://127.0.0.1:3001`. */
  listen(): Promise<string>;
}

/** Creates a server that has everything but the service's own routes. It listens when `listen` is called. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { context } = options;
  const limits = withDefaults(options.limits);
  const responses = createErrorResponses(options);
  const app: FastifyApp = Fastify({
    ...fastifyOptions(options, limits),
    clientErrorHandler: createClientErrorHandler(responses, (socket) => active.replyOn(socket)),
    frameworkErrors(error, request, reply) {
      begin(request, reply);
      responses.send(error, request, reply);
    },
  });
  const active = new ActiveRequests(app, endOf(options));
  const begin = beginOf(options, active, createCors(app, options.corsOrigin, options.corsOnEveryJson));
  const addFallbackRoutes = watchRoutes(app);
  enforceAccess(app);
  boundLargeBodies(app);
  decorateWithTrace(app);
  addFormParts(app);
  app.decorate('suite', context.suite);
  app.removeAllContentTypeParsers();
  takeJson(app);
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply);
    const error = checkHead(request, limits);
    if (error) reply.header('connection', 'close');
    else if (isAboutServer(request)) return answerServerOptions(reply);
    done(error);
  });
  shedLoad(app, { limits, active, log: context.log, metrics: context.metrics });
  addResponseHooks(app, active);
  app.setErrorHandler(responses.send);
  const routes = app as unknown as HttpApp;
  addDocs(routes, options, responses);
  addMetrics(routes, context.metrics, () => active.count);
  addProbes(routes, options, () => active.isStopping);
  app.server.maxConnections = limits.connections;
  app.server.on('checkContinue', (request, response) => {
    askForBody(request, response);
    app.server.emit('request', request, response);
  });
  return {
    app: routes,
    listen() {
      // Registered last, when all routes are known, so that the hooks of the service run first.
      app.register(async () => {
        addFallbackRoutes();
        app.addHook('onRequest', refuseUnknown);
      });
      return listen(app, options);
    },
    [Symbol.asyncDispose]: createStop(app, active, limits),
  };
}

/** The options of Fastify and of Node's server. */
function fastifyOptions(options: HttpServerOptions, limits: Limits): FastifyHttpOptions<Server> {
  return {
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, limits.headersTimeoutMs),
      // Our own check, because its response has the shape of every other error.
      requireHostHeader: false,
    },
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionTimeout: limits.stalledMs,
    return503OnClosing: false,
    childLoggerFactory: (_logger, { reqId }) => createRequestLog(options.context.log, reqId),
    logController: new ServerLog({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    trustProxy: options.trustedProxy ?? false,
    routerOptions: { maxParamLength: limits.urlCharacters, querystringParser: parseQuery },
    schemaController,
  };
}

/** Fastify's own log lines about requests: only that a response failed after it had begun. */
class ServerLog extends LogController {
  override streamError(error: Error, request: FastifyRequest): void {
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    request.brokenOffWith = 500;
    request.log.error({ err: error }, 'response cut off');
  }
}

/**
 * Asks for the body of `Expect: 100-continue` only when something begins to read it. If the request is rejected first, the client
 * need not send it.
 */
function askForBody(request: IncomingMessage, response: ServerResponse): void {
  request.on('newListener', function ask(event) {
    if (event !== 'data' && event !== 'readable') return;
    request.off('newListener', ask);
    if (!response.headersSent) response.writeContinue();
  });
}

/** Begins every request: counts it, and adds the common headers to its response. */
function beginOf(
  { context: { tracer }, trustedProxy }: HttpServerOptions,
  active: ActiveRequests,
  addCorsHeaders: AddCorsHeaders | undefined,
): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    active.add(request, reply);
    if (tracer) beginRequestSpan(tracer, request);
    // Also for a response that a handler writes itself.
    if (active.isStopping) reply.raw.setHeader('connection', 'close');
    reply.headers(securityHeaders.api).header('x-request-id', request.id);
    addCorsHeaders?.(request, reply);
    if (trustedProxy && isForwardedHttps(request.raw, trustedProxy)) reply.headers(strictTransport);
  };
}

/** Ends every request after its response. */
function endOf({ context, accessLog = 'debug' }: HttpServerOptions): OnEnd {
  const { log, metrics, tracer } = context;
  const observe = createRequestMetrics(metrics);
  const logAccess = createAccessLog(log, context.requestLevel ?? accessLog);
  return (request, reply) => {
    observe(request, reply);
    logAccess(request, reply);
    if (tracer) endRequestSpan(request, reply);
  };
}

/** Runs before the body is read, because it is not needed. */
function refuseUnknown(request: FastifyRequest, _reply: FastifyReply, done: HookHandlerDoneFunction): void {
  done(request.is404 ? new AppError('not_found', 'There is nothing at this address.') : undefined);
}

/** Listens at the context's host and port and returns the address. Throws `unavailable` with host and port if that fails. */
async function listen(app: FastifyInstance, options: HttpServerOptions): Promise<string> {
  const { host, port, log } = options.context;
  if (port === undefined) throw new Error(`${options.name} needs a port to listen on`);
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenErrorOf(error, host, port);
  }
  // Later failures, such as accepting a connection without a free file descriptor, must not end the process.
  app.server.on('error', (error) => log.error({ err: error }, 'listening failed'));
  const url = addressOf(app.server);
  log.info({ url }, 'listening');
  return url;
}

/** The address as a client on this machine can use it: a wildcard becomes the loopback address. */
function addressOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('the server does not listen on a port');
  const loopback = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[address.address];
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${loopback ?? host}:${address.port}`;
}
