import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { childTraceparent, createTraceparent, parseTraceparent, type Traceparent } from '../trace.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { type OnEnd, routeOf, statusOf } from './active-requests.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of this request: within the caller's trace by its `traceparent`, else the first of a new one. */
    readonly trace: Traceparent;
  }
}

const spans = new WeakMap<IncomingMessage, Traceparent>();
const probes = ['/health', '/livez', '/readiness', '/readyz', '/metrics'];

/** Gives every request its span, made when first looked at. */
export function decorateWithTrace(app: FastifyInstance): void {
  app.decorateRequest('trace', {
    getter(this: FastifyRequest) {
      return spanOf(this.raw);
    },
  });
}

/** Records requests that are over, unless the caller wants no trace or the request was a probe. */
export function createRequestTracing(tracer: Tracer): OnEnd {
  return (request, reply) => {
    const route = routeOf(request);
    const { traceId, spanId, sampled } = request.trace;
    if (!sampled || probes.includes(route)) return;
    const status = statusOf(request, reply);
    const endMs = Date.now();
    tracer.record({
      traceId,
      spanId,
      parentSpanId: callerOf(request.raw)?.spanId,
      name: `${request.method} ${route}`,
      kind: 'server',
      startMs: endMs - reply.elapsedTime,
      endMs,
      hasFailed: status >= 500,
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'http.response.status_code': status,
        'octavo.request_id': request.id,
      },
    });
  };
}

function spanOf(request: IncomingMessage): Traceparent {
  let span = spans.get(request);
  if (!span) {
    const caller = callerOf(request);
    span = caller ? childTraceparent(caller) : createTraceparent();
    spans.set(request, span);
  }
  return span;
}

function callerOf({ headers }: IncomingMessage): Traceparent | undefined {
  const { traceparent } = headers;
  return parseTraceparent(typeof traceparent === 'string' ? traceparent : undefined);
}
