import type { Log } from '@octavo/core';
import { type Backoff, backoffMs, usualBackoff } from '@octavo/core/concurrency';
import { type Encoded, EncodeProcess, EncoderError } from './process.ts';

export interface EncoderOptions {
  readonly log: Log;
  /** Memory that must be free before a process is started; by default it is not looked at. */
  readonly freeBytesMin?: number;
  /** Memory above which the process is killed. */
  readonly memoryBytesMax?: number;
  /** Time without a text after which the process ends. */
  readonly idleMs?: number;
  /** Delays before the next process after one that died. */
  readonly backoff?: Backoff;
}

export interface EncodeRequest {
  /** True if a person waits; other texts are encoded when no such text is left. */
  readonly isUrgent: boolean;
  readonly signal?: AbortSignal | undefined;
}

interface Task extends EncodeRequest {
  readonly texts: readonly string[];
  readonly done: PromiseWithResolvers<Encoded[]>;
}

const usualMemoryBytes = 600 * 1024 ** 2;
const usualIdleMs = 300_000;
/** Most texts of an urgent request; a quarter of a second. */
const textsAtOnce = 4;

/**
 * Encodes texts in a process of its own, one for all who hold this object. It starts with the first text, and ends when there was none for
 * five minutes.
 */
export class Encoder implements AsyncDisposable {
  readonly #options: EncoderOptions;
  readonly #urgent = new Set<Task>();
  readonly #others = new Set<Task>();
  #isBusy = false;
  #process: EncodeProcess | undefined;
  #failures = 0;
  #pausedUntilMs = 0;
  #idle: NodeJS.Timeout | undefined;
  #isDisposed = false;

  constructor(options: EncoderOptions) {
    this.#options = options;
  }

  /** The id of the process that runs now. */
  get pid(): number | undefined {
    return this.#process?.isAlive ? this.#process.pid : undefined;
  }

  /** Vectors of texts, in their order. Throws an {@link EncoderError}, or the reason of the signal. */
  async encode(texts: readonly string[], request: EncodeRequest): Promise<Encoded[]> {
    const all: Encoded[] = [];
    for (let from = 0; from < texts.length; from += textsAtOnce)
      all.push(...(await this.#enqueue(texts.slice(from, from + textsAtOnce), request)));
    return all;
  }

  async #enqueue(texts: readonly string[], request: EncodeRequest): Promise<Encoded[]> {
    const { signal, isUrgent } = request;
    signal?.throwIfAborted();
    const task = { ...request, texts, done: Promise.withResolvers<Encoded[]>() };
    const queue = isUrgent ? this.#urgent : this.#others;
    const giveUp = () => {
      queue.delete(task);
      task.done.reject(signal?.reason);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    queue.add(task);
    void this.#work();
    return await task.done.promise.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  async #work(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    clearTimeout(this.#idle);
    for (let task = this.#take(); task; task = this.#take())
      await this.#run(task.texts).then(task.done.resolve, task.done.reject);
    this.#isBusy = false;
    this.#process?.rest();
    this.#idle = setTimeout(() => this.#end(), this.#options.idleMs ?? usualIdleMs).unref();
  }

  #take(): Task | undefined {
    for (const queue of [this.#urgent, this.#others]) {
      for (const task of queue) {
        queue.delete(task);
        return task;
      }
    }
    return undefined;
  }

  async #run(texts: readonly string[]): Promise<Encoded[]> {
    const { log, backoff = usualBackoff } = this.#options;
    const process = this.#running();
    try {
      const encoded = await process.ask(texts);
      this.#failures = 0;
      return encoded;
    } catch (error) {
      if (!process.isAlive && !this.#isDisposed) {
        this.#pausedUntilMs = performance.now() + backoffMs(++this.#failures, backoff);
        log.warn({ err: error }, 'the encoder stopped');
      }
      throw error;
    }
  }

  /** The process, which is started if there is none. */
  #running(): EncodeProcess {
    const { memoryBytesMax = usualMemoryBytes, freeBytesMin = 0 } = this.#options;
    if (this.#isDisposed) throw new EncoderError('is stopping');
    if (this.#process?.isAlive) return this.#process;
    if (performance.now() < this.#pausedUntilMs) throw new EncoderError('stopped and is started again soon');
    if (process.availableMemory() < freeBytesMin)
      throw new EncoderError(`needs ${(freeBytesMin / 1024 ** 3).toFixed(0)} GB of free memory`);
    this.#process = new EncodeProcess(memoryBytesMax);
    return this.#process;
  }

  #end(): Promise<void> | undefined {
    return this.#process?.end();
  }

  /** Ends the process. Texts that wait are refused. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#end();
    clearTimeout(this.#idle);
  }
}
