import { ConcurrencyLimiter } from '#kit/concurrency-limiter.ts';
import { AppError, describeSystemError } from '#kit/errors.ts';
import { SpillBuffer, SpillOverflow } from '#kit/objects/index.ts';
import { WorkerPool } from '#kit/worker.ts';
import type { BulkTasks } from './api-worker.ts';
import type { CheckedRows } from './bulk.ts';

/** A bulk request whose rows are checked. `digest` is the SHA-256 of its body, if it was asked for. */
export interface BulkBody extends CheckedRows {
  readonly digest: Uint8Array | undefined;
}

interface ReadOptions {
  readonly uid: number;
  readonly wantsDigest: boolean;
  readonly signal: AbortSignal;
}

/** How many large bodies may be on their way or wait to be parsed, of one caller and of all. */
const perCallerMax = 8;
const uploadsMax = 32;
const diskBytesMax = 2 * 1024 * 1024 * 1024;
const memoryBytes = 2 * 1024 * 1024;
const diskWaitMs = 10_000;
const parsedAtOnce = 2;
const heapMegabytesMax = 768;

/**
 * Reads large bodies. While one arrives, at whatever pace, it goes to a temporary file and takes nothing that another needs. It waits
 * for one of two threads only when it is whole.
 */
export class LargeBodies {
  readonly #folder: string;
  readonly #budget = { leftBytes: diskBytesMax };
  readonly #parsing = new ConcurrencyLimiter({ running: parsedAtOnce, waiting: uploadsMax });
  readonly #uploads = new Map<number, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Throws `unavailable` where there are too many. */
  async read(first: readonly Buffer[], rest: AsyncIterable<Buffer>, options: ReadOptions): Promise<BulkBody> {
    const { uid, signal } = options;
    this.#enter(uid);
    try {
      await using body = new SpillBuffer({ folder: this.#folder, budget: this.#budget, memoryBytes });
      for (const chunk of first) body.write(chunk);
      for await (const chunk of rest) {
        body.write(chunk);
        await body.relieved(diskWaitMs);
      }
      body.end();
      return await this.#parsing.run(() => parse(body, options), signal);
    } catch (error) {
      throw asRefusal(error, { signal, folder: this.#folder });
    } finally {
      this.#leave(uid);
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

/** On a thread that lives as long as the body, so that its memory is freed with it. It ends at once when the client goes. */
async function parse(
  chunks: AsyncIterable<Uint8Array>,
  { wantsDigest, signal }: ReadOptions,
): Promise<BulkBody> {
  await using thread = new WorkerPool<BulkTasks>(new URL('./api-worker.ts', import.meta.url), {
    name: 'bulk body',
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
    terminateOnAbort: true,
  });
  for await (const chunk of chunks) await thread.run('append', chunk, { signal });
  const { errors, digest } = await thread.run('check', { wantsDigest }, { signal });
  const rows = [];
  for await (const batch of thread.stream('takeRows', undefined, { signal })) rows.push(...batch);
  return { rows, errors, digest };
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
