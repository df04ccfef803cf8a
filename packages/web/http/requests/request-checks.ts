import { AppError, newId } from '@octavo/core';
import type { FastifyRequest } from 'fastify';
import type { Limits } from '../options.ts';

/** The caller's `X-Request-Id` if it is 1 to 128 of `[A-Za-z0-9._-]`, else a new one. */
export function requestIdOf({ headers }: Pick<FastifyRequest['raw'], 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : newId();
}

/**
 * Why a request must be rejected, judged by its request line and headers alone. Its connection must be closed then, because a proxy
 * in front may see another request, or another end of it, than we do.
 */
export function checkHead({ raw }: FastifyRequest, limits: Limits): AppError | undefined {
  const coding = raw.headers['transfer-encoding'];
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') return unknownTransferCoding();
  const repeated = repeatedHeader(raw.rawHeaders);
  if (repeated) return new AppError('invalid_input', `The header ${repeated} must be sent only once.`);
  if (raw.headers.host === undefined && raw.httpVersionMinor > 0) {
    return new AppError('invalid_input', 'The header Host is required.');
  }
  if ((raw.url as string).length > limits.urlCharacters) {
    return new AppError('invalid_input', `The address must be at most ${limits.urlCharacters} characters.`);
  }
  return undefined;
}

/** The error of a body in a transfer coding other than `chunked` (RFC 9112 section 6.1). */
export function unknownTransferCoding(): AppError {
  return new AppError('not_implemented', 'The only transfer coding that is supported is chunked.');
}

const singleHeaders = new Map(
  ['Authorization', 'Host', 'Content-Length', 'Content-Type', 'Content-Encoding', 'Origin'].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);
const singleLengths = new Set([...singleHeaders.keys()].map((name) => name.length));

/**
 * The first single-value header that the request repeats. Node silently takes the first of two; a proxy in front may have taken
 * the last.
 */
function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  let seen: string[] | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const written = rawHeaders[index] as string;
    if (!singleLengths.has(written.length)) continue;
    const name = written.toLowerCase();
    if (!singleHeaders.has(name)) continue;
    if (seen?.includes(name)) return singleHeaders.get(name);
    seen ??= [];
    seen.push(name);
  }
  return undefined;
}
