import { AppError } from '@octavo/core';
import type { FastifyReply } from 'fastify';
import { matchesAny } from './entity-tags.ts';
import { sendStream } from './stream.ts';

/** The bytes from `start` to `end`, both counted from 0 and inclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A file whose contents never change under one entity tag. */
export interface RangedFile {
  readonly sizeBytes: number;
  /** A strong entity tag, with its quotes. */
  readonly entityTag: string;
  readonly modifiedMs: number;
  read(range?: Range): AsyncIterable<Uint8Array>;
}

/**
 * Responds to `GET` and `HEAD` with a file, or to `GET` with the one range that was requested: 206, or 416 if it is outside the
 * file; 304 if `If-None-Match` has its tag. An `If-Range` with another tag or time, or several ranges, give the whole file (RFC
 * 9110 sections 13 and 14).
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
    throw new AppError('range_not_satisfiable', 'The range is outside the file.');
  }
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${sizeBytes}`);
  reply.header('content-length', String(range ? range.end - range.start + 1 : sizeBytes));
  return sendStream(reply, file.read(range));
}

/** Undefined if no range was requested, or several, or in another unit. */
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
