import type { Database } from '#kit/db/index.ts';
import type { Log } from '#kit/log.ts';
import { IndexKeeper } from './index-keeper.ts';
import { isQuick, readPage } from './page.ts';
import type { Page, PageRequest } from './post.ts';
import { lastId } from './store-search/index-store.ts';
import { Kept } from './store-search/kept.ts';
import type { Tables } from './tables.ts';
import { PageThreads } from './threads.ts';

/** So few posts are looked through in no time. */
const postsFew = 256;
const threadsMax = 2;

/** Reads pages where they cost nobody else time: quick ones here, others on threads. PostgreSQL computes elsewhere anyway. */
export class PageReader implements AsyncDisposable {
  readonly #database: Database<Tables>;
  readonly #kept = new Kept();
  readonly #stack = new AsyncDisposableStack();
  readonly #threads: PageThreads | undefined;
  readonly #index: IndexKeeper | undefined;

  constructor(options: { database: Database<Tables>; folder: string; log: Log }) {
    this.#database = options.database;
    if (options.database.dialect === 'postgres') return;
    this.#threads = this.#stack.use(new PageThreads(options.folder, threadsMax));
    this.#index = this.#stack.use(new IndexKeeper(options));
    this.#index.look();
  }

  async read(request: PageRequest): Promise<Page> {
    if (this.#threads && !isQuick(request) && (await lastId(this.#database)) > postsFew) {
      return this.#threads.read(request);
    }
    return this.#database.read((session) => readPage(session, this.#kept, request));
  }

  /** Posts were written up to that id. */
  grew(id: number): void {
    this.#index?.grew(id);
  }

  /** A post was changed or deleted. */
  changed(): void {
    this.#index?.changed();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
