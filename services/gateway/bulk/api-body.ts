import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { AppError } from '#kit/errors.ts';
import { bodyChunks, parseJson } from '#kit/http/body.ts';
import type { BulkBody, LargeBodies } from './api-large-bodies.ts';
import { bulkBounds, checkRows, type ParseRow } from './bulk.ts';

export interface BulkBodyOptions {
  readonly parseRow: ParseRow;
  readonly wantsDigest: boolean;
  readonly largeBodies: LargeBodies;
  /** Whose request it is. */
  readonly uid: number;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}

const smallBytesMax = 1024 * 1024;

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
    if (sizeBytes > smallBytesMax) return options.largeBodies.read(first, chunks, options);
  }
  if (sizeBytes === 0) throw new AppError('invalid_input', 'A request body is required.');
  const body = Buffer.concat(first);
  const digest = options.wantsDigest ? createHash('sha256').update(body).digest() : undefined;
  return { ...checkRows(parseJson(body), options.parseRow), digest };
}
