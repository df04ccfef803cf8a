import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, type Fields } from '../errors.ts';
import type { Log } from '../log.ts';
import { defaultErrorTable, fromFastify, toHttpError } from './error-table.ts';
import type { HttpError, HttpServerOptions } from './options.ts';
import { responseOf } from './response.ts';
import { BadShape } from './type-provider.ts';
import { hasUnreadBody, writeAnswer } from './unread-body.ts';

/** An error ready to be written. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Turns whatever is thrown into an answer, one table and one shape for the whole server. */
export interface ErrorAnswers {
  of(error: unknown, request: { readonly id: string }): Answer;
  /** The same without a line in the log, for what may come by the thousand. */
  quietly(error: AppError, request: { readonly id: string }): Answer;
  /** The same for the documentation: nothing is logged. */
  describe(
    error: AppError,
    request: { readonly id: string },
  ): { status: number; code: string; body: unknown };
  /** The error handler of the server's routes. */
  reply(error: unknown, request: FastifyRequest, reply: FastifyReply): void;
}

/** The answers of one server. Errors that are nobody's fault but ours are logged; their text stays in the log. */
export function createErrorAnswers(options: HttpServerOptions): ErrorAnswers {
  const table = { ...defaultErrorTable, ...options.errorTable };
  const { log, clock } = options.context;
  const bodyOf =
    options.errorBody ??
    ((error, request) => ({
      error: { code: error.code, message: error.message, fields: error.fields },
      meta: { requestId: request.id, timestamp: new Date(clock.now()).toISOString() },
    }));

  function of(thrown: unknown, request: { readonly id: string }): Answer {
    const error = fromFastify(thrown);
    report(log, error, { status: table[error.code].status, requestId: request.id });
    return quietly(error, request);
  }

  function quietly(error: AppError, request: { readonly id: string }): Answer {
    const told = toHttpError(error, table);
    return { status: told.status, headers: headersOf(told), body: JSON.stringify(bodyOf(told, request)) };
  }

  return {
    of,
    quietly,
    describe(error, request) {
      const told = toHttpError(error, table);
      return { status: told.status, code: told.code, body: bodyOf(told, request) };
    },
    reply(thrown, request, reply) {
      const error = thrown instanceof BadShape ? inWords(thrown, request, options.invalidBody) : thrown;
      const answer = of(error, request);
      for (const name of aboutContent) reply.removeHeader(name);
      if (hasUnreadBody(request.raw)) {
        writeUnread(reply, answer);
      } else {
        keepConnection(reply);
        reply.code(answer.status).headers(answer.headers).send(answer.body);
      }
    },
  };
}

/** Fastify closes the connection on every error about a body, also on one that was read whole. */
function keepConnection(reply: FastifyReply): void {
  const { shouldKeepAlive, traffic } = responseOf(reply);
  if (reply.hasHeader('connection') && shouldKeepAlive && !traffic?.isStopping) {
    reply.header('connection', 'keep-alive');
  }
}

/** What a handler may have said of the answer that it did not come to give. */
const aboutContent = ['content-encoding', 'content-disposition', 'etag', 'last-modified'];

function writeUnread(reply: FastifyReply, answer: Answer): void {
  reply.hijack();
  const noted = Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]);
  writeAnswer(responseOf(reply), { ...answer, headers: { ...Object.fromEntries(noted), ...answer.headers } });
}

function headersOf(told: HttpError): Record<string, string> {
  const headers: Record<string, string> = {
    'content-type': 'application/json; charset=utf-8',
    // A cache may otherwise keep a 404 or a 405 for as long as it likes (RFC 9111 section 4.2.2).
    'cache-control': 'no-store',
  };
  if (told.status === 401) headers['www-authenticate'] = 'Bearer';
  if (told.retryAfterSeconds !== undefined) {
    headers['retry-after'] = String(Math.max(1, Math.ceil(told.retryAfterSeconds)));
  }
  return headers;
}

function inWords(
  bad: BadShape,
  request: FastifyRequest,
  invalidBody: HttpServerOptions['invalidBody'] = 'validation_failed',
): AppError {
  if (bad.validationContext === 'params' && Object.values(request.params as object).includes('')) {
    return new AppError('not_found', 'There is nothing at this address.');
  }
  if (bad.validationContext !== 'body') return invalid('invalid_input', bad.fields);
  if (request.body === undefined) return new AppError('invalid_input', 'A request body is required.');
  return invalid(request.routeOptions.config.invalidBody ?? invalidBody, bad.fields);
}

function invalid(code: 'validation_failed' | 'invalid_input', { '': ofAll, ...fields }: Fields): AppError {
  if (ofAll !== undefined) return new AppError(code, `The request body ${ofAll}.`);
  const lines = Object.entries(fields).map(([name, problem]) => `${name} ${problem}`);
  const more = lines.length > 3 ? `; ${lines.length - 3} more` : '';
  return new AppError(code, `${lines.slice(0, 3).join('; ')}${more}`, { fields });
}

/** Only what nobody foresaw has a stack in the log: the others come by the thousand when a backend is away. */
function report(log: Log, error: AppError, about: { status: number; requestId: string }): void {
  const { code, fields, message, cause } = error;
  if (code === 'internal') log.error({ ...about, err: cause ?? error }, 'request failed');
  else if (about.status >= 500) log.warn({ ...about, error: code, cause: causeOf(cause) }, message);
  else log.debug({ ...about, error: code, fields }, message);
}

function causeOf(cause: unknown): string | undefined {
  return cause === undefined ? undefined : String(cause);
}
