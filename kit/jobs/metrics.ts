import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type JobOutcome = 'done' | 'retried' | 'dead' | 'lost' | 'given_back';

/** Metrics reported by workers. */
export interface JobMetrics {
  started(kind: string): void;
  ended(kind: string, outcome: JobOutcome, durationMs: number): void;
}

/** Metrics of workers in `registry`, which several queues may share. */
export function jobMetrics(registry: Registry | undefined): JobMetrics {
  if (registry === undefined) return { started: () => {}, ended: () => {} };
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
