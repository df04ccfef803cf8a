import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { ConcurrencyLimiter } from '#kit/concurrency-limiter.ts';
import { AppError } from '#kit/errors.ts';
import { bodyChunks, parseJson } from '#kit/http/body.ts';
import { WorkerPool } from '#kit/worker.ts';
import type { BulkTasks } from './api-worker.ts';
import { type CheckedRows, checkRows, type ParseRow } from './bulk.ts';

/** A bulk request whose rows are checked. `digest` is the SHA-256 of its body, if it was asked for. */
export interface BulkBody extends CheckedRows {
  readonly digest: Uint8Array | undefined;
}

export interface BulkBodyOptions {
  readonly parseRow: ParseRow;
  readonly wantsDigest: boolean;
  /** Bounds how many large bodies are in memory at once. */
  readonly largeBodies: ConcurrencyLimiter;
}

const smallBytesMax = 1024 * 1024;
const heapMegabytesMax = 768;

/**
 * Parses the body of a bulk request. A small one is parsed at once. A large one goes to a worker thread as it arrives,
 * because parsing 126 MB would block the event loop for more than half a second.
 */
export async function readBulkBody(request: FastifyRequest, options: BulkBodyOptions): Promise<BulkBody> {
  const chunks = bodyChunks(request);
  const first: Buffer[] = [];
  let sizeBytes = 0;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    first.push(next.value);
    sizeBytes += next.value.length;
    if (sizeBytes > smallBytesMax) {
      return options.largeBodies.run(() => readLarge(first, chunks, options.wantsDigest));
    }
  }
  if (sizeBytes === 0) throw new AppError('invalid_input', 'A request body is required.');
  const body = Buffer.concat(first);
  const digest = options.wantsDigest ? createHash('sha256').update(body).digest() : undefined;
  return { ...checkRows(parseJson(body), options.parseRow), digest };
}

/** On a thread that lives as long as the body, so that its memory is freed with it. */
async function readLarge(
  first: readonly Buffer[],
  rest: AsyncIterable<Buffer>,
  wantsDigest: boolean,
): Promise<BulkBody> {
  await using thread = new WorkerPool<BulkTasks>(new URL('./api-worker.ts', import.meta.url), {
    name: 'bulk body',
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
  });
  try {
    for (const chunk of first) await thread.run('append', chunk);
    for await (const chunk of rest) await thread.run('append', chunk);
    const { errors, digest } = await thread.run('check', { wantsDigest });
    const rows = [];
    for await (const batch of thread.stream('takeRows', undefined)) rows.push(...batch);
    return { rows, errors, digest };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_OUT_OF_MEMORY') throw error;
    throw new AppError('too_large', 'The request body needs too much memory.', { cause: error });
  }
}
