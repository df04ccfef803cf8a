import { isUtf8 } from 'node:buffer';
import type { FastifyRequest } from 'fastify';
import { parse } from 'secure-json-parse';
import { AppError } from '../errors.ts';
import type { FastifyApp } from './access.ts';
import { incompleteBody } from './error-table.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The code of the error for a body that does not match its schema. */
    invalidBody?: 'validation_failed' | 'invalid_input';
  }
}

type Scope = Pick<FastifyApp, 'addContentTypeParser' | 'removeContentTypeParser'>;

const json = 'application/json';
const form = 'application/x-www-form-urlencoded';

/** The fields of an HTML form, before the route's schema parses them. */
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

/** Accepts JSON in a scope, and no other types than those added later. An empty body counts as absent. */
export function takeJson(scope: Scope): void {
  takeBytes(scope, json, parseJson);
}

/** Accepts HTML forms in a scope: `request.body` is {@link FormFields}, or what the route's schema makes of them. */
export function takeForms(scope: Scope): void {
  takeBytes(scope, form, (bytes) => new FormFields(textOf(bytes)));
}

/** Leaves JSON bodies to the handlers of a scope, which read them with {@link bodyChunks}. They are not validated either. */
export function leaveBody(scope: Scope): void {
  scope.removeContentTypeParser(json);
  scope.addContentTypeParser(json, (request, _payload, done) => {
    refuseLong(request);
    refuseEncoding(request);
    done(null);
  });
}

/**
 * The body of a request in chunks, in a scope with {@link leaveBody}. Throws `too_large` above the route's limit, and `canceled`
 * if the rest does not arrive.
 */
export async function* bodyChunks(request: FastifyRequest): AsyncGenerator<Buffer, void, undefined> {
  const limit = request.routeOptions.bodyLimit;
  let size = 0;
  try {
    for await (const chunk of request.raw.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > limit) throw tooLarge(request);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof AppError ? error : incompleteBody(error);
  }
}

/**
 * Parses JSON in UTF-8 (RFC 8259). Of repeated keys the last counts; `__proto__`, and a `constructor` with a `prototype`, are
 * dropped. Throws `invalid_input` for anything else.
 */
export function parseJson(bytes: Buffer): unknown {
  const text = textOf(bytes);
  try {
    return parse(text, undefined, { protoAction: 'remove', constructorAction: 'remove' });
  } catch {
    throw new AppError('invalid_input', 'The request body is not valid JSON.');
  }
}

/** Throws `too_large` if `Content-Length` is above the route's limit. */
export function refuseLong(request: FastifyRequest): void {
  const { headers, routeOptions } = request;
  if (Number(headers['content-length'] ?? 0) > routeOptions.bodyLimit) throw tooLarge(request);
}

function tooLarge({ routeOptions }: FastifyRequest): AppError {
  return new AppError('too_large', `The request body must be at most ${routeOptions.bodyLimit} bytes.`);
}

function takeBytes(scope: Scope, mediaType: string, read: (bytes: Buffer) => unknown): void {
  scope.addContentTypeParser(mediaType, { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    refuseEncoding(request);
    done(null, bytes.length === 0 ? undefined : read(bytes));
  });
}

function refuseEncoding({ headers }: FastifyRequest): void {
  const coding = headers['content-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    throw new AppError('unsupported_media_type', `A request body in ${coding} is not supported.`);
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers['content-type'] ?? '')?.[1];
  if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) {
    throw new AppError('unsupported_media_type', 'The request body must be in UTF-8.');
  }
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new AppError('invalid_input', 'The request body is not valid UTF-8.');
  return bytes.toString('utf8');
}
