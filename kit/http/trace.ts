import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { childTraceparent, createTraceparent, parseTraceparent, type Traceparent } from '../trace.ts';
import { beginSpan, type OpenSpan, type Tracer } from '../tracing/tracer.ts';
import { statusOf } from './access-log.ts';
import type { HttpResponse } from './response.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The span of this request: within the caller's trace by its `traceparent`, else the first of a new one. */
    readonly trace: Traceparent;
  }
}

const spans = new WeakMap<IncomingMessage, OpenSpan>();
const probes = ['/health', '/livez', '/readiness', '/readyz', '/metrics'];

/** Gives every request its span. With a tracer it begins with the request, unless that is a probe; without one, when first looked at. */
export function decorateWithTrace(app: FastifyInstance, tracer?: Tracer): void {
  const traces = new WeakMap<IncomingMessage, Traceparent>();
  app.decorateRequest('trace', {
    getter(this: FastifyRequest) {
      const own = traces.get(this.raw) ?? traceOf(this.raw);
      traces.set(this.raw, own);
      return own;
    },
  });
  if (!tracer) return;
  app.addHook('onRequest', (request, _reply, done) => {
    if (!probes.includes(request.routeOptions.url ?? '')) spans.set(request.raw, spanOf(request.raw, tracer));
    done();
  });
}

/** Ends the span of a request, also of one that was refused before Fastify saw it. Probes have none. */
export function recordRequest(tracer: Tracer, response: HttpResponse, durationMs: number): void {
  const { req: request, requestId } = response;
  const route = response.route?.route ?? 'unmatched';
  if (probes.includes(route)) return;
  const span = spans.get(request) ?? spanOf(request, tracer, Date.now() - durationMs);
  const status = statusOf(response);
  span.end(status >= 500, {
    name: `${request.method} ${route}`,
    attributes: {
      'http.request.method': request.method ?? '',
      'http.route': route,
      'http.response.status_code': status,
      'octavo.request_id': requestId,
    },
  });
}

function spanOf(request: IncomingMessage, tracer: Tracer, startMs?: number): OpenSpan {
  const traceparent = headerOf(request);
  return beginSpan(tracer, {
    name: request.method ?? '',
    kind: 'server',
    attributes: {},
    traceparent,
    startMs,
  });
}

function traceOf(request: IncomingMessage): Traceparent {
  const traced = parseTraceparent(spans.get(request)?.traceparent);
  if (traced) return traced;
  const caller = parseTraceparent(headerOf(request));
  return caller ? childTraceparent(caller) : createTraceparent();
}

function headerOf({ headers: { traceparent } }: IncomingMessage): string | undefined {
  return typeof traceparent === 'string' ? traceparent : undefined;
}
