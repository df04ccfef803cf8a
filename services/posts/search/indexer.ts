import type { Log } from '@octavo/core';
import { WorkerPool } from '@octavo/core/concurrency';
import type { Database } from '@octavo/data';
import type { Tables } from '../database.ts';
import type { IndexTasks } from './index-thread.ts';
import { postText } from './store-filter.ts';

/** Fewer posts that wait cost searches nothing, and are not worth a thread. */
const waitingMin = 1_024;
/** While posts arrive one batch after another, the index waits for a pause, or until enough wait for searches to notice. */
const pauseMs = 250;
const waitingMax = 16_384;
const retryMs = 5_000;
const threadIdleMs = 10_000;

/** Indexes written posts in a thread. Only SQLite needs it. */
export class PostIndexer implements AsyncDisposable {
  readonly #database: Database<Tables>;
  readonly #log: Log;
  readonly #thread: WorkerPool<IndexTasks>;
  #changes = 0;
  #isAgain = false;
  #isClosed = false;
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor({ database, folder, log }: { database: Database<Tables>; folder: string; log: Log }) {
    this.#database = database;
    this.#log = log;
    this.#thread = new WorkerPool(new URL('./index-thread.ts', import.meta.url), {
      name: 'post-index',
      workerData: { folder },
      idleMs: threadIdleMs,
    });
  }

  /** Counts posts that were created or changed. */
  written(posts: number): void {
    this.#changes += posts;
    if (this.#changes >= waitingMax) this.start();
    else if (this.#changes >= waitingMin) this.#startIn(pauseMs);
  }

  /** Indexes what waits, also from before this process. */
  start(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#changes = 0;
    this.#isAgain = true;
    this.#running ??= this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#thread[Symbol.asyncDispose]();
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#isAgain && !this.#isClosed) {
        this.#isAgain = false;
        if (await postText.hasPending(this.#database, waitingMin)) await this.#thread.run('index', undefined);
      }
    } catch (error) {
      if (!this.#isClosed) this.#log.error({ err: error }, 'posts cannot be indexed for searches');
      this.#startIn(retryMs);
    } finally {
      this.#running = undefined;
    }
  }

  #startIn(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => this.start(), ms).unref();
  }
}
