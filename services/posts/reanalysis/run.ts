import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, Log } from '@octavo/core';
import { AppError, newId } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { Database } from '@octavo/data';
import type { EventStream } from '@octavo/data/events';
import type { Job } from '@octavo/data/jobs';
import type { Tables } from '../database.ts';
import { postsAfter } from '../posts/index.ts';
import { type Classifier, classifyPosts, inParts, storeSentiments } from '../sentiment/index.ts';
import { countPosts, lastPostId, recountStatistics } from '../statistics/index.ts';
import {
  beginRun,
  pauseRun,
  type Reanalysis,
  type RunState,
  reportProgress,
  storeState,
  succeed,
} from './store.ts';

export interface RunParts {
  readonly database: Database<Tables>;
  /** Absent where inference is off. */
  readonly classifier: Classifier | undefined;
  /** Absent where events are off. */
  readonly events: EventStream | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly leaseMs: number;
}

const batchPosts = 128;
const reportEveryMs = 500;
const giveBackEveryMs = 250;

/**
 * Runs one reanalysis: counts, repairs, classifies. What is completed is stored in the transaction that completes it, so
 * the next run continues after one that was killed, and no step counts twice. A job is dropped while another run has the
 * reanalysis.
 */
export async function runReanalysis(parts: RunParts, job: Job, signal: AbortSignal): Promise<void> {
  const { database, clock, leaseMs } = parts;
  const nowMs = clock.now();
  const begin = { id: job.id, run: newId(), nowMs, quietSinceMs: nowMs - leaseMs / 2 };
  const reanalysis = await beginRun(database, begin);
  if (!reanalysis) return;
  const run = new Run(parts, reanalysis, signal);
  try {
    await run.work(job.traceparent);
  } catch (error) {
    if (run.isOver) return;
    await giveBack(parts, reanalysis, signal);
    throw forCallers(error);
  } finally {
    run[Symbol.dispose]();
  }
}

/**
 * Lets the next run have the reanalysis. Where the database is away, this is tried for as long as another run may not take over by itself:
 * its job would be dropped until then.
 */
async function giveBack(
  { database, clock, leaseMs, log }: RunParts,
  { id, run }: Reanalysis,
  signal: AbortSignal,
): Promise<void> {
  const endMs = performance.now() + leaseMs / 2;
  for (;;) {
    try {
      await pauseRun(database, { id, run, nowMs: clock.now() });
      return;
    } catch (error) {
      if (signal.aborted || performance.now() > endMs) throw error;
      log.debug({ err: error, reanalysisId: id }, 'a reanalysis could not be given back yet');
    }
    await delay(giveBackEveryMs, undefined, { signal }).catch(() => {});
  }
}

/** One attempt at a reanalysis. */
class Run implements Disposable {
  readonly #parts: RunParts;
  readonly #over = new AbortController();
  readonly #signal: AbortSignal;
  readonly #reporting: Disposable;
  #state: RunState;
  #progress: number;

  constructor(parts: RunParts, reanalysis: Reanalysis, signal: AbortSignal) {
    const { id, run, posts, repaired, classifiedTo, classified, labelsChanged, progress } = reanalysis;
    this.#parts = parts;
    this.#state = { id, run, posts, repaired, classifiedTo, classified, labelsChanged };
    this.#progress = progress;
    this.#signal = AbortSignal.any([signal, this.#over.signal]);
    const everyMs = Math.min(reportEveryMs, parts.leaseMs / 4);
    this.#reporting = runEvery(everyMs, () => this.#report());
  }

  /** True if it was canceled, or another run has taken over. */
  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  async work(traceparent: string | undefined): Promise<void> {
    const { database, classifier, clock } = this.#parts;
    const share = classifier ? 0.5 : 1;
    if (this.#state.posts === null) await this.#recount(share);
    if (classifier) await this.#classify(classifier, traceparent);
    const { id, run } = this.#state;
    const { numUpdatedRows } = await succeed(database, { id, run, nowMs: clock.now() });
    if (numUpdatedRows === 0n) this.#end();
  }

  [Symbol.dispose](): void {
    this.#reporting[Symbol.dispose]();
  }

  async #recount(share: number): Promise<void> {
    const { database } = this.#parts;
    const expected = Math.max(1, await countPosts(database, undefined));
    let next = this.#state;
    await recountStatistics(database, {
      signal: this.#signal,
      onProgress: (posts) => {
        this.#progress = share * Math.min(1, posts / expected);
      },
      within: async (session, { posts, agreed }) => {
        next = { ...this.#state, posts, repaired: agreed ? 0 : 1 };
        if (!(await storeState(session, next))) this.#end();
      },
    });
    this.#state = next;
  }

  async #classify(classifier: Classifier, traceparent: string | undefined): Promise<void> {
    const { database } = this.#parts;
    const lastId = await lastPostId(database);
    for (;;) {
      const after = this.#state.classifiedTo;
      const posts = await postsAfter(database, after, batchPosts);
      if (posts.length === 0) return;
      for (const part of inParts(posts, batchPosts)) {
        let next = this.#state;
        const sentiments = await classifyPosts({ ...this.#parts, classifier }, part, this.#signal);
        await storeSentiments(this.#parts, sentiments, {
          traceparents: new Map(part.map(({ id }) => [id, traceparent])),
          within: async (session, { labelsChanged }) => {
            next = {
              ...this.#state,
              classifiedTo: part.at(-1)?.id ?? after,
              classified: this.#state.classified + part.length,
              labelsChanged: this.#state.labelsChanged + labelsChanged,
            };
            if (!(await storeState(session, next))) this.#end();
          },
        });
        this.#state = next;
        this.#progress = 0.5 + 0.5 * Math.min(1, next.classifiedTo / Math.max(1, lastId));
      }
    }
  }

  /** Reports the progress, and learns whether the run is still wanted. */
  async #report(): Promise<void> {
    const { database, clock, log } = this.#parts;
    const { id, run } = this.#state;
    // Only a success is 1.
    const progress = Math.min(0.999, this.#progress);
    try {
      const { numUpdatedRows } = await reportProgress(database, { id, run, progress, nowMs: clock.now() });
      if (numUpdatedRows === 0n) this.#over.abort(runIsOver());
    } catch (error) {
      log.debug({ err: error, reanalysisId: id }, 'the progress of a reanalysis was not reported');
    }
  }

  #end(): never {
    this.#over.abort(runIsOver());
    throw this.#over.signal.reason;
  }
}

function runIsOver(): AppError {
  return new AppError('canceled', 'This run of the reanalysis is over.');
}

/** The error that callers see in the status. */
function forCallers(error: unknown): Error {
  if (error instanceof AppError) return error;
  return new Error('Something went wrong on our side.', { cause: error });
}
