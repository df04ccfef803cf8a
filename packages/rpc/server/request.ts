import { AppError } from '@octavo/core';
import { JsonScanner } from '@octavo/web/validation';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallOptions, MessageCodec } from '../contract.ts';

/** Encoding of the messages of a call. */
export type Format = 'proto' | 'json';

/** The format in a content type: what follows `application/` or `application/connect+`. Throws `unsupported_media_type`. */
export function formatOf(request: FastifyRequest, prefix: string): Format {
  const essence = contentTypeOf(request).split(';', 1)[0]?.trim().toLowerCase();
  if (essence === `${prefix}proto`) return 'proto';
  if (essence === `${prefix}json`) return 'json';
  throw new AppError('unsupported_media_type', `the content type must be ${prefix}proto or ${prefix}json`);
}

/** The content type as it was sent: a server may drop that of an empty body, but an empty message needs it. */
export function contentTypeOf({ headers, raw }: FastifyRequest): string {
  const known = headers['content-type'];
  if (known !== undefined) return known;
  const index = raw.rawHeaders.findIndex((each, at) => at % 2 === 0 && each.toLowerCase() === 'content-type');
  return index < 0 ? '' : (raw.rawHeaders[index + 1] ?? '');
}

/** The body; empty if there is none. */
export function bodyOf(request: FastifyRequest): Buffer {
  return (request.body as Buffer | undefined) ?? noBytes;
}

/** The options of a call in its headers; its signal aborts when the caller is gone. Throws `invalid_input`. */
export function callOptionsOf(request: FastifyRequest, reply: FastifyReply): CallOptions {
  const { headers, id } = request;
  const version = headers['connect-protocol-version'];
  if (version !== undefined && version !== '1') {
    throw new AppError('invalid_input', 'connect-protocol-version must be 1');
  }
  return {
    signal: callerSignal(reply),
    requestId: id,
    traceparent: headers.traceparent as string | undefined,
    timeoutMs: parseTimeoutMs(headers['connect-timeout-ms'] as string | undefined),
  };
}

/** Throws `unsupported_media_type` for compressed messages, which no caller of ours sends. */
export function rejectEncoding(encoding: string | string[] | undefined): void {
  if (encoding === undefined || encoding === 'identity') return;
  throw new AppError('unsupported_media_type', `encoding ${encoding} is not supported, only identity`);
}

/** Decodes a message. Throws `invalid_input`. */
export function decodeMessage(codec: MessageCodec, format: Format, bytes: Buffer): unknown {
  try {
    return format === 'proto' ? codec.decode(bytes) : codec.fromJSON(parseJson(bytes));
  } catch (error) {
    throw new AppError('invalid_input', `the message cannot be read as ${format}`, { cause: error });
  }
}

/** Depth of protobuf's own JSON parsers, and more values than any of our requests has. */
const jsonBounds = { depth: 100, values: 200_000 };

function parseJson(bytes: Buffer): unknown {
  new JsonScanner(jsonBounds).push(bytes);
  return JSON.parse(bytes.toString());
}

/** Fastify's own `request.signal` aborts as soon as the body of the request was read. */
function callerSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  if (raw.destroyed) gone.abort();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  return gone.signal;
}

const noBytes = Buffer.alloc(0);

function parseTimeoutMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (!/^\d{1,10}$/.test(header)) {
    throw new AppError('invalid_input', 'connect-timeout-ms must be a whole number of at most 10 digits');
  }
  return Number(header);
}
