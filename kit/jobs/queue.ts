import type { Backoff } from '../backoff.ts';

/** A job to be done once, later, by whoever is free. */
export interface NewJob {
  /** Letters, digits, `_` and `-`, 1 to 64. A job whose id is queued already is not queued again. */
  readonly id: string;
  /** What is to be done, in the same characters; workers take jobs of one kind. */
  readonly kind: string;
  readonly payload: Uint8Array;
  /** The span that asks for it, W3C Trace Context. */
  readonly traceparent?: string | undefined;
}

/** A job as it reaches a handler. */
export interface Job extends NewJob {
  /** Counted from 1, also those whose worker died. */
  readonly attempt: number;
}

/** A job that failed too often, or for good. */
export interface DeadJob extends NewJob {
  readonly attempts: number;
  /** What went wrong at last. */
  readonly error: string;
  /** Milliseconds since the Unix epoch. */
  readonly diedAtMs: number;
}

/**
 * Does a job. It may come again after it was done, since a worker can die between the end and its note: so handlers make
 * sure that doing it twice has the effect of once. The signal aborts when the lease was lost or the worker stops.
 */
export type JobHandler = (job: Job, signal: AbortSignal) => Promise<void>;

export interface WorkOptions {
  readonly kind: string;
  /** How many at the same time. */
  readonly concurrency: number;
  readonly attemptsMax: number;
  readonly backoff?: Backoff;
  /** Learns of a job that will not be tried again. */
  readonly onDead?: (job: Job, error: string) => Promise<void>;
}

/**
 * Jobs that are kept until they are done: at least once, each with one worker at a time by a lease that the worker renews.
 * What fails is tried again after a growing wait, and after so many attempts put aside as dead. Where the queue cannot be
 * reached, everything throws `unavailable`.
 */
export interface JobQueue extends AsyncDisposable {
  /** Resolves when all are kept. */
  add(jobs: readonly NewJob[]): Promise<void>;
  /** Starts to work on jobs of a kind. Disposing the worker ends its jobs by their signal and gives them back. */
  work(options: WorkOptions, handler: JobHandler): AsyncDisposable;
  /** The latest dead jobs, newest first. */
  dead(limit: number): Promise<DeadJob[]>;
  /** Queues a dead job again, with all its attempts. Throws `not_found`. */
  revive(id: string): Promise<void>;
  /** Throws where jobs cannot be queued now. */
  ping(signal?: AbortSignal): Promise<void>;
}

/** Thrown by a handler: the job is dead at once, since trying again would not help. */
export class HopelessJob extends Error {
  override readonly name = 'HopelessJob';
}

/** Throws where an id or a kind has other characters than those that every adapter takes. */
export function checkJob({ id, kind }: Pick<NewJob, 'id' | 'kind'>): void {
  for (const name of [id, kind]) {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) throw new TypeError(`${name} cannot name a job or its kind`);
  }
}
