import type { Log } from '@octavo/core';
import { AppError, parseTraceparent } from '@octavo/core';
import { backoffMs, runEvery, usualBackoff } from '@octavo/core/concurrency';
import type { JobMetrics, JobOutcome } from './metrics.ts';
import { type JobHandler, PermanentJobError, type WorkOptions } from './queue.ts';
import type { JobSource, LeasedJob } from './source.ts';

interface JobWorkerOptions extends WorkOptions {
  readonly source: JobSource;
  readonly handler: JobHandler;
  readonly log: Log;
  readonly metrics: JobMetrics;
}

/** Renewals within the time of one lease. */
const renewals = 3;

/** Takes jobs from a source, a few at a time, and runs them. */
export class JobWorker implements AsyncDisposable {
  readonly #options: JobWorkerOptions;
  readonly #stop = new AbortController();
  readonly #slots: Promise<void>[];

  constructor(options: JobWorkerOptions) {
    this.#options = options;
    options.metrics.declare(options.kind);
    this.#slots = Array.from({ length: options.concurrency }, () => this.#serve());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new AppError('canceled', 'the worker is stopping'));
    await Promise.all(this.#slots);
    await this.#options.source[Symbol.asyncDispose]();
  }

  async #serve(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const leased = await this.#options.source.next(signal);
      if (leased) await this.#run(leased);
    }
  }

  async #run(leased: LeasedJob): Promise<void> {
    const { kind, metrics, log } = this.#options;
    const { id, attempt, traceparent } = leased.job;
    const traceId = parseTraceparent(traceparent)?.traceId;
    const startedMs = performance.now();
    metrics.started(kind);
    let outcome: JobOutcome = 'lost';
    try {
      outcome = await this.#attempt(leased);
    } catch (error) {
      // The job comes again when the lease ends.
      log.warn({ err: error, kind, jobId: id, traceId }, 'the end of a job could not be recorded');
    }
    const durationMs = Math.round(performance.now() - startedMs);
    metrics.ended(kind, outcome, durationMs);
    log.debug({ kind, jobId: id, attempt, outcome, durationMs, traceId }, 'job ended');
  }

  async #attempt(leased: LeasedJob): Promise<JobOutcome> {
    const { job } = leased;
    const { handler, attemptsMax, log, kind } = this.#options;
    if (job.attempt > attemptsMax) return this.#bury(leased, 'its worker died each time');
    const lease = new RenewedLease(leased, this.#options.source.leaseMs);
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
      if (error instanceof PermanentJobError || job.attempt >= attemptsMax) return this.#bury(leased, text);
      await leased.retry(backoffMs(job.attempt, this.#options.backoff ?? usualBackoff), text);
      return 'retried';
    } finally {
      lease[Symbol.dispose]();
    }
    await leased.complete();
    return 'done';
  }

  async #bury(leased: LeasedJob, error: string): Promise<JobOutcome> {
    await this.#options.onDead?.(leased.job, error);
    await leased.bury(error);
    return 'dead';
  }
}

/** Renews a lease while its job runs. The signal aborts if the lease is lost. */
class RenewedLease implements Disposable {
  readonly #lost = new AbortController();
  readonly #renewing: Disposable;
  #renewedMs = performance.now();

  constructor(leased: LeasedJob, leaseMs: number) {
    // Not awaited: a queue that does not respond must not hide that the lease is over.
    this.#renewing = runEvery(leaseMs / renewals, () => void this.#renew(leased, leaseMs));
  }

  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  [Symbol.dispose](): void {
    this.#renewing[Symbol.dispose]();
  }

  async #renew(leased: LeasedJob, leaseMs: number): Promise<void> {
    const askedMs = performance.now();
    // If the queue does not respond, or this process was paused, the lease is valid until its time is over.
    const isOver = askedMs - this.#renewedMs >= leaseMs;
    const isKept = isOver ? false : await leased.extend().catch(() => undefined);
    if (isKept) this.#renewedMs = askedMs;
    if (isKept === false) this.#lost.abort(new AppError('canceled', 'the lease of the job was lost'));
  }
}
