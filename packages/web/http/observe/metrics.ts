import { Type } from '@octavo/core';
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { HttpApp } from '../access.ts';
import { elapsedMs, type OnEnd, routeOf, statusOf } from '../requests/active-requests.ts';
import { answersDuringOverload } from '../requests/overload.ts';
import { addProcessMetrics } from './process-metrics.ts';

/** Counts every response by route template, method and status, with its duration. */
export function createRequestMetrics(registry: Registry): OnEnd {
  const labelNames = ['route', 'method', 'status'] as const;
  const name = 'http_request_duration_seconds';
  const help = 'Time from the headers of a request to the end of its response.';
  const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
  const durations = new Histogram({ name, help, labelNames, buckets, registers: [registry] });
  return (request, reply) => {
    const labels = { route: routeOf(request), method: request.method, status: statusOf(request, reply) };
    durations.observe(labels, elapsedMs(request) / 1000);
  };
}

const metricsSchema = {
  tags: ['Probes'],
  summary: 'Metrics in the Prometheus text format',
  description: 'Counters, gauges and histograms of this process since it started.',
  response: {
    200: {
      content: { 'text/plain': { schema: Type.String({ examples: ['http_requests_in_flight 1\n'] }) } },
    },
  },
};

/** Adds `/metrics` in the Prometheus text format, with the metrics of the process and `http_requests_in_flight`. */
export function addMetrics(app: HttpApp, registry: Registry, inFlight: () => number): void {
  addProcessMetrics(registry);
  new Gauge({
    name: 'http_requests_in_flight',
    help: 'Requests in flight.',
    registers: [registry],
    collect() {
      this.set(inFlight());
    },
  });
  const options = { access: 'public', schema: metricsSchema, config: answersDuringOverload } as const;
  app.get('/metrics', options, async (_request, reply) => {
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
