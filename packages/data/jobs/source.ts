import type { Job } from './queue.ts';

/** Source of a worker's jobs. Each adapter implements it; the worker is common to all of them. */
export interface JobSource extends AsyncDisposable {
  readonly leaseMs: number;
  /** The next job, leased; undefined once the signal aborts. Waits without polling. */
  next(signal: AbortSignal): Promise<LeasedJob | undefined>;
}

/** A job that no other worker gets until the lease ends. */
export interface LeasedJob {
  readonly job: Job;
  /** Renews the lease; false if it was lost. */
  extend(): Promise<boolean>;
  complete(): Promise<void>;
  /** Returns it to the queue, to be tried again after a delay. */
  retry(delayMs: number, error: string): Promise<void>;
  /** Makes it dead. */
  bury(error: string): Promise<void>;
}
