import { AppError, Type } from '@octavo/core';
import { fromFastify, SchemaMismatch, toHttpError } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Detail, errorTable } from '../errors.ts';

/** An error in OpenAI's shape. */
export interface CompletionError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

const CompletionError = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      param: Type.Union([Type.String(), Type.Null()]),
      code: Type.Union([Type.String(), Type.Null()]),
    }),
  },
  { title: 'CompletionError' },
);

/** The errors of these endpoints, for `/openapi.json`. */
export const completionErrors = Object.fromEntries(
  [400, 401, 403, 404, 408, 409, 413, 415, 429, 500, 503, 504].map((status) => [status, CompletionError]),
);

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

/** The error handler of the endpoints that OpenAI's clients call. */
export function sendCompletionError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, body, retryAfterSeconds } = toCompletionError(thrown);
  if (status >= 500) request.log.error({ err: thrown }, 'completion failed');
  if (status === 401) reply.header('www-authenticate', 'Bearer');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(Math.ceil(retryAfterSeconds)));
  reply.code(status).header('cache-control', 'no-store').type('application/json; charset=utf-8');
  reply.serializer(JSON.stringify).send(body);
}

export function toCompletionError(thrown: unknown): {
  status: number;
  body: CompletionError;
  retryAfterSeconds: number | undefined;
} {
  const error = thrown instanceof SchemaMismatch ? ofSchema(thrown) : fromFastify(thrown);
  const { status, code, message, retryAfterSeconds } = toHttpError(error, errorTable);
  const details = error.details as readonly Detail[] | undefined;
  const param = details?.[0]?.path ?? Object.keys(error.fields)[0] ?? null;
  const type = types[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error');
  return { status, body: { error: { message, type, param, code } }, retryAfterSeconds };
}

function ofSchema({ fields }: SchemaMismatch): AppError {
  const lines = Object.entries(fields).map(([name, problem]) => `${name || 'The body'} ${problem}`);
  return new AppError('validation_failed', lines.join('; '), { fields });
}
