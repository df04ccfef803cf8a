/** Work beside the event loop: threads, timers, limits, notifications. */
export { Background } from './concurrency/background.ts';
export { type Backoff, backoffMs, usualBackoff } from './concurrency/backoff.ts';
export { Batches, type BatchesOptions } from './concurrency/batches.ts';
export { ConcurrencyLimiter } from './concurrency/concurrency-limiter.ts';
export { loadOnce } from './concurrency/load-once.ts';
export { Notifier } from './concurrency/notifier.ts';
export { processorTimeMs } from './concurrency/processor-time.ts';
export { residentBytes } from './concurrency/resident-bytes.ts';
export { runEvery } from './concurrency/run-every.ts';
export { WorkerPool } from './concurrency/worker.ts';
export { serveTasks, type TaskContext } from './concurrency/worker-tasks.ts';
