import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { StreamEvent } from './event.ts';

/** Rows of the outbox that a reader has not seen to, and since when the oldest of them waits. */
export interface Waiting {
  readonly count: number;
  readonly oldestMs: number | null;
}

/** What the stream tells of itself. */
export interface EventMetrics {
  published(events: readonly StreamEvent[]): void;
  consumed(consumer: string, events: readonly StreamEvent[], nowMs: number): void;
  /** Has what waits for a reader looked up with each scrape; gives the way to stop that. */
  watch(reader: string, read: () => Promise<Waiting>): () => void;
}

/** Figures of a stream in `registry`; several may share it. */
export function eventMetrics(registry: Registry | undefined): EventMetrics {
  if (registry === undefined) return { published: () => {}, consumed: () => {}, watch: () => () => {} };
  const registers = [registry];
  const published =
    known<Counter>(registry, 'events_published_total') ??
    new Counter({
      name: 'events_published_total',
      help: 'Events that were handed to the broker',
      labelNames: ['type'],
      registers,
    });
  const consumed =
    known<Counter>(registry, 'events_consumed_total') ??
    new Counter({
      name: 'events_consumed_total',
      help: 'Events that a consumer has seen to',
      labelNames: ['consumer', 'type'],
      registers,
    });
  const lag =
    known<Histogram>(registry, 'event_lag_seconds') ??
    new Histogram({
      name: 'event_lag_seconds',
      help: 'Time from an event until a consumer has seen to it',
      labelNames: ['consumer'],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 5, 60, 3_600],
      registers,
    });
  const watch = watcher(registry);
  return {
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

function known<M>(registry: Registry, name: string): M | undefined {
  return registry.getSingleMetric(name) as M | undefined;
}

function watcher(registry: Registry): EventMetrics['watch'] {
  if (known(registry, 'outbox_rows_waiting')) return () => () => {};
  const readers = new Map<string, () => Promise<Waiting>>();
  const show = (name: string, help: string, figureOf: (waiting: Waiting) => number) => {
    new Gauge({
      name,
      help,
      labelNames: ['reader'],
      registers: [registry],
      async collect() {
        for (const [reader, read] of readers) {
          const waiting = await read().catch(() => undefined);
          if (waiting) this.set({ reader }, figureOf(waiting));
        }
      },
    });
  };
  show('outbox_rows_waiting', 'Rows of the outbox that a reader has not seen to', ({ count }) => count);
  show(
    'outbox_oldest_seconds',
    'How long the oldest row of the outbox waits that a reader has not seen to; 0 where none does',
    ({ oldestMs }) => (oldestMs === null ? 0 : Math.max(0, Date.now() - oldestMs) / 1_000),
  );
  return (reader, read) => {
    readers.set(reader, read);
    return () => readers.delete(reader);
  };
}
