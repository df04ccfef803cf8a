import { integer, type Settings } from '@octavo/core';

/** The lease of jobs and of readers of events, for every service with background work. */
export const leaseSettings = {
  JOB_LEASE_MS: integer({
    default: 15_000,
    min: 500,
    max: 600_000,
    help: 'Time that a worker may be silent before another takes over its jobs and events',
  }),
} satisfies Settings;
