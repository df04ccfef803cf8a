import type { Database } from '#kit/db/index.ts';
import type { Log } from '#kit/log.ts';
import { isIndexDue } from './store-search/indexer.ts';
import { usualSpans } from './store-search/plan.ts';
import type { Tables } from './tables.ts';
import { RestingThread } from './threads.ts';

/** So many changes of posts are worth a look at what is due. */
const changesPerLook = 256;
/** While posts come one batch after another, the index waits for a pause, or until they fill a larger segment. */
const pauseMs = 250;
/** When another process has the index, or something failed. */
const retryMs = 5_000;

/** Has the index made by a thread as posts are written. */
export class IndexKeeper implements AsyncDisposable {
  readonly #database: Database<Tables>;
  readonly #log: Log;
  readonly #thread: RestingThread;
  #changes = 0;
  #lastId = 0;
  #lookedAtId = 0;
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: { database: Database<Tables>; folder: string; log: Log }) {
    this.#database = options.database;
    this.#log = options.log;
    this.#thread = new RestingThread(options.folder);
  }

  /** Posts were written up to that id. */
  grew(lastId: number): void {
    this.#lastId = Math.max(this.#lastId, lastId);
    const written = this.#lastId - this.#lookedAtId;
    if (written >= usualSpans[1]) this.look();
    else if (written >= usualSpans[0]) this.#lookIn(pauseMs);
  }

  /** A post was changed or deleted. */
  changed(): void {
    if (++this.#changes % changesPerLook === 0) this.look();
  }

  /** Makes what is due. */
  look(): void {
    this.#lookedAtId = this.#lastId - (this.#lastId % usualSpans[0]);
    this.#again = true;
    if (!this.#closed) this.#running ??= this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#thread[Symbol.asyncDispose]();
    await this.#running;
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer);
    let done = true;
    try {
      while (this.#again && !this.#closed) {
        this.#again = false;
        if (await this.#database.read(isIndexDue)) done = await this.#thread.ask('index', undefined);
      }
    } catch (error) {
      done = false;
      if (!this.#closed) this.#log.error({ err: error }, 'the search index could not be made');
    }
    this.#running = undefined;
    if (!done) this.#lookIn(retryMs);
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#closed) this.#timer = setTimeout(() => this.look(), ms).unref();
  }
}
