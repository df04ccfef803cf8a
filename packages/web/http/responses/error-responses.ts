import type { Log } from '@octavo/core';
import { AppError, describeSystemError, type Fields } from '@octavo/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorRequest, HttpError, HttpServerOptions } from '../options.ts';
import { InvalidJsonError } from '../requests/body.ts';
import { OverloadError } from '../requests/overload.ts';
import { SchemaMismatch } from '../validation/compilers.ts';
import { defaultErrorTable, fromFastify, toHttpError } from './error-table.ts';

/** An error that is ready to be sent. */
export interface ErrorResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Turns anything thrown into a response, with one table and one shape for the whole server. */
export interface ErrorResponses {
  /** Logs an error and returns its response. */
  of(error: unknown, request: ErrorRequest): ErrorResponse;
  /** Status, code and body for the documentation. Logs nothing. */
  describe(error: AppError, requestId: string): { status: number; code: string; body: unknown };
  /** The error handler of the server's routes. */
  send(error: unknown, request: FastifyRequest, reply: FastifyReply): void;
}

/** The error responses of one server. Errors that are our fault are logged with their text. */
export function createErrorResponses(options: HttpServerOptions): ErrorResponses {
  const table = { ...defaultErrorTable, ...options.errorTable };
  const { log, clock } = options.context;
  const bodyOf =
    options.errorBody ??
    ((error, request) => ({
      error: { code: error.code, message: error.message, fields: error.fields },
      meta: { requestId: request.id, timestamp: new Date(clock.now()).toISOString() },
    }));

  function of(thrown: unknown, request: ErrorRequest): ErrorResponse {
    const error = fromFastify(thrown);
    const shown = shownError(error);
    logError(log, error, { status: shown.status, requestId: request.id });
    const body = JSON.stringify(bodyOf(shown, request));
    return { status: shown.status, headers: headersOf(shown, options.challenge), body };
  }

  function shownError(error: AppError): HttpError {
    const { invalidJsonCode: code } = options;
    const shown = toHttpError(error, table);
    return error instanceof InvalidJsonError && code !== undefined ? { ...shown, code } : shown;
  }

  return {
    of,
    describe(error, requestId) {
      const shown = shownError(error);
      return { status: shown.status, code: shown.code, body: bodyOf(shown, { id: requestId }) };
    },
    send(thrown, request, reply) {
      const error = thrown instanceof SchemaMismatch ? inWords(thrown, request, options.invalidBody) : thrown;
      const { status, headers, body } = of(error, request);
      for (const name of aboutContent) reply.removeHeader(name);
      reply.code(status).headers(headers).send(body);
    },
  };
}

/** Headers that a handler may have set for content that is not sent now. */
const aboutContent = ['content-encoding', 'content-disposition', 'etag', 'last-modified'];

function headersOf(shown: HttpError, challenge = 'Bearer'): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    // Otherwise a cache may store a 404 or a 405 for as long as it likes (RFC 9111 section 4.2.2).
    'cache-control': 'no-store',
  };
  if (shown.status === 401) headers['www-authenticate'] = challenge;
  if (shown.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(shown.retryAfterSeconds)));
  }
  return headers;
}

function inWords(
  { fields, validationContext }: SchemaMismatch,
  request: FastifyRequest,
  invalidBody: HttpServerOptions['invalidBody'] = 'validation_failed',
): AppError {
  if (validationContext === 'params' && Object.values(request.params as object).includes('')) {
    return new AppError('not_found', 'There is nothing at this address.');
  }
  if (validationContext !== 'body') return invalid('invalid_input', fields);
  if (request.body === undefined) return new AppError('invalid_input', 'A request body is required.');
  return invalid(request.routeOptions.config.invalidBody ?? invalidBody, fields);
}

function invalid(code: 'validation_failed' | 'invalid_input', { '': ofAll, ...fields }: Fields): AppError {
  if (ofAll !== undefined) return new AppError(code, `The request body ${ofAll}.`);
  const lines = Object.entries(fields).map(([name, problem]) => `${name} ${problem}`);
  const more = lines.length > 3 ? `; ${lines.length - 3} more` : '';
  return new AppError(code, `${lines.slice(0, 3).join('; ')}${more}`, { fields });
}

/** Logs only unexpected errors with their stack. Others come by the thousand while a backend is down. */
function logError(log: Log, error: AppError, about: { status: number; requestId: string }): void {
  const { code, fields, message, cause } = error;
  if (error instanceof OverloadError) return;
  if (code === 'internal') log.error({ ...about, err: cause ?? error }, 'request failed');
  else if (about.status >= 500 && code !== 'not_implemented')
    log.warn({ ...about, error: code, cause: causeOf(cause) }, message);
  else log.debug({ ...about, error: code, fields }, message);
}

function causeOf(cause: unknown): string | undefined {
  return cause === undefined ? undefined : (describeSystemError(cause)?.message ?? String(cause));
}
