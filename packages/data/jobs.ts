/** Jobs that run once or are tried again, from the database or NATS. */
export { openNatsJobs, openTableJobs } from './jobs/index.ts';
export { type DeadJob, type Job, type JobQueue, PermanentJobError } from './jobs/queue.ts';
export { leaseSettings } from './jobs/settings.ts';
export type { JobTables } from './jobs/table-statements.ts';
