import Fastify, { errorCodes } from 'fastify';
import type { Log } from '../log.ts';
import { enforceAccess, type FastifyApp, type HttpApp } from './access.ts';
import { createAccessLog, statusOf } from './access-log.ts';
import { parseBody } from './body.ts';
import { clientAddress, type TrustedProxy } from './client-address.ts';
import { schemaController } from './compilers.ts';
import { Connections } from './connections.ts';
import { createCors } from './cors.ts';
import { createDoor, type Door } from './door.ts';
import { createErrorAnswers, type ErrorAnswers } from './error-answers.ts';
import { listen } from './listen.ts';
import { createListener } from './listener.ts';
import { addMetrics, countRefused, countRoutes, createHttpMetrics, type HttpMetrics } from './metrics.ts';
import { addDocs } from './openapi/docs.ts';
import { ApiDocument } from './openapi/document.ts';
import { type HttpServerOptions, type Limits, withDefaults } from './options.ts';
import { addProbes } from './probes.ts';
import { responseOf } from './response.ts';
import { KnownRoutes, unknownRoute } from './routes.ts';
import { ServerLog } from './server-log.ts';
import { decorateWithTrace, recordRequest } from './trace.ts';
import { Traffic } from './traffic.ts';
import type { TypeBoxTypeProvider } from './type-provider.ts';
import { answerUnparsedRequests } from './unparsed.ts';
import { writeAnswer } from './unread-body.ts';
import { parseQuery } from './validation/query.ts';

export type { HttpApp } from './access.ts';

/** A server with the house's manners. Disposing it stops it gracefully. */
export interface HttpServer extends AsyncDisposable {
  /**
   * Routes, plugins and hooks go here, before `listen`. `onRequest` hooks run before any body is read and before 404 and
   * 405 are told (`request.is404`), so who calls can be asked first; they are not run for `OPTIONS` without a route.
   */
  readonly app: HttpApp;
  /** Starts to listen where the context say, and gives the address, such as `http://127.0.0.1:3001`. */
  listen(): Promise<string>;
}

/** Builds a server that has everything but the service's own routes. It listens only when told to. */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { context, trustedProxy } = options;
  const limits = withDefaults(options.limits);
  const metrics = createHttpMetrics(context.metrics);
  const connections = new Connections(limits);
  const traffic = createTraffic(options, { limits, metrics, connections });
  const answers = createErrorAnswers(options);
  const routes = new KnownRoutes();
  const cors = createCors(options.corsOrigin);
  const door = createDoor({ traffic, limits, routes, answers, cors, trustedProxy });
  const app = createApp({ limits, door, answers, trustedProxy, log: context.log });
  const document = new ApiDocument(options, answers);
  enforceAccess(app);
  document.watch(app);
  decorateWithTrace(app, context.tracer);
  connections.watch(app.server);
  routes.watch(app);
  countRoutes(app, metrics.durations);
  if (trustedProxy) {
    app.addHook('onRequest', (request, reply, done) => {
      responseOf(reply).clientAddress = clientAddress(request);
      done();
    });
  }
  app.setErrorHandler((error, request, reply) => {
    countRefused(metrics.durations, request, reply);
    // What is sent to nowhere does not matter, but Fastify looks at its media type first.
    const isMisled = request.is404 && aboutMediaTypes.some((kind) => error instanceof kind);
    answers.reply(isMisled ? unknownRoute(routes, request, reply) : error, request, reply);
  });
  app.setNotFoundHandler((request, reply) => {
    throw unknownRoute(routes, request, reply);
  });
  addMetrics(app, context.metrics, () => traffic.inFlight);
  addDocs(app, options.title, document);
  const { checks = {}, optionalChecks = {}, namesOptionalChecks = false } = options;
  addProbes(app, { checks, optionalChecks, namesOptionalChecks, traffic, log: context.log });
  let stopped: Promise<void> | undefined;
  return {
    app: app as HttpApp,
    listen: () => listen(app, options),
    [Symbol.asyncDispose]() {
      stopped ??= traffic.stop(app);
      return stopped;
    },
  };
}

const aboutMediaTypes = [
  errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE,
  errorCodes.FST_ERR_ROUTE_MISSING_CONTENT_TYPE,
];

function createTraffic(
  options: HttpServerOptions,
  parts: { limits: Limits; metrics: HttpMetrics; connections: Connections },
): Traffic {
  const { limits, connections } = parts;
  const { durations, eventLoopDelay } = parts.metrics;
  const { log, tracer } = options.context;
  const logAccess = createAccessLog(log, options.accessLog ?? 'debug');
  return new Traffic({
    limits,
    eventLoopDelay,
    log,
    connections,
    onEnd(response, durationMs) {
      const route = response.route ?? durations.unmatched;
      route.observe(response.req.method ?? '', statusOf(response), durationMs / 1000);
      logAccess(response, durationMs);
      if (tracer) recordRequest(tracer, response, durationMs);
    },
  });
}

function createApp(options: {
  limits: Limits;
  door: Door;
  answers: ErrorAnswers;
  trustedProxy: TrustedProxy | undefined;
  log: Log;
}): FastifyApp {
  const { limits, door, answers, trustedProxy, log } = options;
  const app: FastifyApp = Fastify({
    serverFactory: (route) => createListener(limits, door, route),
    logController: new ServerLog(log),
    genReqId: (request) => String(request.headers['x-request-id']),
    requestIdHeader: false,
    trustProxy: trustedProxy ?? false,
    bodyLimit: limits.bodyBytes,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => writeAnswer(responseOf(reply), answers.of(error, request)),
    routerOptions: { maxParamLength: limits.urlCharacters, querystringParser: parseQuery },
    schemaController,
  }).withTypeProvider<TypeBoxTypeProvider>();
  answerUnparsedRequests(app.server, answers);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', parseBody);
  return app;
}
