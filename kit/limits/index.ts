export { SharedLimits, type SharedRateLimiter } from './shared-limits.ts';
export { type LimitTables, limitMigrations } from './store.ts';
