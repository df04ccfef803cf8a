import type { Clock, Log } from '@octavo/core';
import type { Registry } from 'prom-client';
import type { Database } from '../db/index.ts';
import type { NatsLink } from '../nats/link.ts';
import { jobMetrics } from './metrics.ts';
import type { JobQueue } from './queue.ts';
import { TableJobs } from './table.ts';
import type { JobTables } from './table-statements.ts';

export { type Backoff, backoffMs } from '@octavo/core/concurrency';
export {
  type DeadJob,
  type Job,
  type JobHandler,
  type JobQueue,
  type NewJob,
  PermanentJobError,
  type WorkOptions,
} from './queue.ts';
export type { JobTables } from './table-statements.ts';

export interface JobQueueOptions {
  readonly clock: Clock;
  /** Time for which a job stays with a worker that no longer responds, at least 200. */
  readonly leaseMs: number;
  readonly log: Log;
  readonly metrics?: Registry;
}

/** Opens a queue in the table `job` of the service's own database. The service's migrations create it (README.md). */
export function openTableJobs(
  database: Database<JobTables>,
  { metrics, ...options }: JobQueueOptions,
): JobQueue {
  return new TableJobs({ ...options, database, metrics: jobMetrics(metrics) });
}

/**
 * Opens a queue in streams of NATS JetStream, which are created if missing: `<NAME>` with subjects `<name>.do.<kind>` and
 * `<NAME>_DEAD` with `<name>.dead.<kind>.<id>`. The name has letters, digits, `_` and dots.
 */
export async function openNatsJobs(
  link: NatsLink,
  { metrics, name, ...options }: JobQueueOptions & { name: string },
): Promise<JobQueue> {
  const { NatsJobs } = await import('./nats.ts');
  return new NatsJobs({ ...options, name, link, metrics: jobMetrics(metrics) });
}
