import { type MessagePort, parentPort } from 'node:worker_threads';
import { AppError, type AppErrorOptions, type ErrorCode } from '../base/errors.ts';

/** Context of a task besides its input. */
export interface TaskContext {
  /** Aborts when the caller gives up and when the thread is closed. */
  readonly signal: AbortSignal;
}

/**
 * The tasks of a thread, by name: functions of one input that can be cloned. A function for `run` returns a value, one for
 * `stream` a sync or async iterable. Use it as `T extends Tasks<T>`.
 */
export type Tasks<T> = { readonly [K in keyof T]: (input: never, context: TaskContext) => unknown };

/** The result type of `run` for a task. */
export type ResultOf<F extends (...args: never) => unknown> = Awaited<ReturnType<F>>;

/** The item type of `stream` for a task. */
export type ItemOf<F extends (...args: never) => unknown> =
  Awaited<ReturnType<F>> extends AsyncIterable<infer Item> | Iterable<infer Item> ? Item : never;

/** First message of a call. `run` has one reply; `stream` has one reply per item, and one at the end. */
export interface Start {
  readonly kind: 'run' | 'stream';
  readonly task: string;
  readonly input: unknown;
}

/** Messages of the caller. */
export type Request =
  | (Start & { readonly id: number })
  | { readonly kind: 'next' | 'cancel'; readonly id: number }
  | { readonly kind: 'close' };

/** Messages of the thread. A canceled call also ends with a reply. */
export interface Reply {
  readonly id: number;
  /** True for the last reply of the call. */
  readonly done: boolean;
  readonly value?: unknown;
  readonly error?: SentError;
}

/** An error as it is sent between threads. With a `code` it was an `AppError`. */
export interface SentError extends Omit<AppErrorOptions, 'cause'> {
  readonly code?: ErrorCode;
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause?: SentError;
}

/** The error of a task, or of a thread that died, for the caller. */
export function receiveError(error: SentError | Error): Error {
  const { message, stack } = error;
  const cause = error.cause === undefined ? undefined : receiveError(error.cause as SentError | Error);
  if (error.name === 'AppError') {
    const { code, ...options } = error as SentError & { code: ErrorCode };
    return Object.assign(new AppError(code, message, { ...options, cause }), { stack });
  }
  return error instanceof Error ? error : Object.assign(new Error(message, { cause }), { stack });
}

/**
 * Serves the tasks in a worker thread that a `WorkerPool` started. The worker's module calls it once. Waiting calls can be
 * canceled while another one computes, because each starts in its own turn of the event loop. `close` runs before the thread
 * ends, when the last task has ended.
 */
export function serveTasks<T extends Tasks<T>>(
  tasks: T,
  { close }: { close?: () => void | Promise<void> } = {},
): void {
  if (!parentPort) throw new Error('tasks are served in a worker thread only');
  const port = parentPort;
  const server = new TaskServer(port, tasks as Readonly<Record<string, Task>>);
  port.on('message', async (request: Request) => {
    if (request.kind !== 'close') return server.receive(request);
    await server.close();
    await close?.();
    port.close();
  });
}

type Task = (input: never, context: TaskContext) => unknown;

type ItemIterator = AsyncIterator<unknown> | Iterator<unknown>;

interface ServedCall {
  readonly controller: AbortController;
  readonly isStream: boolean;
  items?: ItemIterator;
}

class TaskServer {
  readonly #port: MessagePort;
  readonly #tasks: Readonly<Record<string, Task>>;
  readonly #calls = new Map<number, ServedCall>();
  readonly #steps: (() => Promise<void>)[] = [];
  readonly #drained = Promise.withResolvers<void>();
  #isClosing = false;

  constructor(port: MessagePort, tasks: Readonly<Record<string, Task>>) {
    this.#port = port;
    this.#tasks = tasks;
  }

  receive(request: Exclude<Request, { kind: 'close' }>): void {
    const { kind, id } = request;
    if (kind === 'run' || kind === 'stream') {
      this.#calls.set(id, { controller: new AbortController(), isStream: kind === 'stream' });
      this.#addStep(id, (call) => this.#start(id, call, request));
    } else if (kind === 'next') {
      this.#addStep(id, (call) => this.#sendItem(id, call));
    } else {
      this.#cancel(id);
    }
  }

  /** Aborts all calls, and resolves when they have ended. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const id of this.#calls.keys()) this.#cancel(id, new Error('the thread is closing'));
    if (this.#calls.size > 0) await this.#drained.promise;
  }

  /** A stream ends after the current item. A run that has begun continues until its task notices the signal. */
  #cancel(id: number, reason?: Error): void {
    const call = this.#calls.get(id);
    call?.controller.abort(reason);
    if (call?.isStream) this.#addStep(id, (stream) => this.#sendItem(id, stream));
  }

  /** One step per turn of the event loop, so that cancels are received in between. */
  #addStep(id: number, act: (call: ServedCall) => Promise<void>): void {
    this.#steps.push(() => this.#step(id, act));
    if (this.#steps.length === 1) setImmediate(this.#takeStep);
  }

  readonly #takeStep = (): void => {
    void this.#steps[0]?.();
    this.#steps.shift();
    if (this.#steps.length > 0) setImmediate(this.#takeStep);
  };

  async #step(id: number, act: (call: ServedCall) => Promise<void>): Promise<void> {
    const call = this.#calls.get(id);
    if (call === undefined) return;
    try {
      await act(call);
    } catch (error) {
      this.#finish({ id, done: true, error: describeError(error) });
    }
  }

  async #start(id: number, call: ServedCall, { task, input }: Start): Promise<void> {
    const { signal } = call.controller;
    signal.throwIfAborted();
    const act = this.#tasks[task];
    if (act === undefined) throw new Error(`this thread has no task ${task}`);
    const result = await act(input as never, { signal });
    if (!call.isStream) return this.#finish({ id, done: true, value: result });
    call.items = iteratorOf(result as AsyncIterable<unknown> | Iterable<unknown>);
    await this.#sendItem(id, call);
  }

  async #sendItem(id: number, call: ServedCall): Promise<void> {
    const { items, controller } = call;
    const item = controller.signal.aborted ? await items?.return?.() : await items?.next();
    if (item === undefined || item.done || controller.signal.aborted) this.#finish({ id, done: true });
    else this.#port.postMessage({ id, done: false, value: item.value } satisfies Reply);
  }

  #finish(reply: Reply): void {
    if (!this.#calls.has(reply.id)) return;
    this.#port.postMessage(reply);
    this.#calls.delete(reply.id);
    if (this.#isClosing && this.#calls.size === 0) this.#drained.resolve();
  }
}

function iteratorOf(items: AsyncIterable<unknown> | Iterable<unknown>): ItemIterator {
  return Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
}

function describeError(error: unknown): SentError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: undefined };
  const { name, message, stack } = error;
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  if (!(error instanceof AppError)) return { name, message, stack, ...cause };
  const { code, fields, reason, retryAfterSeconds } = error;
  return { name, message, stack, code, fields, reason, retryAfterSeconds, ...cause };
}
