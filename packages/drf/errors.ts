import { AppError } from '@octavo/core';
import type { ErrorRequest, HttpError, HttpServerOptions } from '@octavo/web/server';

/** Errors of the fields of a body: sentences by field, or nested by index for each item of a list. */
export type FieldErrors = { readonly [name: string]: readonly string[] | FieldErrors };

/** The key of sentences about a body as a whole. */
export const nonFieldErrors = 'non_field_errors';

/** A 400 with sentences by field: `fieldErrors({ text: ['This field is required.'] })`. */
export function fieldErrors(errors: FieldErrors): AppError {
  return new AppError('validation_failed', JSON.stringify(errors), { details: errors });
}

/** A 404, in the words of the framework. */
export function notFoundError(): AppError {
  return new AppError('not_found', 'Not found.');
}

/**
 * The options of a server whose API answers errors as Django REST Framework does: field errors as lists of sentences, any other
 * as `{ detail }`.
 */
export const drfErrors = {
  errorBody,
  errorTable: {
    validation_failed: { status: 400, code: 'invalid' },
    conflict: { status: 400, code: 'invalid' },
  },
  errorSchema: {
    description: 'The error: a sentence in `detail`, or lists of sentences by field.',
    type: 'object',
    properties: { detail: { type: 'string' } },
    additionalProperties: { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'object' }] },
  },
} satisfies Partial<HttpServerOptions>;

function errorBody(error: HttpError, request: ErrorRequest): unknown {
  if (error.details !== undefined) return error.details;
  const fields = Object.entries(error.fields);
  if (fields.length > 0) return Object.fromEntries(fields.map(([name, problem]) => [name, [problem]]));
  return { detail: detailOf(error, request) };
}

function detailOf(error: HttpError, { method = 'PATCH', headers = {} }: ErrorRequest): string {
  switch (error.status) {
    case 404:
      return 'Not found.';
    case 405:
      return `Method "${method}" not allowed.`;
    case 415:
      return `Unsupported media type "${headers['content-type'] ?? ''}" in request.`;
    case 429:
      return throttled(error.retryAfterSeconds);
    case 500:
      return 'A server error occurred.';
    default:
      return error.message;
  }
}

function throttled(waitSeconds: number | undefined): string {
  if (waitSeconds === undefined) return 'Request was throttled.';
  const seconds = Math.max(1, Math.ceil(waitSeconds));
  return `Request was throttled. Expected available in ${seconds} second${seconds === 1 ? '' : 's'}.`;
}
