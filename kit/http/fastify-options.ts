import type { Server } from 'node:http';
import { type FastifyHttpOptions, type FastifyRequest, LogController } from 'fastify';
import type { HttpServerOptions, Limits } from './options.ts';
import { requestIdOf } from './request-checks.ts';
import { schemaController } from './validation/compilers.ts';
import { parseQuery } from './validation/text-parameters.ts';

/** The options of Fastify and of Node's server. */
export function fastifyOptions(options: HttpServerOptions, limits: Limits): FastifyHttpOptions<Server> {
  return {
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, limits.headersTimeoutMs),
      // Our own check answers in the shape of every other error.
      requireHostHeader: false,
    },
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionTimeout: limits.stalledMs,
    return503OnClosing: false,
    loggerInstance: options.context.log,
    logController: new ServerLog({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    trustProxy: options.trustedProxy ?? false,
    routerOptions: { maxParamLength: limits.urlCharacters, querystringParser: parseQuery },
    schemaController,
  };
}

/** Fastify's own log lines about a request: none but of a response that failed after it had begun. */
class ServerLog extends LogController {
  override streamError(error: Error, request: FastifyRequest): void {
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    request.brokenOffWith = 500;
    request.log.error({ err: error }, 'response broken off');
  }
}
