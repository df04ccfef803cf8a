import { performance } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import type { Histogram } from 'prom-client';
import type { Log } from '../log.ts';
import type { Connections } from './connections.ts';
import type { Limits } from './options.ts';
import type { HttpResponse } from './response.ts';

const tickMs = 100;
/** How long a late turn of the event loop makes the next one count as overload. */
const lateMs = 2_000;

interface TrafficOptions {
  readonly limits: Limits;
  readonly eventLoopDelay: Histogram;
  readonly log: Log;
  readonly connections: Connections;
  /** Told of each answer that ended, whole or not. */
  readonly onEnd: (response: HttpResponse, durationMs: number) => void;
}

/** What a server has in hand: the requests in flight, how late the event loop is, and whether it is stopping. */
export class Traffic {
  isStopping = false;
  inFlight = 0;
  /** Requests refused because of overload since the log last said so. */
  shed = 0;
  readonly #options: TrafficOptions;
  readonly #timer: NodeJS.Timeout;
  #lastTickMs = performance.now();
  #lateAtMs = Number.NEGATIVE_INFINITY;
  #lastToldMs = Number.NEGATIVE_INFINITY;
  #onIdle: (() => void) | undefined;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** Counts a request until its answer ended or its connection closed. */
  enter(response: HttpResponse): void {
    this.inFlight++;
    response.startMs = performance.now();
    response.traffic = this;
    response.on('close', onClose);
  }

  leave(response: HttpResponse): void {
    this.inFlight--;
    this.#options.onEnd(response, performance.now() - response.startMs);
    this.#onIdle?.();
  }

  /**
   * True when one more request would be served late, and so everybody's. One pause, as of a collection, is no
   * overload; a second one soon after is, also where those that were answered took a moment to ask again.
   */
  isOverloaded(nowMs: number): boolean {
    const { inFlight, eventLoopDelayMs } = this.#options.limits;
    if (this.inFlight > inFlight) return true;
    const wasLate = this.#lastTickMs - this.#lateAtMs < lateMs;
    return wasLate && nowMs - this.#lastTickMs - tickMs > eventLoopDelayMs;
  }

  /**
   * Stops the server: no new connections, idle ones closed, requests in flight ended or, past the grace, cut. While it drains, each
   * answer is the last of its connection, so that clients go elsewhere before anything is closed under them.
   */
  async stop(app: FastifyInstance): Promise<void> {
    const { limits, connections } = this.#options;
    const { drainMs, graceMs } = limits;
    this.isStopping = true;
    if (drainMs > 0) await new Promise((resolve) => setTimeout(resolve, drainMs));
    this.#onIdle = () => app.server.closeIdleConnections();
    const grace = setTimeout(() => connections.cut(), graceMs);
    await app.close();
    clearTimeout(grace);
    clearInterval(this.#timer);
  }

  #tick(): void {
    const nowMs = performance.now();
    const delayMs = Math.max(0, nowMs - this.#lastTickMs - tickMs);
    this.#lastTickMs = nowMs;
    if (delayMs > this.#options.limits.eventLoopDelayMs / 2) this.#lateAtMs = nowMs;
    this.#options.eventLoopDelay.observe(delayMs / 1000);
    if (this.shed > 0 && nowMs - this.#lastToldMs >= 1_000) this.#tellShed(nowMs);
  }

  #tellShed(nowMs: number): void {
    const { shed: refused, inFlight } = this;
    this.#options.log.warn({ refused, inFlight }, 'overloaded');
    this.#lastToldMs = nowMs;
    this.shed = 0;
  }
}

function onClose(this: HttpResponse): void {
  this.traffic?.leave(this);
}
