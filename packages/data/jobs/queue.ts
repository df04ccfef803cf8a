import type { Backoff } from '@octavo/core/concurrency';

/** A job to be done later by any free worker. */
export interface NewJob {
  /** 1 to 64 letters, digits, `_` and `-`. A job whose id is already queued is not queued again. */
  readonly id: string;
  /** Kind of the job. A worker takes jobs of one kind. */
  readonly kind: string;
  readonly payload: Uint8Array;
  /** The span that created the job, W3C Trace Context. */
  readonly traceparent?: string | undefined;
}

/** A job as a handler gets it. */
export interface Job extends NewJob {
  /** Counted from 1, including attempts whose worker died. */
  readonly attempt: number;
}

/** A job that failed permanently, or too often. */
export interface DeadJob extends NewJob {
  readonly attempts: number;
  /** The message of the last error. */
  readonly error: string;
  /** Milliseconds since the Unix epoch. */
  readonly diedAtMs: number;
}

/**
 * Does a job. It may run again after it succeeded, because a worker can die before it records the success. So handlers must be
 * idempotent. The signal aborts when the lease is lost or the worker stops.
 */
export type JobHandler = (job: Job, signal: AbortSignal) => Promise<void>;

export interface WorkOptions {
  readonly kind: string;
  /** Jobs to run at the same time. */
  readonly concurrency: number;
  readonly attemptsMax: number;
  readonly backoff?: Backoff;
  /** Called when a job will not be tried again. */
  readonly onDead?: (job: Job, error: string) => Promise<void>;
}

/**
 * Stores jobs until they are done, at least once. One worker at a time has a job, by a lease that it renews. A job that fails is tried
 * again after a growing delay, and is dead after `attemptsMax` attempts. If the queue cannot be reached, methods throw `unavailable`.
 */
export interface JobQueue extends AsyncDisposable {
  /** Resolves when all jobs are stored. */
  add(jobs: readonly NewJob[]): Promise<void>;
  /** Starts a worker for jobs of one kind. Disposing it aborts its jobs and returns them to the queue. */
  work(options: WorkOptions, handler: JobHandler): AsyncDisposable;
  /** The latest dead jobs, newest first. */
  dead(limit: number): Promise<DeadJob[]>;
  /** Queues a dead job again, with its attempts counted from zero. Throws `not_found`. */
  revive(id: string): Promise<void>;
  /** Throws if jobs cannot be queued now. */
  ping(signal?: AbortSignal): Promise<void>;
}

/** A handler throws it to make a job dead immediately, because another attempt would not help. */
export class PermanentJobError extends Error {
  override readonly name = 'PermanentJobError';
}

/** Throws a `TypeError` if an id or kind has characters that not every adapter accepts. */
export function checkJob({ id, kind }: Pick<NewJob, 'id' | 'kind'>): void {
  for (const name of [id, kind]) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) throw new TypeError(`${name} cannot name a job or its kind`);
  }
}
