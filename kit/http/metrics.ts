import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { Type } from '../schema.ts';
import { RequestDurations } from './figures.ts';
import { addProcessFigures } from './process-figures.ts';
import { responseOf } from './response.ts';

/** What a server measures. */
export interface HttpMetrics {
  readonly durations: RequestDurations;
  readonly eventLoopDelay: Histogram;
}

/** Makes the figures of a server in the registry. */
export function createHttpMetrics(registry: Registry): HttpMetrics {
  addProcessFigures(registry);
  return {
    durations: new RequestDurations(registry),
    eventLoopDelay: new Histogram({
      name: 'event_loop_delay_seconds',
      help: 'How late a timer of 100 ms fires.',
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      registers: [registry],
    }),
  };
}

const metricsSchema = {
  tags: ['Probes'],
  summary: 'Figures in the Prometheus text format',
  response: {
    200: {
      content: { 'text/plain': { schema: Type.String({ examples: ['http_requests_in_flight 1\n'] }) } },
    },
  },
};

/** Adds `/metrics` in the Prometheus text format, and `http_requests_in_flight`. */
export function addMetrics(app: FastifyInstance, registry: Registry, inFlight: () => number): void {
  new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests that are being answered.',
    registers: [registry],
    collect() {
      this.set(inFlight());
    },
  });
  app.get('/metrics', { schema: metricsSchema }, async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

/**
 * Counts every route's requests under its template. It wraps the handler: a hook would cost more for each request.
 */
export function countRoutes(app: FastifyInstance, durations: RequestDurations): void {
  app.addHook('onRoute', (route) => {
    const figures = durations.at(route.url);
    const { handler } = route;
    route.handler = function (request, reply) {
      responseOf(reply).route = figures;
      return handler.call(this, request, reply);
    };
  });
}

/** Counts a request that was refused before its handler under its route. */
export function countRefused(
  durations: RequestDurations,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  responseOf(reply).route ??= durations.at(request.routeOptions.url ?? '');
}
