import { availableParallelism } from 'node:os';
import { BackgroundWorker } from '../../background-worker.ts';
import type { StreamOptions } from '../database.ts';
import type { Query, Row } from '../session.ts';
import { toRow } from './connection.ts';

const threadsMax = Math.max(2, Math.min(4, availableParallelism() - 1));
const stuckAfterMs = 20;

/** What a thread is asked: to begin a read and give its first batch, to give the next one, to end it early. */
export type Request =
  | { readonly kind: 'open'; readonly id: number; readonly query: Query; readonly batchRows: number }
  | { readonly kind: 'next'; readonly id: number }
  | { readonly kind: 'close'; readonly id: number };

/** A batch of rows as arrays (`names` with the first), or what went wrong. After `done` or an error the read is over. */
export type Answer =
  | {
      readonly names: string[] | undefined;
      readonly rows: unknown[][];
      readonly done: boolean;
      readonly error?: undefined;
    }
  | { readonly error: { readonly message: string; readonly errcode: number | undefined } };

/**
 * Worker threads that read one SQLite file, so that neither a long scan nor a slow step of one holds up the event loop.
 * They start when they are needed; reads beyond their number take turns batch by batch.
 */
export class Threads implements AsyncDisposable {
  readonly #file: string;
  readonly #threads: Thread[] = [];
  #lastId = 0;
  #closed = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** Reads in batches from one snapshot; the next batch is read while one is consumed. */
  async *stream(query: Query, { batchRows, signal }: StreamOptions): AsyncGenerator<Row[]> {
    signal?.throwIfAborted();
    const id = ++this.#lastId;
    const thread = this.#pick();
    thread.reads++;
    let done = false;
    try {
      let answer = await thread.ask({ kind: 'open', id, query, batchRows }, signal);
      const { names } = answer;
      for (;;) {
        const { rows } = answer;
        done = answer.done;
        const ahead = done ? undefined : thread.ask({ kind: 'next', id }, signal);
        // It may fail while the consumer still has this batch; whoever awaits it learns of it.
        ahead?.catch(() => {});
        if (rows.length > 0) yield rows.map((values) => toRow(names as string[], values));
        signal?.throwIfAborted();
        if (ahead === undefined) return;
        answer = await ahead;
      }
    } finally {
      thread.reads--;
      if (!done) thread.close(id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.splice(0).map((thread) => thread.end()));
  }

  #pick(): Thread {
    if (this.#closed) throw new Error('the database is closed');
    const freest = this.#threads.toSorted((a, b) => a.load - b.load)[0];
    if (freest && (freest.load === 0 || this.#threads.length >= threadsMax)) return freest;
    const thread = new Thread(this.#file, () => this.#threads.splice(this.#threads.indexOf(thread), 1));
    this.#threads.push(thread);
    return thread;
  }
}

type Batch = Extract<Answer, { rows: unknown }>;

interface Question {
  readonly request: Request;
  resolve(answer: Batch): void;
  reject(error: unknown): void;
}

/** One worker, asked one thing at a time so that what waits can still be withdrawn. */
class Thread {
  /** How many reads are open on it. */
  reads = 0;
  readonly #worker: BackgroundWorker;
  readonly #waiting: Question[] = [];
  #asked: Question | undefined;
  #askedMs = 0;
  /** Why it answers no more. */
  #ended: unknown;

  constructor(file: string, onEnd: () => void) {
    this.#worker = new BackgroundWorker(new URL('./thread.ts', import.meta.url), {
      name: 'sqlite-reader',
      workerData: { file },
    });
    this.#worker.on('message', (answer: Answer) => this.#settle(answer));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => {
      onEnd();
      this.#fail(new Error('the database was closed while it was read'));
    });
  }

  /** Its open reads, and one that was given up but still computes after a while. */
  get load(): number {
    const stuck = this.#asked !== undefined && performance.now() - this.#askedMs > stuckAfterMs;
    return this.reads + (stuck ? 1 : 0);
  }

  ask(request: Request, signal: AbortSignal | undefined): Promise<Batch> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const { promise, resolve, reject } = Promise.withResolvers<Batch>();
    const question = { request, resolve, reject };
    const withdraw = (): void => {
      const index = this.#waiting.indexOf(question);
      if (index !== -1) this.#waiting.splice(index, 1);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', withdraw, { once: true });
    this.#waiting.push(question);
    this.#askNext();
    return promise.finally(() => signal?.removeEventListener('abort', withdraw));
  }

  /** Ends a read before its last row. */
  close(id: number): void {
    const index = this.#waiting.findIndex(({ request }) => request.id === id);
    if (index !== -1) this.#waiting.splice(index, 1);
    this.#worker.postMessage({ kind: 'close', id } satisfies Request);
  }

  async end(): Promise<void> {
    await this.#worker.end();
  }

  #askNext(): void {
    if (this.#asked !== undefined) return;
    this.#asked = this.#waiting.shift();
    if (this.#asked === undefined) {
      this.#worker.unref();
    } else {
      this.#askedMs = performance.now();
      this.#worker.ref();
      this.#worker.postMessage(this.#asked.request);
    }
  }

  #settle(answer: Answer): void {
    const asked = this.#asked;
    this.#asked = undefined;
    this.#askNext();
    if (answer.error === undefined) asked?.resolve(answer);
    else asked?.reject(Object.assign(new Error(answer.error.message), { errcode: answer.error.errcode }));
  }

  #fail(error: unknown): void {
    this.#ended ??= error;
    for (const question of [this.#asked, ...this.#waiting.splice(0)]) question?.reject(error);
    this.#asked = undefined;
  }
}
