import { setTimeout as delay } from 'node:timers/promises';
import { type ResourceLimits, type Transferable, Worker } from 'node:worker_threads';
import {
  type ItemOf,
  type Reply,
  type Request,
  type ResultOf,
  receiveError,
  type Start,
  type Tasks,
} from './worker-tasks.ts';

export interface WorkerPoolOptions {
  /** Names the threads in debuggers and errors. */
  readonly name: string;
  /** Available to the worker's module as `workerData` of `node:worker_threads`. */
  readonly workerData?: unknown;
  /**
   * Memory limits of each thread. A thread that exceeds them ends, and its calls reject with `ERR_WORKER_OUT_OF_MEMORY`. V8 does
   * not always manage to end it, so limit the input as well.
   */
  readonly resourceLimits?: ResourceLimits;
  /** Number of threads that may run at once, 1 by default. Calls beyond that share threads. */
  readonly threadsMax?: number;
  /** A thread ends after this long without calls; 0 ends it right after its last call. By default threads stay. */
  readonly idleMs?: number;
  /**
   * Ends the thread when its only call is aborted, and rejects that call when the thread has ended. For tasks that compute in
   * one synchronous step and so cannot notice their signal.
   */
  readonly terminateOnAbort?: boolean;
}

export interface CallOptions {
  /** Aborts the signal of the task too, and rejects the call with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Buffers and ports in the input that are moved to the thread instead of copied. */
  readonly transfer?: readonly Transferable[];
}

/** Longest time that a thread may take to close its resources, and then to end once terminated. */
const closeTimeoutMs = 5_000;
const terminateTimeoutMs = 1_000;

/**
 * Worker threads that run the tasks which `module` serves with `serveTasks`. A thread starts when all others are busy. It keeps
 * the process alive only while a caller waits for it and while it is being ended.
 *
 * ```ts
 * // counter.ts, the module of the worker
 * const tasks = { double: (value: number) => value * 2, count: function* (last: number) { … } };
 * export type CounterTasks = typeof tasks;
 * serveTasks(tasks);
 *
 * // the caller, which imports only the type
 * await using pool = new WorkerPool<CounterTasks>(new URL('./counter.ts', import.meta.url), { name: 'counter' });
 * await pool.run('double', 21, { signal });
 * for await (const number of pool.stream('count', 10, { signal })) …
 * ```
 *
 * An `AppError` of a task arrives as one. Any other error arrives as a plain `Error` with its message and stack, which edges
 * answer as `internal`. When a thread dies its calls reject with the reason, and the next call starts a new thread.
 */
export class WorkerPool<T extends Tasks<T>> implements AsyncDisposable {
  readonly #module: URL;
  readonly #options: WorkerPoolOptions;
  readonly #threads = new Set<Thread>();
  #isClosed = false;

  constructor(module: URL, options: WorkerPoolOptions) {
    this.#module = module;
    this.#options = options;
  }

  /** Number of threads that can take calls now. */
  get threadCount(): number {
    return this.#usableThreads().length;
  }

  /** Runs a task and returns its result. */
  async run<K extends keyof T & string>(
    task: K,
    input: Parameters<T[K]>[0],
    options: CallOptions = {},
  ): Promise<ResultOf<T[K]>> {
    const call = this.#start({ kind: 'run', task, input }, options);
    return (await call.reply).value as ResultOf<T[K]>;
  }

  /**
   * The items of a task that returns an iterable. The task starts at the first `next`, computes at most one item ahead of the
   * consumer, and ends when the consumer stops. Streams on one thread take turns item by item.
   */
  async *stream<K extends keyof T & string>(
    task: K,
    input: Parameters<T[K]>[0],
    options: CallOptions = {},
  ): AsyncGenerator<ItemOf<T[K]>, undefined> {
    const call = this.#start({ kind: 'stream', task, input }, options);
    try {
      for (;;) {
        const { done, value } = await call.reply;
        if (done) return;
        call.next();
        yield value as ItemOf<T[K]>;
        options.signal?.throwIfAborted();
      }
    } finally {
      call.cancel();
    }
  }

  /**
   * Accepts no more calls and rejects open streams. Each thread aborts the signals of its tasks, waits for them, closes and ends;
   * after 5 s it is terminated. Resolves within 6 s, even if a synchronous step continues.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.close()));
  }

  #start(start: Start, { signal, transfer }: CallOptions): Call {
    signal?.throwIfAborted();
    if (this.#isClosed) throw new Error(`the ${this.#options.name} threads are closed`);
    return this.#pickThread().start(start, signal, transfer);
  }

  #pickThread(): Thread {
    const threads = this.#usableThreads();
    const [freest] = threads.toSorted((a, b) => a.load - b.load);
    if (freest && (freest.load === 0 || threads.length >= (this.#options.threadsMax ?? 1))) return freest;
    const thread = new Thread(this.#module, this.#options, () => this.#threads.delete(thread));
    this.#threads.add(thread);
    return thread;
  }

  #usableThreads(): Thread[] {
    return [...this.#threads].filter(({ isUsable }) => isUsable);
  }
}

/** One worker and its unfinished calls, including those that were aborted. */
class Thread {
  readonly #options: WorkerPoolOptions;
  readonly #worker: Worker;
  readonly #exit: Promise<void>;
  readonly #calls = new Map<number, Call>();
  readonly #awaited = new Set<Call>();
  #lastId = 0;
  #idleTimer: NodeJS.Timeout | undefined;
  #failure: unknown;
  #ending: Promise<void> | undefined;

  constructor(module: URL, options: WorkerPoolOptions, onExit: () => void) {
    this.#options = options;
    const { name, workerData, resourceLimits = {} } = options;
    this.#worker = new Worker(module, { name, workerData, resourceLimits });
    this.#worker.on('message', (reply: Reply) => this.#receive(reply));
    this.#worker.on('error', (error) => this.#fail(receiveError(error as Error)));
    this.#exit = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#fail(new Error(`the ${name} thread ended`));
        onExit();
        resolve();
      });
    });
  }

  get load(): number {
    return this.#calls.size;
  }

  get isUsable(): boolean {
    return this.#failure === undefined && this.#ending === undefined;
  }

  start(start: Start, signal?: AbortSignal, transfer?: readonly Transferable[]): Call {
    clearTimeout(this.#idleTimer);
    const id = ++this.#lastId;
    // Before the call is registered, because it throws if the input cannot be cloned.
    this.#worker.postMessage({ ...start, id } satisfies Request, transfer);
    const call = new Call(this, { id, kind: start.kind, signal });
    this.#calls.set(id, call);
    return call;
  }

  send(request: Request): void {
    this.#worker.postMessage(request);
  }

  /** Keeps the process alive while a caller waits for a reply, and while the thread is being ended. */
  setAwaited(call: Call, isAwaited: boolean): void {
    if (isAwaited) this.#awaited.add(call);
    else this.#awaited.delete(call);
    if (this.#awaited.size > 0 || this.#ending) this.#worker.ref();
    else this.#worker.unref();
  }

  /** Ends the thread if it has no other call to finish and the pool is configured to end threads on abort. */
  async abandon(): Promise<void> {
    if (this.#options.terminateOnAbort && this.#calls.size === 1) await this.#end(0);
  }

  async close(): Promise<void> {
    for (const call of this.#calls.values()) {
      if (call.kind === 'stream') call.fail(new Error(`the ${this.#options.name} threads are closed`));
    }
    await this.#end(closeTimeoutMs);
  }

  #receive(reply: Reply): void {
    const call = this.#calls.get(reply.id);
    if (reply.done) this.#calls.delete(reply.id);
    call?.receive(reply);
    const { idleMs } = this.#options;
    if (this.#calls.size > 0 || idleMs === undefined) return;
    if (idleMs === 0) void this.#end(closeTimeoutMs);
    else this.#idleTimer = setTimeout(() => void this.#end(closeTimeoutMs), idleMs).unref();
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    clearTimeout(this.#idleTimer);
    for (const call of this.#calls.values()) call.fail(this.#failure);
    this.#calls.clear();
  }

  #end(timeoutMs: number): Promise<void> {
    this.#ending ??= this.#closeThenTerminate(timeoutMs);
    return this.#ending;
  }

  async #closeThenTerminate(timeoutMs: number): Promise<void> {
    clearTimeout(this.#idleTimer);
    this.#worker.ref();
    if (timeoutMs > 0) {
      this.#worker.postMessage({ kind: 'close' } satisfies Request);
      if (await settlesWithin(this.#exit, timeoutMs)) return;
    }
    void this.#worker.terminate();
    await settlesWithin(this.#exit, terminateTimeoutMs);
    this.#worker.unref();
  }
}

interface CallParts {
  readonly id: number;
  readonly kind: Start['kind'];
  readonly signal: AbortSignal | undefined;
}

/** The caller's side of one call. Each reply is requested: the first by the start, the others by `next`. */
class Call {
  readonly kind: Start['kind'];
  readonly #thread: Thread;
  readonly #id: number;
  readonly #signal: AbortSignal | undefined;
  #reply = expectReply();
  #isDone = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(thread: Thread, { id, kind, signal }: CallParts) {
    this.kind = kind;
    this.#thread = thread;
    this.#id = id;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#abort, { once: true });
    thread.setAwaited(this, true);
  }

  /** The reply that was requested last. */
  get reply(): Promise<Reply> {
    return this.#reply.promise;
  }

  next(): void {
    this.#reply = expectReply();
    if (this.#failure) this.#reply.reject(this.#failure.error);
    if (this.#isDone) return;
    this.#thread.send({ kind: 'next', id: this.#id });
    this.#thread.setAwaited(this, true);
  }

  /** Tells the thread to drop this task. */
  cancel(): void {
    if (!this.#isDone) this.#thread.send({ kind: 'cancel', id: this.#id });
    this.#finish();
  }

  receive(reply: Reply): void {
    this.#thread.setAwaited(this, false);
    if (reply.done) this.#finish();
    if (reply.error === undefined) this.#reply.resolve(reply);
    else this.#reply.reject(receiveError(reply.error));
  }

  fail(error: unknown): void {
    this.#finish();
    this.#failure = { error: this.#signal?.aborted ? this.#signal.reason : error };
    this.#reply.reject(this.#failure.error);
  }

  readonly #abort = async (): Promise<void> => {
    this.cancel();
    await this.#thread.abandon();
    this.fail(this.#signal?.reason);
  };

  #finish(): void {
    this.#isDone = true;
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#thread.setAwaited(this, false);
  }
}

function expectReply(): PromiseWithResolvers<Reply> {
  const expected = Promise.withResolvers<Reply>();
  // It may fail while the consumer still works on the previous item. The next await sees the error.
  expected.promise.catch(() => {});
  return expected;
}

async function settlesWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  const stop = new AbortController();
  const late = delay(ms, false, { signal: stop.signal }).catch(() => false);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    stop.abort();
  }
}
