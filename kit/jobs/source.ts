import type { Job } from './queue.ts';

/** Where a worker gets its jobs: the seam between the adapters and what is common to them. */
export interface JobSource extends AsyncDisposable {
  readonly leaseMs: number;
  /** The next job, leased; nothing once the signal aborts. Waits without asking again and again. */
  next(signal: AbortSignal): Promise<LeasedJob | undefined>;
}

/** A job that nobody else works on until the lease ends. */
export interface LeasedJob {
  readonly job: Job;
  /** Renews the lease; false where it was lost. */
  extend(): Promise<boolean>;
  complete(): Promise<void>;
  /** Gives it back, to be tried again after a while. */
  retry(delayMs: number, error: string): Promise<void>;
  /** Puts it aside. */
  bury(error: string): Promise<void>;
}
