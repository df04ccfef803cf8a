import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { StreamEvent } from './event.ts';

/** Rows of the outbox that a consumer has not handled, and the time of the oldest. */
export interface Waiting {
  readonly count: number;
  readonly oldestMs: number | null;
}

/** Metrics reported by a stream. */
export interface EventMetrics {
  /** Shows a consumer before its first event: Prometheus sees how much a counter grew only from a value that it has seen. */
  declare(consumer: string): void;
  published(events: readonly StreamEvent[]): void;
  consumed(consumer: string, events: readonly StreamEvent[], nowMs: number): void;
  /** Looks up at each scrape what waits for a consumer. Returns a function that stops it. */
  watch(name: string, read: () => Promise<Waiting>): () => void;
}

/** Metrics of a stream in `registry`, which several streams may share. */
export function eventMetrics(registry: Registry | undefined): EventMetrics {
  if (registry === undefined) {
    return { declare: () => {}, published: () => {}, consumed: () => {}, watch: () => () => {} };
  }
  const registers = [registry];
  const published =
    existing<Counter>(registry, 'events_published_total') ??
    new Counter({
      name: 'events_published_total',
      help: 'Events published to the broker',
      labelNames: ['type'],
      registers,
    });
  const consumed =
    existing<Counter>(registry, 'events_consumed_total') ??
    new Counter({
      name: 'events_consumed_total',
      help: 'Events handled by a consumer',
      labelNames: ['consumer', 'type'],
      registers,
    });
  const lag =
    existing<Histogram>(registry, 'event_lag_seconds') ??
    new Histogram({
      name: 'event_lag_seconds',
      help: 'Time from an event until a consumer has handled it',
      labelNames: ['consumer'],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 5, 60, 3_600],
      registers,
    });
  const watch = watcher(registry);
  return {
    declare: (consumer) => lag.zero({ consumer }),
    watch,
    published: (events) => {
      for (const { type } of events) published.inc({ type });
    },
    consumed: (consumer, events, nowMs) => {
      for (const { type, timeMs } of events) {
        consumed.inc({ consumer, type });
        lag.observe({ consumer }, Math.max(0, nowMs - timeMs) / 1_000);
      }
    },
  };
}

function existing<M>(registry: Registry, name: string): M | undefined {
  return registry.getSingleMetric(name) as M | undefined;
}

function watcher(registry: Registry): EventMetrics['watch'] {
  if (existing(registry, 'outbox_rows_waiting')) return () => () => {};
  const consumers = new Map<string, () => Promise<Waiting>>();
  const show = (name: string, help: string, measure: (waiting: Waiting) => number) => {
    new Gauge({
      name,
      help,
      labelNames: ['reader'],
      registers: [registry],
      async collect() {
        for (const [reader, read] of consumers) {
          const waiting = await read().catch(() => undefined);
          if (waiting) this.set({ reader }, measure(waiting));
        }
      },
    });
  };
  show('outbox_rows_waiting', 'Rows of the outbox that a reader has not handled', ({ count }) => count);
  show(
    'outbox_oldest_seconds',
    'Age of the oldest row of the outbox that a reader has not handled; 0 if there is none',
    ({ oldestMs }) => (oldestMs === null ? 0 : Math.max(0, Date.now() - oldestMs) / 1_000),
  );
  return (name, read) => {
    consumers.set(name, read);
    return () => consumers.delete(name);
  };
}
