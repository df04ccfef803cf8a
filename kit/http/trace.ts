import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { childTraceparent, createTraceparent, parseTraceparent, type Traceparent } from '../trace.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { statusOf } from './access-log.ts';
import type { HttpResponse } from './response.ts';

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

/** Tells a tracer of a request that is over, unless its caller wants none or it only asked how the service is. */
export function recordRequest(tracer: Tracer, response: HttpResponse, durationMs: number): void {
  const { req: request, requestId } = response;
  const route = response.route?.route ?? 'unmatched';
  if (probes.includes(route)) return;
  const { traceId, spanId, sampled } = spanOf(request);
  if (!sampled) return;
  const status = statusOf(response);
  const endMs = Date.now();
  tracer.record({
    traceId,
    spanId,
    parentSpanId: callerOf(request)?.spanId,
    name: `${request.method} ${route}`,
    kind: 'server',
    startMs: endMs - durationMs,
    endMs,
    hasFailed: status >= 500,
    attributes: {
      'http.request.method': request.method ?? '',
      'http.route': route,
      'http.response.status_code': status,
      'octavo.request_id': requestId,
    },
  });
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
