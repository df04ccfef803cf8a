import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { AppError } from '@octavo/core';
import type { FastifyRequest, preParsingHookHandler, RouteOptions } from 'fastify';
import { parse } from 'secure-json-parse';
import type { FastifyApp } from '../access.ts';
import { incompleteBody } from '../responses/error-table.ts';
import { type JsonBounds, JsonScanner } from './json-scanner.ts';
import { numberReviver } from './number-texts.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The code of the error for a body that does not match its schema. */
    invalidBody?: 'validation_failed' | 'invalid_input';
  }
}

type Scope = Pick<FastifyApp, 'addContentTypeParser' | 'removeContentTypeParser'>;

const json = 'application/json';
const form = 'application/x-www-form-urlencoded';
const multipart = 'multipart/form-data';

/** The fields of an HTML form, before the route's schema parses them. */
export class FormFields {
  readonly values: Readonly<Record<string, string | string[]>>;

  constructor(fields: URLSearchParams | FormData) {
    const values: Record<string, string | string[]> = Object.create(null);
    for (const name of new Set(fields.keys())) {
      const given = fields.getAll(name).filter((value) => typeof value === 'string');
      values[name] = given.length === 1 ? (given[0] ?? '') : given;
    }
    this.values = values;
  }
}

/** Accepts JSON in a scope, and no other types than those added later. An empty body counts as absent. */
export function takeJson(scope: Scope, parse: (bytes: Buffer) => unknown = parseJson): void {
  takeBytes(scope, json, parse);
}

/** Keeps how numbers in JSON are written, in a scope with {@link takeJson}: for schemas with `x-exact`. */
export function keepNumberTexts(scope: Scope): void {
  scope.removeContentTypeParser(json);
  takeJson(scope, (bytes) => parseJson(bytes, numberReviver));
}

/** Accepts HTML forms in a scope: `request.body` is {@link FormFields}, or the result of the route's schema. */
export function takeForms(scope: Scope): void {
  takeBytes(scope, form, (bytes) => new FormFields(new URLSearchParams(textOf(bytes))));
}

/** Accepts `multipart/form-data` in a scope, in memory, as {@link FormFields} without their files. */
export function takeMultipart(scope: Scope): void {
  scope.addContentTypeParser(
    multipart,
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      refuseEncoding(request);
      const headers = { 'content-type': request.headers['content-type'] ?? '' };
      try {
        return new FormFields(await new Response(new Uint8Array(bytes), { headers }).formData());
      } catch (error) {
        throw new AppError('invalid_input', 'The request body is not a valid multipart form.', {
          cause: error,
        });
      }
    },
  );
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
 * The body of a request in chunks, in a scope with {@link leaveBody}. Throws `too_large` above the route's limit, `canceled` if
 * the rest does not arrive, and what a {@link JsonScanner} throws where bounds are given.
 */
export async function* bodyChunks(
  request: FastifyRequest,
  bounds?: JsonBounds,
): AsyncGenerator<Buffer, void, undefined> {
  const limit = request.routeOptions.bodyLimit;
  const scanner = bounds && new JsonScanner(bounds);
  let size = 0;
  try {
    for await (const chunk of request.raw.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > limit) throw tooLarge(request);
      scanner?.push(chunk);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof AppError ? error : incompleteBody(error);
  }
}

/** The error of a body that is not JSON. A server can give it a code of its own with `invalidJsonCode`. */
export class InvalidJsonError extends AppError {
  constructor(cause: unknown, message = 'The request body is not valid JSON.') {
    super('invalid_input', message, { cause });
  }
}

/**
 * Parses JSON in UTF-8 (RFC 8259). Of repeated keys the last counts; `__proto__`, and a `constructor` with a `prototype`, are
 * dropped. Throws `invalid_input` for anything else, and for values nested more than 100 deep, which cost a second for each megabyte. `reviverOf` gives a reviver for a text that needs one.
 */
export function parseJson(
  bytes: Buffer,
  reviverOf: (text: string) => Parameters<typeof parse>[1] = () => undefined,
): unknown {
  const text = textOf(bytes);
  if (isDeep(bytes)) {
    const message = `The request body is nested more than ${depthMax} deep.`;
    throw new InvalidJsonError(new Error(message), message);
  }
  try {
    return parse(text, reviverOf(text), { protoAction: 'remove', constructorAction: 'remove' });
  } catch (error) {
    throw new InvalidJsonError(error);
  }
}

const depthMax = 100;
const [quote, backslash] = [0x22, 0x5c];
// Brackets and braces differ in this bit only.
const braceBit = 0x20;
const [openingBrace, closingBrace] = [0x7b, 0x7d];

function isDeep(bytes: Buffer): boolean {
  if (bytes.length <= depthMax) return false;
  let depth = 0;
  let isText = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    if (byte === quote) isText = !isText;
    else if (isText) index += byte === backslash ? 1 : 0;
    else if ((byte | braceBit) === openingBrace) depth++;
    else if ((byte | braceBit) === closingBrace) depth--;
    if (depth > depthMax) return true;
  }
  return false;
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

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Bounds of a body of more than 1 MiB, which a route that takes one must declare: bounds on JSON, which are checked while
     * it arrives, or `handler` if the handler bounds it.
     */
    largeBody?: JsonBounds | 'handler';
  }
}

const smallBytesMax = 1024 * 1024;

/**
 * Bounds bodies that are parsed whole, because a few megabytes of JSON can become gigabytes of objects. Throws for a route that
 * takes more than 1 MiB and does not say how its body is bounded.
 */
export function boundLargeBodies(app: FastifyApp): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    const { bodyLimit = 0, config, method, url } = route;
    const bounds = config?.largeBody;
    if (bodyLimit > smallBytesMax && bounds === undefined) {
      throw new Error(`the route ${method} ${url} does not declare how its large body is bounded`);
    }
    if (typeof bounds !== 'object') return;
    route.preParsing = [scan(bounds), ...[route.preParsing ?? []].flat()];
  });
}

function scan(bounds: JsonBounds): preParsingHookHandler {
  return (request, _reply, _payload, done) => {
    done(null, Readable.from(bodyChunks(request, bounds), { objectMode: false }));
  };
}
