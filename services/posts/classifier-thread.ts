import { BackgroundWorker } from '#kit/background-worker.ts';
import { AppError } from '#kit/errors.ts';
import type { Classification, Classifier } from './classifier.ts';
import { type Batch, ClassifierQueue, type Place } from './classifier-queue.ts';
import type { ClassifiedSlice, Slice } from './classifier-worker.ts';

/** Of the shipped model; it rises when the weights change. */
export const shippedModel = 'octavo-1';

// Some 15 ms of work: what comes in meanwhile waits no longer than two slices.
const sliceCharactersMax = 20_000;
const sliceTextsMax = 128;
// The thread has its next slice before it has answered for the last.
const slicesUnderWayMax = 2;
const idleMs = 60_000;

/** The shipped model on a worker thread, which starts with the first text and ends when it has had nothing to do for a minute. */
export class ThreadClassifier implements Classifier {
  readonly model = shippedModel;
  readonly #queue = new ClassifierQueue();
  #thread: ModelThread | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isScheduled = false;
  #isClosed = false;

  async classify(texts: readonly string[], signal?: AbortSignal): Promise<Classification[]> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw ended();
    if (texts.length === 0) return [];
    const { promise, resolve, reject } = Promise.withResolvers<Classification[]>();
    const batch: Batch = { texts, done: [], handedOut: 0, settled: 0, resolve, reject };
    const giveUp = () => {
      this.#queue.remove(batch);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    this.#queue.add(batch);
    this.#schedule();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  async ping(signal: AbortSignal): Promise<void> {
    // A thread that is at rest is not woken only to be asked.
    if (this.#thread) await this.classify([''], signal);
    else if (this.#isClosed) throw ended();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    const thread = this.#thread;
    this.#rejectAll(ended());
    await thread?.end();
  }

  /** After this turn of the event loop, so that texts that come together go together. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#feed();
    });
  }

  #feed(): void {
    if (this.#isClosed) return;
    clearTimeout(this.#idle);
    this.#thread ??= new ModelThread({
      onClassified: (places, classifications) => this.#settle(places, classifications),
      onEnd: (thread, error) => this.#fail(thread, error),
    });
    while (this.#thread.underWay < slicesUnderWayMax) {
      const places = this.#queue.next(sliceTextsMax, sliceCharactersMax);
      if (places.length === 0) break;
      this.#thread.send(places);
    }
    if (this.#thread.underWay === 0) this.#idle = setTimeout(() => this.#rest(), idleMs).unref();
  }

  #settle(places: readonly Place[], classifications: readonly Classification[]): void {
    for (const [at, { batch, index }] of places.entries()) {
      batch.done[index] = classifications[at] as Classification;
      if (++batch.settled === batch.texts.length) batch.resolve(batch.done);
    }
    this.#feed();
  }

  #fail(thread: ModelThread, error: unknown): void {
    if (thread === this.#thread) this.#rejectAll(error);
  }

  #rejectAll(error: unknown): void {
    const waiting = new Set(this.#queue.clear());
    for (const { batch } of this.#thread?.places() ?? []) waiting.add(batch);
    this.#thread = undefined;
    for (const { reject } of waiting) reject(error);
  }

  #rest(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    void thread?.end();
  }
}

interface ThreadEvents {
  onClassified(places: readonly Place[], classifications: readonly Classification[]): void;
  onEnd(thread: ModelThread, error: unknown): void;
}

/** It keeps the process alive only while something is under way. */
class ModelThread {
  readonly #worker = new BackgroundWorker(new URL('./classifier-worker.ts', import.meta.url), {
    name: 'classifier',
  });
  readonly #underWay = new Map<number, readonly Place[]>();
  #lastId = 0;

  constructor({ onClassified, onEnd }: ThreadEvents) {
    this.#worker.on('message', ({ id, classifications }: ClassifiedSlice) => {
      const places = this.#underWay.get(id) ?? [];
      this.#underWay.delete(id);
      if (this.#underWay.size === 0) this.#worker.unref();
      onClassified(places, classifications);
    });
    this.#worker.on('error', (cause) => onEnd(this, ended(cause)));
    this.#worker.on('exit', () => onEnd(this, ended()));
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  *places(): Generator<Place> {
    for (const places of this.#underWay.values()) yield* places;
  }

  send(places: readonly Place[]): void {
    const id = ++this.#lastId;
    const slice: Slice = { id, texts: places.map(({ batch, index }) => batch.texts[index] as string) };
    this.#underWay.set(id, places);
    this.#worker.ref();
    this.#worker.postMessage(slice);
  }

  async end(): Promise<void> {
    await this.#worker.end();
  }
}

function ended(cause?: unknown): AppError {
  return new AppError('unavailable', 'The sentiment model does not answer.', { retryAfterSeconds: 1, cause });
}
