import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { FastifyRequest } from 'fastify';
import type { ConcurrencyLimiter } from '#kit/concurrency-limiter.ts';
import { AppError } from '#kit/errors.ts';
import { bodyChunks, parseJson } from '#kit/http/body.ts';
import type { FromWorker, ToWorker } from './api-bulk-worker.ts';
import { type CheckedRows, checkRows, type ReadRow } from './bulk.ts';

/** A bulk request that was read and checked; `digest` is the SHA-256 of its body, where asked for. */
export interface BulkBody extends CheckedRows {
  readonly digest: Buffer | undefined;
}

export interface BulkBodyOptions {
  readonly readRow: ReadRow;
  readonly wantsDigest: boolean;
  /** Bounds how many large bodies are in memory at once. */
  readonly largeBodies: ConcurrencyLimiter;
}

const smallBytesMax = 1024 * 1024;
const workerHeapMegabytesMax = 768;

/**
 * Reads the body of a bulk request. A small one is parsed at once; a large one goes to a thread of its own while it
 * arrives, because parsing 126 MB would hold up everybody else for half a second and more.
 */
export async function readBulkBody(request: FastifyRequest, options: BulkBodyOptions): Promise<BulkBody> {
  const chunks = bodyChunks(request);
  const first: Buffer[] = [];
  let size = 0;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    first.push(next.value);
    size += next.value.length;
    if (size > smallBytesMax) return options.largeBodies.run(() => readLarge(first, chunks, options));
  }
  if (size === 0) throw new AppError('invalid_input', 'A request body is required.');
  const bytes = Buffer.concat(first);
  const digest = options.wantsDigest ? createHash('sha256').update(bytes).digest() : undefined;
  return { ...checkRows(parseJson(bytes), options.readRow), digest };
}

async function readLarge(
  first: readonly Buffer[],
  rest: AsyncIterable<Buffer>,
  { wantsDigest }: BulkBodyOptions,
): Promise<BulkBody> {
  await using reader = new ThreadReader();
  for (const chunk of first) reader.send(chunk);
  for await (const chunk of rest) reader.send(chunk);
  const verdict = await reader.ask({ end: true, wantsDigest });
  if (!('errors' in verdict)) throw new Error('the verdict on a bulk body was expected');
  const rows = [];
  for (let isLast = false; !isLast; ) {
    const batch = await reader.ask('more');
    if (!('rows' in batch)) throw new Error('rows of a bulk body were expected');
    rows.push(...batch.rows);
    isLast = batch.isLast;
    await nextTurn();
  }
  const { errors, digest } = verdict;
  return { rows, errors, digest: digest && Buffer.from(digest) };
}

/** A thread that lives for one body, so that its memory goes with it. */
class ThreadReader implements AsyncDisposable {
  readonly #worker = new Worker(new URL('./api-bulk-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: workerHeapMegabytesMax },
  });
  readonly #failed: Promise<never>;

  constructor() {
    this.#failed = new Promise((_resolve, reject) => {
      this.#worker.once('error', (error) => reject(inWords(error)));
    });
    this.#failed.catch(() => undefined);
  }

  send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  async ask(message: ToWorker): Promise<Exclude<FromWorker, { failure: unknown }>> {
    const answered = new Promise<FromWorker>((resolve) => this.#worker.once('message', resolve));
    this.send(message);
    const answer = await Promise.race([answered, this.#failed]);
    if (!('failure' in answer)) return answer;
    const { code, message: text, fields } = answer.failure;
    throw new AppError(code, text, { fields });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

function inWords(error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return new AppError('too_large', 'The request body takes too much memory to read.');
}
