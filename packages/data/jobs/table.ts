import type { Clock, Log } from '@octavo/core';
import { newId, notFound } from '@octavo/core';
import { Notifier } from '@octavo/core/concurrency';
import type { Database } from '../db/index.ts';
import type { JobMetrics } from './metrics.ts';
import {
  checkJob,
  type DeadJob,
  type JobHandler,
  type JobQueue,
  type NewJob,
  type WorkOptions,
} from './queue.ts';
import type { JobSource, LeasedJob } from './source.ts';
import {
  buryJob,
  deadJobs,
  giveBack,
  insertJobs,
  type JobRow,
  type JobTables,
  nextDue,
  removeDone,
  renewLease,
  reviveJob,
  takeDue,
} from './table-statements.ts';
import { JobWorker } from './worker.ts';

export interface TableJobsOptions {
  readonly database: Database<JobTables>;
  /** Processes that share the database must agree on the time, within a fraction of the lease. */
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly log: Log;
  readonly metrics: JobMetrics;
}

/** Polling interval for jobs of other processes. Jobs of this process are seen immediately. */
const pollMs = 500;
/** Delay after the database did not respond. */
const retryMs = 1_000;

/** Jobs in the table `job` of a service's own database. */
export class TableJobs implements JobQueue {
  readonly #options: TableJobsOptions;
  readonly #sources = new Set<TableSource>();

  constructor(options: TableJobsOptions) {
    this.#options = options;
  }

  async add(jobs: readonly NewJob[]): Promise<void> {
    for (const job of jobs) checkJob(job);
    const nowMs = this.#options.clock.now();
    const rows = jobs.map(({ id, kind, payload, traceparent }) => {
      return [id, kind, Buffer.from(payload).toString('hex'), traceparent ?? null];
    });
    await insertJobs(this.#options.database, JSON.stringify(rows), nowMs);
    this.#notify();
  }

  work(options: WorkOptions, handler: JobHandler): AsyncDisposable {
    const source = new TableSource(this.#options, options.kind, () => this.#sources.delete(source));
    this.#sources.add(source);
    const { log, metrics } = this.#options;
    return new JobWorker({ ...options, source, handler, log, metrics });
  }

  async dead(limit: number): Promise<DeadJob[]> {
    return (await deadJobs(this.#options.database, limit)).map((row) => ({
      ...toJob(row),
      attempts: row.attempts,
      error: row.error ?? '',
      diedAtMs: row.dead_at_ms ?? 0,
    }));
  }

  async revive(id: string): Promise<void> {
    const { database, clock } = this.#options;
    const { numUpdatedRows } = await reviveJob(database, id, clock.now());
    if (numUpdatedRows === 0n) throw notFound('dead job', id);
    this.#notify();
  }

  ping(): Promise<void> {
    return this.#options.database.ping();
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #notify(): void {
    for (const source of this.#sources) source.notify();
  }
}

/** Hands the jobs of one kind to the slots of one worker, as many at once as are free. */
class TableSource implements JobSource {
  readonly leaseMs: number;
  readonly #options: TableJobsOptions;
  readonly #kind: string;
  readonly #notifier = new Notifier();
  readonly #onEnd: () => void;
  readonly #waiting: ((leased: LeasedJob | undefined) => void)[] = [];
  readonly #done: Done[] = [];
  #serving = false;
  /** The last query was full, so there are probably more. */
  #isMoreDue = false;
  #removing: Promise<void> | undefined;

  constructor(options: TableJobsOptions, kind: string, onEnd: () => void) {
    this.leaseMs = options.leaseMs;
    this.#options = options;
    this.#kind = kind;
    this.#onEnd = onEnd;
  }

  notify(): void {
    this.#notifier.notify();
  }

  next(signal: AbortSignal): Promise<LeasedJob | undefined> {
    const { promise, resolve } = Promise.withResolvers<LeasedJob | undefined>();
    this.#waiting.push(resolve);
    if (!this.#serving) void this.#serve(signal);
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#onEnd();
  }

  async #serve(signal: AbortSignal): Promise<void> {
    this.#serving = true;
    while (this.#waiting.length > 0 && !signal.aborted) {
      try {
        const dueInMs = this.#isMoreDue ? 0 : await this.#dueInMs();
        if (dueInMs > 0) await this.#notifier.wait(Math.min(dueInMs, pollMs), signal);
        else await this.#take(signal);
      } catch (error) {
        this.#options.log.warn({ err: error, kind: this.#kind }, 'jobs cannot be taken');
        await this.#notifier.wait(retryMs, signal);
      }
    }
    if (signal.aborted) for (const resolve of this.#waiting.splice(0)) resolve(undefined);
    this.#serving = false;
  }

  async #dueInMs(): Promise<number> {
    const next = await nextDue(this.#options.database, this.#kind);
    return (next?.due ?? Number.POSITIVE_INFINITY) - this.#options.clock.now();
  }

  async #take(signal: AbortSignal): Promise<void> {
    const { database, clock, leaseMs } = this.#options;
    const nowMs = clock.now();
    const lease = { kind: this.#kind, holder: newId(), nowMs, untilMs: nowMs + leaseMs };
    const limit = this.#waiting.length;
    const rows = await takeDue(database, { ...lease, limit });
    this.#isMoreDue = rows.length === limit;
    for (const row of rows.sort((a, b) => a.created_at_ms - b.created_at_ms)) {
      const leased = this.#leased(row);
      const slot = signal.aborted ? undefined : this.#waiting.shift();
      if (slot) slot(leased);
      else await leased.retry(0, '');
    }
  }

  #leased(row: JobRow): LeasedJob {
    const { database, clock, leaseMs } = this.#options;
    const { id, holder, attempts } = row;
    return {
      job: { ...toJob(row), attempt: attempts },
      extend: async () => {
        const { numUpdatedRows } = await renewLease(database, { id, holder, untilMs: clock.now() + leaseMs });
        return numUpdatedRows === 1n;
      },
      complete: () => this.#complete(id, holder),
      retry: async (delayMs, error) => {
        // A job that is returned without delay did not fail.
        const counted = delayMs === 0 ? attempts - 1 : attempts;
        const dueMs = clock.now() + delayMs;
        await giveBack(database, { id, holder, dueMs, error, attempts: counted });
      },
      bury: async (error) => {
        await buryJob(database, { id, holder, nowMs: clock.now(), error });
      },
    };
  }

  /** Jobs that finish at the same moment are removed by one statement. */
  #complete(id: string, holder: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#done.push({ pair: [id, holder], resolve, reject });
    this.#removing ??= this.#removeFinished();
    return promise;
  }

  async #removeFinished(): Promise<void> {
    await Promise.resolve();
    while (this.#done.length > 0) {
      const done = this.#done.splice(0);
      try {
        await removeDone(this.#options.database, JSON.stringify(done.map(({ pair }) => pair)));
        for (const { resolve } of done) resolve();
      } catch (error) {
        for (const { reject } of done) reject(error);
      }
    }
    this.#removing = undefined;
  }
}

interface Done {
  readonly pair: readonly [id: string, holder: string];
  resolve(): void;
  reject(error: unknown): void;
}

function toJob({ id, kind, payload, traceparent }: JobRow): NewJob {
  return { id, kind, payload, traceparent: traceparent ?? undefined };
}
