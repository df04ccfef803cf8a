import { AppError, describeSystemError } from '@octavo/core';
import { ConcurrencyLimiter } from '@octavo/core/concurrency';
import { SpillBuffer, SpillOverflow } from '@octavo/data/objects';

interface ReceiveOptions {
  /** Owner of the body. */
  readonly uid: number;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}

/** Number of large bodies of one caller and of all that may be on their way or wait to be parsed. */
const perCallerMax = 8;
const uploadsMax = 32;
const diskBytesMax = 2 * 1024 * 1024 * 1024;
const memoryBytes = 2 * 1024 * 1024;
const diskWaitMs = 10_000;
const parsedAtOnce = 2;
const importedAtOnce = 4;

/**
 * Receives large bodies and files. While one arrives, at whatever pace, it goes to a temporary file and takes nothing that another
 * needs. Work on it starts when it is whole.
 */
export class LargeBodies {
  /** Slots for threads that parse. */
  readonly parsing = new ConcurrencyLimiter({ running: parsedAtOnce, waiting: uploadsMax });
  /** Slots for imports, which take one of the others only while they parse. */
  readonly #importing = new ConcurrencyLimiter({ running: importedAtOnce, waiting: uploadsMax });
  readonly #folder: string;
  readonly #budget = { leftBytes: diskBytesMax };
  readonly #uploads = new Map<number, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The result of `work` on the whole body. Throws `unavailable` where there are too many, and `canceled` if the client is gone. */
  async receive<T>(
    chunks: AsyncIterable<Uint8Array>,
    { uid, signal }: ReceiveOptions,
    work: (body: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T> {
    this.#enter(uid);
    try {
      await using body = new SpillBuffer({ folder: this.#folder, budget: this.#budget, memoryBytes });
      for await (const chunk of chunks) {
        signal.throwIfAborted();
        body.write(chunk);
        await body.relieved(diskWaitMs);
      }
      body.end();
      return await work(body);
    } catch (error) {
      throw asRefusal(error, { signal, folder: this.#folder });
    } finally {
      this.#leave(uid);
    }
  }

  /** A slot for an import, which counts as one of its user's bodies until it is disposed. */
  async enterImport(uid: number, signal: AbortSignal): Promise<Disposable> {
    this.#enter(uid);
    const stack = new DisposableStack();
    stack.defer(() => this.#leave(uid));
    try {
      stack.use(await this.#importing.enter(signal));
      return stack;
    } catch (error) {
      stack.dispose();
      throw error;
    }
  }

  #enter(uid: number): void {
    const own = this.#uploads.get(uid) ?? 0;
    const all = this.#uploads.values().reduce((sum, count) => sum + count, 0);
    if (own >= perCallerMax || all >= uploadsMax) throw tooMany();
    this.#uploads.set(uid, own + 1);
  }

  #leave(uid: number): void {
    const left = (this.#uploads.get(uid) ?? 1) - 1;
    if (left > 0) this.#uploads.set(uid, left);
    else this.#uploads.delete(uid);
  }
}

function asRefusal(error: unknown, { signal, folder }: { signal: AbortSignal; folder: string }): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (signal.aborted) return new AppError('canceled', 'The client went away.', { cause: error });
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new AppError('too_large', 'The request body needs too much memory.', { cause: error });
  }
  if (error instanceof SpillOverflow) return tooMany(error);
  const cause = describeSystemError(error, folder);
  if (!cause) return error;
  return new AppError('unavailable', 'The server has no room for a large request at the moment.', {
    retryAfterSeconds: 5,
    cause,
  });
}

function tooMany(cause?: unknown): AppError {
  return new AppError('unavailable', 'Too many large requests at once; try again in a moment.', {
    retryAfterSeconds: 5,
    cause,
  });
}
