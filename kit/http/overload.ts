import { performance } from 'node:perf_hooks';
import underPressure from '@fastify/under-pressure';
import type { FastifyRequest } from 'fastify';
import { Histogram, type Registry } from 'prom-client';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { FastifyApp } from './access.ts';
import type { ActiveRequests } from './active-requests.ts';
import type { Limits } from './options.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Called by `@fastify/under-pressure` during overload. */
    pressureHandler?: () => void;
  }
}

const tickMs = 100;

/** Route config of probes, which respond during overload too. */
export const answersDuringOverload = { pressureHandler: () => undefined };

/** A request that was refused because of overload. Such errors come by the thousand, so only their number is logged. */
export class OverloadError extends AppError {
  constructor() {
    super('unavailable', 'The server is overloaded; try again shortly.', { retryAfterSeconds: 1 });
  }
}

interface OverloadOptions {
  readonly limits: Limits;
  readonly active: ActiveRequests;
  readonly log: Log;
  readonly metrics: Registry;
}

/**
 * Refuses requests with 503 while more are in flight than the limit, or while the event loop is slow: its mean delay in the last
 * second is above the limit. In that case only requests that come late in the current turn are refused, so that the turn ends in
 * time and the others are served. Logs how many were refused, at most once a second.
 */
export function shedLoad(app: FastifyApp, options: OverloadOptions): void {
  const { limits, active, log } = options;
  const { eventLoopDelayMs: maxEventLoopDelay } = limits;
  const currentDelayMs = measureEventLoop(app, options.metrics);
  let refused = 0;
  let loggedMs = Number.NEGATIVE_INFINITY;
  app.register(underPressure, {
    maxEventLoopDelay,
    pressureHandler() {
      if (currentDelayMs() > maxEventLoopDelay) refuse();
    },
  });
  app.addHook('onRequest', (request, _reply, done) => {
    if (active.count > limits.inFlight && !isProbe(request)) refuse();
    done();
  });

  function refuse(): never {
    refused++;
    if (performance.now() - loggedMs >= 1_000) {
      log.warn({ refused, inFlight: active.count }, 'overloaded');
      loggedMs = performance.now();
      refused = 0;
    }
    throw new OverloadError();
  }
}

function isProbe(request: FastifyRequest): boolean {
  return request.routeOptions.config.pressureHandler === answersDuringOverload.pressureHandler;
}

/** Adds the metric of the event loop's delay. The returned function tells how late the current turn is. */
function measureEventLoop(app: FastifyApp, registry: Registry): () => number {
  const delays = new Histogram({
    name: 'event_loop_delay_seconds',
    help: 'How late a timer of 100 ms fires.',
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  });
  let lastMs = performance.now();
  const delayMs = () => Math.max(0, performance.now() - lastMs - tickMs);
  const timer = setInterval(() => {
    delays.observe(delayMs() / 1000);
    lastMs = performance.now();
  }, tickMs).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });
  return delayMs;
}
