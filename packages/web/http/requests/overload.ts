import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import { Histogram, type Registry } from 'prom-client';
import type { FastifyApp } from '../access.ts';
import type { Limits } from '../options.ts';
import type { ActiveRequests } from './active-requests.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the route responds during overload too. */
    answersDuringOverload?: boolean;
  }
}

const tickMs = 100;
const sampleMs = 1_000;
const resolutionMs = 10;
const nanosecondsPerMs = 1_000_000;

/** Route config of probes, which respond during overload too. */
export const answersDuringOverload = { answersDuringOverload: true };

/** A request that was refused because of overload. Such errors come by the thousand, so only their number is logged. */
export class OverloadError extends AppError {
  constructor() {
    super('unavailable', 'The server is overloaded. Try again shortly.', { retryAfterSeconds: 1 });
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
 *
 * `@fastify/under-pressure` also measures the memory, which throws in a process without a free file descriptor, and ends it.
 */
export function shedLoad(app: FastifyApp, options: OverloadOptions): void {
  const { limits, active, log } = options;
  const { eventLoopDelayMs: delayMsMax } = limits;
  const loop = measureEventLoop(app, options.metrics);
  let refused = 0;
  let loggedMs = Number.NEGATIVE_INFINITY;
  app.addHook('onRequest', (request, _reply, done) => {
    const isSlow = loop.meanDelayMs() > delayMsMax && loop.currentDelayMs() > delayMsMax;
    const isTooMuch = isSlow || active.count > limits.inFlight;
    if (isTooMuch && !request.routeOptions.config.answersDuringOverload) refuse();
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

interface EventLoop {
  /** Delay of the current turn. */
  currentDelayMs(): number;
  /** The mean delay of a timer in the last second. */
  meanDelayMs(): number;
}

/** Adds the metric of the event loop's delay. */
function measureEventLoop(app: FastifyApp, registry: Registry): EventLoop {
  const delays = new Histogram({
    name: 'event_loop_delay_seconds',
    help: 'Delay of a timer of 100 ms.',
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  });
  let lastMs = performance.now();
  const delayMs = () => Math.max(0, performance.now() - lastMs - tickMs);
  const ticking = runEvery(tickMs, () => {
    delays.observe(delayMs() / 1000);
    lastMs = performance.now();
  });
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  let meanDelayMs = 0;
  const sampling = runEvery(sampleMs, () => {
    // Without a measurement, not even the timer of the histogram has fired.
    meanDelayMs =
      histogram.count > 0 ? histogram.mean / nanosecondsPerMs - resolutionMs : Number.POSITIVE_INFINITY;
    histogram.reset();
  });
  app.addHook('onClose', (_app, done) => {
    ticking[Symbol.dispose]();
    sampling[Symbol.dispose]();
    histogram.disable();
    done();
  });
  return { currentDelayMs: delayMs, meanDelayMs: () => meanDelayMs };
}
