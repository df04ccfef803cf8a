import type { FastifyReply } from 'fastify';
import { AppError } from '../errors.ts';
import { matchesAny } from './entity-tags.ts';
import { sendStream } from './stream.ts';

/** Bytes from `start` to `end`, both counted from 0 and included. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A file that never changes under its entity tag. */
export interface RangedFile {
  readonly sizeBytes: number;
  /** Strong, with its quotes. */
  readonly entityTag: string;
  readonly modifiedMs: number;
  read(range?: Range): AsyncIterable<Uint8Array>;
}

/**
 * Responds to `GET` and `HEAD` with a file as it is, or `GET` with the one range that is asked for: 206, or 416 where it lies outside; 304
 * where `If-None-Match` names its tag. `If-Range` with another tag or time gives the whole file, as several ranges do
 * (RFC 9110 sections 13 and 14).
 */
export async function sendRanged(reply: FastifyReply, file: RangedFile): Promise<FastifyReply> {
  const { sizeBytes, entityTag, modifiedMs } = file;
  const { headers, method } = reply.request;
  const lastModified = new Date(modifiedMs).toUTCString();
  reply.headers({ 'accept-ranges': 'bytes', etag: entityTag, 'last-modified': lastModified });
  const known = headers['if-none-match'];
  if (known !== undefined && matchesAny(known, entityTag)) return reply.code(304).send();
  const ifRange = headers['if-range'];
  const isSame = ifRange === undefined || ifRange === entityTag || ifRange === lastModified;
  const mayCut = method === 'GET' && isSame;
  const range = mayCut ? rangeOf(headers.range, sizeBytes) : undefined;
  if (range === 'outside') {
    reply.header('content-range', `bytes */${sizeBytes}`);
    throw new AppError('range_not_satisfiable', 'The range lies outside of the file.');
  }
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${sizeBytes}`);
  reply.header('content-length', String(range ? range.end - range.start + 1 : sizeBytes));
  return sendStream(reply, file.read(range));
}

/** Nothing for what asks for no range, for several, or in another unit. */
export function rangeOf(header: string | undefined, sizeBytes: number): Range | 'outside' | undefined {
  const [, first = '', last = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const end = sizeBytes - 1;
  if (first === '')
    return Number(last) === 0 ? 'outside' : { start: Math.max(0, sizeBytes - Number(last)), end };
  const start = Number(first);
  if (last !== '' && Number(last) < start) return undefined;
  return start > end ? 'outside' : { start, end: last === '' ? end : Math.min(end, Number(last)) };
}
