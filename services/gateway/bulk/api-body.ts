import { createHash } from 'node:crypto';
import { AppError } from '@octavo/core';
import { WorkerPool } from '@octavo/core/concurrency';
import { bodyChunks } from '@octavo/web/server';
import { parseJson } from '@octavo/web/validation';
import type { FastifyRequest } from 'fastify';
import type { BulkTasks } from './api-worker.ts';
import { bulkBounds, type CheckedRows, checkRequest, type ParseRow } from './bulk.ts';
import type { LargeBodies } from './large-bodies.ts';

/** A bulk request whose rows are checked. `digest` is the SHA-256 of its body, if it was asked for. */
export interface BulkBody extends CheckedRows {
  readonly digest: Uint8Array | undefined;
}

export interface BulkBodyOptions {
  readonly parseRow: ParseRow;
  readonly wantsDigest: boolean;
  readonly largeBodies: LargeBodies;
  /** Id of the caller. */
  readonly uid: number;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}

const smallBytesMax = 1024 * 1024;
const heapMegabytesMax = 768;

/**
 * Parses the body of a bulk request, which is bounded while it arrives. A small one is parsed at once, a large one in a worker
 * thread, because parsing 126 MB would block the event loop for more than half a second.
 */
export async function readBulkBody(request: FastifyRequest, options: BulkBodyOptions): Promise<BulkBody> {
  const chunks = bodyChunks(request, bulkBounds);
  const first: Buffer[] = [];
  let sizeBytes = 0;
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    first.push(next.value);
    sizeBytes += next.value.length;
    if (sizeBytes > smallBytesMax) return readLargeBody(joined(first, chunks), options);
  }
  if (sizeBytes === 0) throw new AppError('invalid_input', 'A request body is required.');
  const body = Buffer.concat(first);
  const digest = options.wantsDigest ? createHash('sha256').update(body).digest() : undefined;
  return { ...checkRequest(parseJson(body), options.parseRow), digest };
}

async function* joined(first: readonly Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* first;
  yield* rest;
}

function readLargeBody(chunks: AsyncIterable<Buffer>, options: BulkBodyOptions): Promise<BulkBody> {
  const { largeBodies, signal } = options;
  return largeBodies.receive(chunks, options, (body) =>
    largeBodies.parsing.run(() => parseLargeBody(body, options), signal),
  );
}

/** Parses on a thread that lives as long as the body, so that its memory is freed with it. It ends at once when the client goes. */
async function parseLargeBody(
  chunks: AsyncIterable<Uint8Array>,
  { wantsDigest, signal }: BulkBodyOptions,
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
