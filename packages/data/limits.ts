/** Limits that all replicas share. */
export { SharedLimits, SharedRateLimiter } from './limits/shared-limits.ts';
export { type LimitTables, limitMigrations } from './limits/store.ts';
