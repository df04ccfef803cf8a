import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import type { CallStart } from './call.ts';
import type { MessageCodec } from './contract.ts';

/** How the messages of a call are written. */
export type Format = 'proto' | 'json';

/** The format that a content type names, by what comes before it: `application/` or `application/connect+`. */
export function formatOf(request: FastifyRequest, prefix: string): Format {
  const contentType = contentTypeOf(request);
  if (contentType === `${prefix}proto`) return 'proto';
  const essence = contentType.split(';', 1)[0]?.trim().toLowerCase();
  if (essence === `${prefix}proto`) return 'proto';
  if (essence === `${prefix}json`) return 'json';
  throw new AppError('unsupported_media_type', `the content type must be ${prefix}proto or ${prefix}json`);
}

/** The content type as it was sent: the HTTP server takes that of an empty body away, but an empty message has one. */
export function contentTypeOf({ headers, raw }: FastifyRequest): string {
  const known = headers['content-type'];
  if (known !== undefined) return known;
  const index = raw.rawHeaders.findIndex((each, at) => at % 2 === 0 && each.toLowerCase() === 'content-type');
  return index < 0 ? '' : (raw.rawHeaders[index + 1] ?? '');
}

/** The body; empty where there is none. */
export function bodyOf(request: FastifyRequest): Buffer {
  return (request.body as Buffer | undefined) ?? noBytes;
}

/** What the headers say of a call. Throws `invalid_input`, or `timeout` where it is over before it begins. */
export function readCallStart(request: FastifyRequest): CallStart {
  const { headers } = request;
  const version = headers['connect-protocol-version'];
  if (version !== undefined && version !== '1') {
    throw new AppError('invalid_input', 'connect-protocol-version must be 1');
  }
  return {
    requestId: request.id,
    traceparent: headers.traceparent as string | undefined,
    timeoutMs: readTimeoutMs(headers['connect-timeout-ms'] as string | undefined),
  };
}

/** Refuses compressed messages: no caller of ours sends them. */
export function refuseEncoding(encoding: string | string[] | undefined): void {
  if (encoding === undefined || encoding === 'identity') return;
  throw new AppError('unsupported_media_type', `encoding ${encoding} is not supported; identity is`);
}

/** The message in some bytes. Throws `invalid_input` where there is none. */
export function readMessage(codec: MessageCodec, format: Format, bytes: Buffer): unknown {
  try {
    return format === 'proto' ? codec.decode(bytes) : codec.fromJSON(JSON.parse(bytes.toString()));
  } catch (error) {
    throw new AppError('invalid_input', `the message cannot be read as ${format}`, { cause: error });
  }
}

/** A message as JSON. */
export function writeJson(codec: MessageCodec, message: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(codec.toJSON(message)));
}

const noBytes = Buffer.alloc(0);

function readTimeoutMs(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (!/^\d{1,10}$/.test(header)) {
    throw new AppError('invalid_input', 'connect-timeout-ms must be a whole number of at most 10 digits');
  }
  return Number(header);
}
