import { WorkerPool } from '@octavo/core/concurrency';
import type { Database } from '@octavo/data';
import type { Tables } from '../database.ts';
import { countPosts } from '../statistics/index.ts';
import type { PageTasks } from './page-thread.ts';
import type { Page, PageRequest } from './request.ts';
import { readPage } from './store.ts';
import { isNarrowed } from './store-filter.ts';

/** A page of so few posts is read at once, however it is filtered and ordered. */
const quickPosts = 256;
/** Rows before a page that are skipped within a millisecond, while the start of a thread takes a hundred times that, or seconds on a busy machine. */
const quickOffset = 50_000;
const threadsMax = 2;

/** Reads pages of posts. On SQLite those that take long are read in threads, so that they delay no other request. */
export class PageThreads implements AsyncDisposable {
  readonly #database: Database<Tables>;
  readonly #threads: WorkerPool<PageTasks> | undefined;

  constructor({ database, folder }: { database: Database<Tables>; folder: string }) {
    this.#database = database;
    if (database.dialect === 'postgres') return;
    this.#threads = new WorkerPool(new URL('./page-thread.ts', import.meta.url), {
      name: 'post-pages',
      workerData: { folder },
      threadsMax,
    });
  }

  /** One page and the exact total, from one snapshot. */
  async read(request: PageRequest): Promise<Page> {
    if (this.#threads && !isQuick(request) && (await countPosts(this.#database, undefined)) > quickPosts) {
      return this.#threads.run('page', request);
    }
    return this.#database.read((session) => readPage(session, request));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#threads?.[Symbol.asyncDispose]();
  }
}

function isQuick(request: PageRequest): boolean {
  const { order, needle, offset } = request;
  return needle === undefined && !isNarrowed(request) && order !== 'title' && offset <= quickOffset;
}
