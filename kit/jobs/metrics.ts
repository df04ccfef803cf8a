import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type JobOutcome = 'done' | 'retried' | 'dead' | 'lost' | 'given_back';

/** What workers tell of themselves. */
export interface JobMetrics {
  started(kind: string): void;
  ended(kind: string, outcome: JobOutcome, durationMs: number): void;
}

/** Figures of workers in `registry`; several may share it. */
export function jobMetrics(registry: Registry | undefined): JobMetrics {
  if (registry === undefined) return { started: () => {}, ended: () => {} };
  const registers = [registry];
  const total =
    known<Counter>(registry, 'jobs_total') ??
    new Counter({
      name: 'jobs_total',
      help: 'Attempts at jobs, by how they ended',
      labelNames: ['kind', 'outcome'],
      registers,
    });
  const running =
    known<Gauge>(registry, 'jobs_running') ??
    new Gauge({ name: 'jobs_running', help: 'Jobs that run now', labelNames: ['kind'], registers });
  const duration =
    known<Histogram>(registry, 'job_duration_seconds') ??
    new Histogram({
      name: 'job_duration_seconds',
      help: 'Time of an attempt at a job',
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

function known<M>(registry: Registry, name: string): M | undefined {
  return registry.getSingleMetric(name) as M | undefined;
}
