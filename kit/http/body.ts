import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Media types that the route takes as its body; JSON only by default. */
    accepts?: readonly string[];
    /** Hands the body over as a `Buffer`, neither parsed nor validated. */
    rawBody?: boolean;
    /** Leaves the body to the handler, which reads it by `bodyChunks`; it is then not validated either. */
    ownBody?: boolean;
    /** What a body that does not fit its schema is here. */
    invalidBody?: 'validation_failed' | 'invalid_input';
  }
}

/** The fields of an HTML form, before they are parsed by the route's schema. */
export class FormFields {
  readonly values: Readonly<Record<string, string | string[]>>;

  constructor(text: string) {
    const values: Record<string, string | string[]> = Object.create(null);
    const fields = new URLSearchParams(text);
    for (const name of new Set(fields.keys())) {
      const given = fields.getAll(name);
      values[name] = given.length === 1 ? (given[0] ?? '') : given;
    }
    this.values = values;
  }
}

const json = 'application/json';
const form = 'application/x-www-form-urlencoded';
const acceptsJson: readonly string[] = [json];

/** Reads a request's body as its route asks; a Fastify parser for every media type. */
export function parseBody(
  request: FastifyRequest,
  _payload: IncomingMessage,
  done: (error: Error | null, body?: unknown) => void,
): void {
  if (request.is404 || request.headers['content-length'] === '0') {
    done(null, undefined);
    return;
  }
  const { accepts = acceptsJson, rawBody = false, ownBody = false } = request.routeOptions.config;
  try {
    refuseLong(request);
  } catch (refusal) {
    done(refusal as Error);
    return;
  }
  const mediaType = mediaTypeOf(request);
  const refusal = refuse(request, mediaType, accepts);
  if (refusal) {
    done(refusal);
    return;
  }
  if (ownBody) {
    done(null, undefined);
    return;
  }
  readBody(request, (error, bytes) => {
    if (error || !bytes) {
      done(error);
      return;
    }
    if (bytes.length === 0 || rawBody) {
      done(null, bytes.length === 0 ? undefined : bytes);
      return;
    }
    try {
      done(null, mediaType === form ? new FormFields(textOf(bytes)) : parseJson(bytes));
    } catch (problem) {
      done(problem as Error);
    }
  });
}

/**
 * The body of a request piece by piece, for a route with `ownBody`. Throws `too_large` beyond the route's limit,
 * and `canceled` where the rest does not come.
 */
export async function* bodyChunks(request: FastifyRequest): AsyncGenerator<Buffer, void, undefined> {
  const limit = request.routeOptions.bodyLimit ?? 0;
  let size = 0;
  try {
    for await (const chunk of request.raw.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > limit) throw tooLarge(limit);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof AppError ? error : incomplete();
  }
}

/**
 * The value of a JSON text in UTF-8 (RFC 8259). Of repeated keys the last counts; `__proto__`, and a `constructor`
 * with a `prototype`, are dropped. Throws `invalid_input` for anything else.
 */
export function parseJson(bytes: Buffer): unknown {
  const text = textOf(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AppError('invalid_input', 'The request body is not valid JSON.');
  }
  if (/__proto__|constructor|\\u00/.test(text)) dropPrototypes(value);
  return value;
}

/** Throws `too_large` where the head announces more than the route takes. */
export function refuseLong({ headers, routeOptions }: FastifyRequest): void {
  const { bodyLimit = 0 } = routeOptions;
  if (Number(headers['content-length'] ?? 0) > bodyLimit) throw tooLarge(bodyLimit);
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new AppError('invalid_input', 'The request body is not valid UTF-8.');
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function dropPrototypes(root: unknown): void {
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    Reflect.deleteProperty(value, '__proto__');
    if (Object.hasOwn(value, 'constructor') && hasPrototype(value.constructor)) {
      Reflect.deleteProperty(value, 'constructor');
    }
    for (const item of Object.values(value)) pending.push(item);
  }
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}

function mediaTypeOf(request: FastifyRequest): string {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').toLowerCase().split(';');
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith('charset='));
  const isUtf = charset === undefined || /^charset="?(utf-?8|us-ascii)"?$/.test(charset);
  return isUtf ? type.trim() : `${type.trim()};${charset}`;
}

function refuse(
  request: FastifyRequest,
  mediaType: string,
  accepts: readonly string[],
): AppError | undefined {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new AppError('unsupported_media_type', `A request body in ${encoding} is not supported.`);
  }
  if (accepts.includes(mediaType)) return undefined;
  if (accepts.includes(mediaType.split(';', 1)[0] as string)) {
    return new AppError('unsupported_media_type', 'The request body must be in UTF-8.');
  }
  return new AppError('unsupported_media_type', `The request body must be ${accepts.join(' or ')}.`);
}

function readBody(request: FastifyRequest, done: (error: Error | null, bytes?: Buffer) => void): void {
  const { raw } = request;
  const limit = request.routeOptions.bodyLimit ?? 0;
  const chunks: Buffer[] = [];
  let size = 0;
  raw.on('data', onData).on('end', onEnd).on('error', onError);

  function onData(chunk: Buffer): void {
    size += chunk.length;
    if (size > limit) finish(tooLarge(limit));
    else chunks.push(chunk);
  }
  function onEnd(): void {
    finish(null, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size));
  }
  function onError(): void {
    finish(incomplete());
  }
  function finish(error: Error | null, bytes?: Buffer): void {
    raw.off('data', onData).off('end', onEnd).off('error', onError);
    done(error, bytes);
  }
}

function incomplete(): AppError {
  return new AppError('canceled', 'The request body did not arrive whole.');
}

function tooLarge(limit: number): AppError {
  return new AppError('too_large', `The request body must be at most ${limit} bytes.`);
}
