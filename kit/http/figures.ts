import type { Registry } from 'prom-client';
import { DurationHistogram, type Durations } from '../durations.ts';

const upperBoundsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Histogram = DurationHistogram<'route' | 'method' | 'status'>;

/** How often one route answered with which status, and how fast. */
export class RouteFigures {
  readonly route: string;
  readonly #histogram: Histogram;
  readonly #byMethod = new Map<string, Durations[]>();

  constructor(route: string, histogram: Histogram) {
    this.route = route;
    this.#histogram = histogram;
  }

  observe(method: string, status: number, seconds: number): void {
    let byStatus = this.#byMethod.get(method);
    if (!byStatus) {
      byStatus = [];
      this.#byMethod.set(method, byStatus);
    }
    byStatus[status] ??= this.#histogram.at({ route: this.route, method, status: String(status) });
    byStatus[status].observe(seconds);
  }
}

/** Request durations by route template, method and status. */
export class RequestDurations {
  readonly unmatched: RouteFigures;
  readonly #histogram: Histogram;
  readonly #routes = new Map<string, RouteFigures>();

  constructor(registry: Registry) {
    this.#histogram = DurationHistogram.in({
      name: 'http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its answer.',
      labelNames: ['route', 'method', 'status'],
      buckets: upperBoundsSeconds,
      registry,
    });
    this.unmatched = new RouteFigures('unmatched', this.#histogram);
    this.#routes.set('', this.unmatched);
  }

  /** The figures of a route template; the same ones each time. */
  at(route: string): RouteFigures {
    const known = this.#routes.get(route);
    if (known) return known;
    const figures = new RouteFigures(route, this.#histogram);
    this.#routes.set(route, figures);
    return figures;
  }
}
