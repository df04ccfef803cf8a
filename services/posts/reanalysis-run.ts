import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { AppError } from '#kit/errors.ts';
import type { EventStream } from '#kit/events/index.ts';
import { newId } from '#kit/ids.ts';
import type { Job } from '#kit/jobs/index.ts';
import type { Log } from '#kit/log.ts';
import type { Classifier } from './classifier.ts';
import { classifyPosts, inParts, keepSentiments } from './sentiments.ts';
import { beginRun, noteDone, noteProgress, pauseRun, type RunState, succeed } from './store-reanalyses.ts';
import { postsAfter, recountStatistics } from './store-recount.ts';
import { lastId } from './store-search/index-store.ts';
import { countPosts } from './store-statistics.ts';
import type { ReanalysisRow, Tables } from './tables.ts';

export interface RunParts {
  readonly database: Database<Tables>;
  /** Absent where texts are not classified. */
  readonly classifier: Classifier | undefined;
  readonly events: EventStream | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly leaseMs: number;
}

const postsAtOnce = 128;
const progressEveryMs = 500;

/**
 * Does one reanalysis: counts, repairs, classifies. What is done for good is noted in the transaction that does it, so a
 * run that was killed is continued by the next one, and no step counts twice. A job that comes while another run is at
 * it is dropped.
 */
export async function runReanalysis(parts: RunParts, job: Job, signal: AbortSignal): Promise<void> {
  const { database, clock, leaseMs } = parts;
  const nowMs = clock.now();
  const begin = { id: job.id, run: newId(), nowMs, quietSinceMs: nowMs - leaseMs / 2 };
  const row = await beginRun.first(database, begin);
  if (!row) return;
  const run = new Run(parts, row, signal);
  try {
    await run.do(job.traceparent);
  } catch (error) {
    if (run.isOver) return;
    await pauseRun.run(database, { id: row.id, run: row.run, nowMs: clock.now() });
    throw told(error);
  } finally {
    run[Symbol.dispose]();
  }
}

/** One attempt at a reanalysis. */
class Run implements Disposable {
  readonly #parts: RunParts;
  readonly #over = new AbortController();
  readonly #signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  #state: RunState;
  #progress: number;

  constructor(parts: RunParts, row: ReanalysisRow, signal: AbortSignal) {
    const { id, run, posts, repaired, classified_to, classified, labels_changed } = row;
    this.#parts = parts;
    this.#state = { id, run, posts, repaired, classified_to, classified, labels_changed };
    this.#progress = row.progress;
    this.#signal = AbortSignal.any([signal, this.#over.signal]);
    const everyMs = Math.min(progressEveryMs, parts.leaseMs / 4);
    this.#timer = setInterval(() => void this.#tell(), everyMs);
  }

  /** Whether it was canceled, or another run has it. */
  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  async do(traceparent: string | undefined): Promise<void> {
    const { database, classifier, clock } = this.#parts;
    const share = classifier ? 0.5 : 1;
    if (this.#state.posts === null) await this.#recount(share);
    if (classifier) await this.#classify(classifier, traceparent);
    const { id, run } = this.#state;
    const { changes } = await succeed.run(database, { id, run, nowMs: clock.now() });
    if (changes === 0) this.#end();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #recount(share: number): Promise<void> {
    const { database } = this.#parts;
    const expected = Math.max(1, await countPosts(database, undefined));
    let done = this.#state;
    await recountStatistics(database, {
      signal: this.#signal,
      onProgress: (posts) => {
        this.#progress = share * Math.min(1, posts / expected);
      },
      within: async (session, { posts, agreed }) => {
        done = { ...this.#state, posts, repaired: agreed ? 0 : 1 };
        if (!(await noteDone(session, done))) this.#end();
      },
    });
    this.#state = done;
  }

  async #classify(classifier: Classifier, traceparent: string | undefined): Promise<void> {
    const { database } = this.#parts;
    const end = await lastId(database);
    for (;;) {
      const after = this.#state.classified_to;
      const posts = await postsAfter.all(database, { after, limit: postsAtOnce });
      if (posts.length === 0) return;
      for (const part of inParts(posts, postsAtOnce)) {
        let done = this.#state;
        const sentiments = await classifyPosts({ ...this.#parts, classifier }, part, this.#signal);
        await keepSentiments(this.#parts, sentiments, {
          traceparents: new Map(part.map(({ id }) => [id, traceparent])),
          within: async (session, { labelsChanged }) => {
            done = {
              ...this.#state,
              classified_to: part.at(-1)?.id ?? after,
              classified: this.#state.classified + part.length,
              labels_changed: this.#state.labels_changed + labelsChanged,
            };
            if (!(await noteDone(session, done))) this.#end();
          },
        });
        this.#state = done;
        this.#progress = 0.5 + 0.5 * Math.min(1, done.classified_to / Math.max(1, end));
      }
    }
  }

  /** Says how far it is, and learns whether it is still wanted. */
  async #tell(): Promise<void> {
    const { database, clock, log } = this.#parts;
    const { id, run } = this.#state;
    // What has succeeded alone is at 1.
    const progress = Math.min(0.999, this.#progress);
    try {
      const { changes } = await noteProgress.run(database, { id, run, progress, nowMs: clock.now() });
      if (changes === 0) this.#over.abort(new AppError('canceled', 'the reanalysis is over'));
    } catch (error) {
      log.debug({ err: error, reanalysisId: id }, 'progress is not told');
    }
  }

  #end(): never {
    this.#over.abort(new AppError('canceled', 'the reanalysis is over'));
    throw this.#over.signal.reason;
  }
}

/** What went wrong, in words for those who asked for it. */
function told(error: unknown): Error {
  if (error instanceof AppError) return error;
  return new Error('Something went wrong on our side.', { cause: error });
}
