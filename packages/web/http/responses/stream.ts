import { pipeline, Readable } from 'node:stream';
import { createGzip, createZstdCompress } from 'node:zlib';
import type { FastifyReply } from 'fastify';
import { addVary } from './cors.ts';

export type ContentCoding = 'zstd' | 'gzip';

/**
 * Responds with text or bytes as they are produced, no faster than the client reads, with a few chunks in memory, and compressed
 * if the client accepts one of the offered encodings. A failure before the first chunk becomes an error response. A later one
 * destroys the connection, so that half a response never looks complete. When the client goes away, `return` of the iterator is
 * called. `HEAD` reads no chunk.
 */
export async function sendStream(
  reply: FastifyReply,
  pieces: AsyncIterable<string | Uint8Array>,
  options: { readonly encodings?: readonly ContentCoding[] } = {},
): Promise<FastifyReply> {
  const { encodings = [] } = options;
  const { method, headers } = reply.request;
  if (encodings.length > 0) addVary(reply, 'Accept-Encoding');
  const coding = preferredCoding(headers['accept-encoding'], encodings);
  if (coding) reply.header('content-encoding', coding);
  if (method === 'HEAD') return reply.send(Readable.from([]));
  const source = await begun(pieces);
  // The client is gone, so no error can be sent either.
  if (reply.raw.destroyed) {
    source.destroy();
    return reply.hijack();
  }
  reply.request.leaveFlight();
  if (!coding) return reply.send(source);
  const coder = coding === 'zstd' ? createZstdCompress() : createGzip();
  // The reader of the compressed stream receives the error.
  return reply.send(pipeline(source, coder, () => undefined));
}

/** Resolves to whether the whole response was handed to the network; the client may go away first. */
export function whenDelivered(reply: FastifyReply): Promise<boolean> {
  return new Promise((resolve) => {
    reply.raw.once('finish', () => resolve(true)).once('close', () => resolve(false));
  });
}

/**
 * The offered encoding that `Accept-Encoding` prefers (RFC 9110 section 12.5.3), the first of equals; undefined if the client
 * likes no encoding at least as much.
 */
export function preferredCoding(
  acceptEncoding: string | undefined,
  offered: readonly ContentCoding[],
): ContentCoding | undefined {
  const weights = new Map<string, number>();
  for (const item of (acceptEncoding ?? '').toLowerCase().split(',')) {
    const [coding = '', ...parameters] = item.split(';');
    const weight = parameters.map((each) => /^\s*q\s*=\s*([\d.]+)\s*$/.exec(each)?.[1]).find(Boolean);
    weights.set(coding.trim(), Number(weight ?? 1));
  }
  const weigh = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  const best = offered.toSorted((one, other) => weigh(other) - weigh(one))[0];
  if (!best || weigh(best) === 0 || weigh(best) < (weights.get('identity') ?? 0)) return undefined;
  return best;
}

/** Waits for the first chunk, because a failure until then still gets its own status. */
async function begun(pieces: AsyncIterable<string | Uint8Array>): Promise<Readable> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  const source = Readable.from(resume(first, iterator), { objectMode: false });
  // A generator that was never started runs no `finally`, as when the client went away before the first chunk.
  source.once('close', () => void iterator.return?.().catch(() => undefined));
  return source;
}

async function* resume<T>(first: IteratorResult<T>, iterator: AsyncIterator<T>): AsyncGenerator<T> {
  for (let next = first; !next.done; next = await iterator.next()) yield next.value;
}
