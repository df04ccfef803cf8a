import { BackgroundWorker } from '#kit/background-worker.ts';
import { AppError } from '#kit/errors.ts';
import type { Answer, Question, Tasks, ThreadError } from './thread.ts';

/** An idle thread gives its memory back. */
const idleMs = 10_000;

interface Asked {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** A worker thread on the database of a folder; it keeps the process alive only while it is asked something. */
class Thread {
  readonly #worker: BackgroundWorker;
  readonly #asked = new Map<number, Asked>();
  #lastId = 0;
  #ended = false;

  constructor(folder: string) {
    this.#worker = new BackgroundWorker(new URL('./thread.ts', import.meta.url), {
      name: 'posts',
      workerData: { folder },
    });
    this.#worker.on('message', (answer: Answer) => this.#settle(answer));
    this.#worker.on('error', (error) => this.#end(error as Error));
    this.#worker.on('exit', () => this.#end(new Error('the thread of the posts ended')));
  }

  /** How many questions it has not answered. */
  get load(): number {
    return this.#asked.size;
  }

  get ended(): boolean {
    return this.#ended;
  }

  ask<K extends keyof Tasks>(task: K, input: Parameters<Tasks[K]>[0]): ReturnType<Tasks[K]> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const id = ++this.#lastId;
    this.#asked.set(id, { resolve, reject });
    this.#worker.ref();
    this.#worker.postMessage({ id, task, input } as Question);
    return promise as ReturnType<Tasks[K]>;
  }

  async close(): Promise<void> {
    if (!this.#ended) await this.ask('close', undefined).catch(() => {});
    await this.#worker.end();
  }

  #settle(answer: Answer): void {
    const asked = this.#asked.get(answer.id);
    this.#asked.delete(answer.id);
    if (this.#asked.size === 0) this.#worker.unref();
    if (answer.error === undefined) asked?.resolve(answer.value);
    else asked?.reject(toError(answer.error));
  }

  #end(error: Error): void {
    this.#ended = true;
    for (const { reject } of this.#asked.values()) reject(error);
    this.#asked.clear();
  }
}

/** What was no error for callers there is none here. */
function toError({ code, message, fields, stack }: ThreadError): Error {
  if (code === 'internal') return Object.assign(new Error(message), { stack });
  return new AppError(code, message, { fields });
}

/** One thread, started when it is asked something and closed when it has rested. */
export class RestingThread implements AsyncDisposable {
  readonly #folder: string;
  #thread: Thread | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async ask<K extends keyof Tasks>(
    task: K,
    input: Parameters<Tasks[K]>[0],
  ): Promise<Awaited<ReturnType<Tasks[K]>>> {
    clearTimeout(this.#timer);
    if (this.#thread === undefined || this.#thread.ended) this.#thread = new Thread(this.#folder);
    const thread = this.#thread;
    try {
      return await thread.ask(task, input);
    } finally {
      if (thread === this.#thread && thread.load === 0) this.#rest();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#timer);
    await this.#close();
  }

  #rest(): void {
    this.#timer = setTimeout(() => void this.#close(), idleMs).unref();
  }

  async #close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.close();
  }
}

/** Threads that compute pages; one more is started when all are busy, up to a few. */
export class PageThreads implements AsyncDisposable {
  readonly #folder: string;
  readonly #threadsMax: number;
  #threads: Thread[] = [];

  constructor(folder: string, threadsMax: number) {
    this.#folder = folder;
    this.#threadsMax = threadsMax;
  }

  readonly read: Tasks['page'] = (request) => this.#pick().ask('page', request);

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#threads.splice(0).map((thread) => thread.close()));
  }

  #pick(): Thread {
    this.#threads = this.#threads.filter(({ ended }) => !ended);
    const [freest] = this.#threads.toSorted((a, b) => a.load - b.load);
    if (freest && (freest.load === 0 || this.#threads.length >= this.#threadsMax)) return freest;
    const thread = new Thread(this.#folder);
    this.#threads.push(thread);
    return thread;
  }
}
