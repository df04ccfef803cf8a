import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const outcomes = ['done', 'retried', 'dead', 'lost', 'given_back'] as const;

export type JobOutcome = (typeof outcomes)[number];

/** Metrics reported by workers. */
export interface JobMetrics {
  /** Shows a kind before its first job ends: Prometheus sees how much a counter grew only from a value that it has seen. */
  declare(kind: string): void;
  started(kind: string): void;
  ended(kind: string, outcome: JobOutcome, durationMs: number): void;
}

/** Metrics of workers in `registry`, which several queues may share. */
export function jobMetrics(registry: Registry | undefined): JobMetrics {
  if (registry === undefined) return { declare: () => {}, started: () => {}, ended: () => {} };
  const registers = [registry];
  const total =
    existing<Counter>(registry, 'jobs_total') ??
    new Counter({
      name: 'jobs_total',
      help: 'Attempts at jobs by outcome',
      labelNames: ['kind', 'outcome'],
      registers,
    });
  const running =
    existing<Gauge>(registry, 'jobs_running') ??
    new Gauge({ name: 'jobs_running', help: 'Jobs that are running', labelNames: ['kind'], registers });
  const duration =
    existing<Histogram>(registry, 'job_duration_seconds') ??
    new Histogram({
      name: 'job_duration_seconds',
      help: 'Duration of an attempt at a job',
      labelNames: ['kind'],
      buckets: [0.001, 0.01, 0.1, 1, 10, 60, 600],
      registers,
    });
  return {
    declare(kind) {
      for (const outcome of outcomes) total.inc({ kind, outcome }, 0);
    },
    started: (kind) => running.inc({ kind }),
    ended(kind, outcome, durationMs) {
      running.dec({ kind });
      total.inc({ kind, outcome });
      duration.observe({ kind }, durationMs / 1_000);
    },
  };
}

function existing<M>(registry: Registry, name: string): M | undefined {
  return registry.getSingleMetric(name) as M | undefined;
}
