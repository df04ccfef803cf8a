import { childTraceparent, createTraceparent, parseTraceparent, type Traceparent } from '@octavo/core';
import { beginSpan, type OpenSpan, type Tracer } from '@octavo/core/tracing';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { routeOf, statusOf } from '../requests/active-requests.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of this request: in the caller's trace if there is a `traceparent`, else the first of a new trace. */
    readonly trace: Traceparent;
  }
}

const spans = new WeakMap<FastifyRequest, OpenSpan>();
const probes = ['/health', '/livez', '/readiness', '/readyz', '/metrics'];

/** Gives every request its trace context, created on first use. */
export function decorateWithTrace(app: FastifyInstance): void {
  const traces = new WeakMap<FastifyRequest, Traceparent>();
  app.decorateRequest('trace', {
    getter(this: FastifyRequest) {
      const own = traces.get(this) ?? traceOf(this);
      traces.set(this, own);
      return own;
    },
  });
}

/** Begins the span of a request, unless it is a probe. */
export function beginRequestSpan(tracer: Tracer, request: FastifyRequest): void {
  if (probes.includes(routeOf(request))) return;
  const { method: name } = request;
  const traceparent = headerOf(request);
  spans.set(request, beginSpan(tracer, { name, kind: 'server', attributes: {}, traceparent }));
}

/** Ends the span of a request, if it has one. */
export function endRequestSpan(request: FastifyRequest, reply: FastifyReply): void {
  const route = routeOf(request);
  const status = statusOf(request, reply);
  spans.get(request)?.end(status >= 500, {
    name: `${request.method} ${route}`,
    attributes: {
      'http.request.method': request.method,
      'http.route': route,
      'http.response.status_code': status,
      'octavo.request_id': request.id,
    },
  });
}

function traceOf(request: FastifyRequest): Traceparent {
  const traced = parseTraceparent(spans.get(request)?.traceparent);
  if (traced) return traced;
  const caller = parseTraceparent(headerOf(request));
  return caller ? childTraceparent(caller) : createTraceparent();
}

function headerOf({ headers: { traceparent } }: FastifyRequest): string | undefined {
  return typeof traceparent === 'string' ? traceparent : undefined;
}
