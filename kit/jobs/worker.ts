import { backoffMs, usualBackoff } from '../backoff.ts';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { parseTraceparent } from '../trace.ts';
import type { JobMetrics, JobOutcome } from './metrics.ts';
import { HopelessJob, type JobHandler, type WorkOptions } from './queue.ts';
import type { JobSource, LeasedJob } from './source.ts';

interface WorkerParts extends WorkOptions {
  readonly source: JobSource;
  readonly handler: JobHandler;
  readonly log: Log;
  readonly metrics: JobMetrics;
}

/** How often a lease is renewed within its time. */
const renewals = 3;

/** Takes jobs of a source, a few at a time, and sees each to its end. */
export class JobWorker implements AsyncDisposable {
  readonly #parts: WorkerParts;
  readonly #stop = new AbortController();
  readonly #slots: Promise<void>[];

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    this.#slots = Array.from({ length: parts.concurrency }, () => this.#serve());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new AppError('canceled', 'the worker stops'));
    await Promise.all(this.#slots);
    await this.#parts.source[Symbol.asyncDispose]();
  }

  async #serve(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const leased = await this.#parts.source.next(signal);
      if (leased) await this.#run(leased);
    }
  }

  async #run(leased: LeasedJob): Promise<void> {
    const { kind, metrics, log } = this.#parts;
    const { id, attempt, traceparent } = leased.job;
    const traceId = parseTraceparent(traceparent)?.traceId;
    const startedMs = performance.now();
    metrics.started(kind);
    let outcome: JobOutcome = 'lost';
    try {
      outcome = await this.#attempt(leased);
    } catch (error) {
      // What cannot be noted now comes again when the lease ends.
      log.warn({ err: error, kind, jobId: id, traceId }, 'the end of a job could not be noted');
    }
    const durationMs = Math.round(performance.now() - startedMs);
    metrics.ended(kind, outcome, durationMs);
    log.debug({ kind, jobId: id, attempt, outcome, durationMs, traceId }, 'job ended');
  }

  async #attempt(leased: LeasedJob): Promise<JobOutcome> {
    const { job } = leased;
    const { handler, attemptsMax, log, kind } = this.#parts;
    if (job.attempt > attemptsMax) return this.#bury(leased, 'its worker died each time');
    const lease = new RenewedLease(leased, this.#parts.source.leaseMs);
    const signal = AbortSignal.any([this.#stop.signal, lease.signal]);
    try {
      await handler(job, signal);
    } catch (error) {
      if (lease.signal.aborted) return 'lost';
      if (this.#stop.signal.aborted) {
        await leased.retry(0, 'its worker stopped');
        return 'given_back';
      }
      log.warn({ err: error, kind, jobId: job.id, attempt: job.attempt }, 'job failed');
      const text = error instanceof Error ? error.message : String(error);
      if (error instanceof HopelessJob || job.attempt >= attemptsMax) return this.#bury(leased, text);
      await leased.retry(backoffMs(job.attempt, this.#parts.backoff ?? usualBackoff), text);
      return 'retried';
    } finally {
      lease[Symbol.dispose]();
    }
    await leased.complete();
    return 'done';
  }

  async #bury(leased: LeasedJob, error: string): Promise<JobOutcome> {
    await this.#parts.onDead?.(leased.job, error);
    await leased.bury(error);
    return 'dead';
  }
}

/** Renews a lease while its job runs; the signal aborts where it was lost. */
class RenewedLease implements Disposable {
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #renewedMs = performance.now();

  constructor(leased: LeasedJob, leaseMs: number) {
    this.#timer = setInterval(() => void this.#renew(leased, leaseMs), leaseMs / renewals);
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #renew(leased: LeasedJob, leaseMs: number): Promise<void> {
    const askedMs = performance.now();
    // Where the queue does not answer, the lease stands until its time is over; so it is where this process stood still.
    const isOver = askedMs - this.#renewedMs >= leaseMs;
    const isKept = isOver ? false : await leased.extend().catch(() => undefined);
    if (isKept) this.#renewedMs = askedMs;
    if (isKept === false) this.#lost.abort(new AppError('canceled', 'the lease of the job was lost'));
  }
}
