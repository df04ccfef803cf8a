import { AppError, type ErrorCode } from '@octavo/core';
import type { RouteOptions } from 'fastify';
import { headersTooLarge, lateRequest } from '../requests/client-errors.ts';
import type { ErrorResponses } from '../responses/error-responses.ts';

/** An error that a route can respond with: a code, or an error with message, reason and fields. */
export type DocumentedError = ErrorCode | AppError;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Further errors that the route can respond with, for `/openapi.json`: codes, or errors with their reason and fields. */
    errors?: readonly DocumentedError[];
  }
}

interface RouteConfig {
  readonly invalidBody?: 'validation_failed' | 'invalid_input';
  readonly errors?: readonly DocumentedError[];
  /** Changes are written to a database, which may not confirm them. */
  readonly hasDatabase?: boolean;
}

const samples: Readonly<Record<ErrorCode, [message: string, fields?: Record<string, string>]>> = {
  invalid_input: ['page must be a whole number', { page: 'must be a whole number' }],
  unauthenticated: ['A bearer token is required.'],
  forbidden: ['You may not do this.'],
  not_found: ['There is nothing at this address.'],
  method_not_allowed: ['PATCH is not supported here.'],
  conflict: ['It already exists.'],
  precondition_failed: ['It was changed in the meantime.'],
  range_not_satisfiable: ['The range is outside the file.'],
  too_large: ['The request body must be at most 262144 bytes.'],
  unsupported_media_type: ['The request body must be application/json.'],
  validation_failed: ['title is required', { title: 'is required' }],
  unprocessable: ['The file cannot be read.'],
  locked: ['It is locked. Try again later.'],
  rate_limited: ['Too many requests. Try again later.'],
  unavailable: ['The server is overloaded. Try again shortly.'],
  timeout: ['The request took too long.'],
  canceled: ['The client closed the connection.'],
  not_implemented: ['This is not supported.'],
  internal: ['Something went wrong on our side.'],
};

/** The errors that follow from the input of a route, and those that it lists. */
export function errorsOf(
  { method, schema = {} }: Pick<RouteOptions, 'method' | 'schema'>,
  config: RouteConfig,
): readonly DocumentedError[] {
  const { invalidBody = 'validation_failed', errors = [], hasDatabase = false } = config;
  const implied: DocumentedError[] = ['invalid_input', headersTooLarge, 'internal', 'unavailable'];
  const { security = [] } = schema as { security?: readonly object[] };
  const isSecured = security.length > 0 && security.every((way) => Object.keys(way).length > 0);
  // A route that lists its own reasons for 401 has no others.
  if (isSecured && !errors.some(isUnauthenticated)) implied.push('unauthenticated', 'forbidden');
  // A body is read before a handler that ignores it.
  if (method !== 'GET') implied.push(lateRequest, 'too_large', 'unsupported_media_type');
  if (method !== 'GET' && hasDatabase) implied.push('timeout');
  if (schema.body) implied.push(invalidBody);
  return [...implied, ...errors];
}

function isUnauthenticated(error: DocumentedError): boolean {
  return typeof error !== 'string' && error.code === 'unauthenticated';
}

/** An error as it is sent: status, code, and the whole body as an example. */
export function describeErrors(
  errors: readonly DocumentedError[],
  responses: ErrorResponses,
): { status: string; code: string; error: unknown }[] {
  return errors.map((each) => {
    const error = typeof each === 'string' ? sampleOf(each) : each;
    const { status, code, body } = responses.describe(error, '5f0c8c1e-6a5e-4a53-9d0e-0c1a4c1d2f3b');
    return { status: String(status), code, error: body };
  });
}

function sampleOf(code: ErrorCode): AppError {
  const [message, fields] = samples[code];
  return new AppError(code, message, { fields });
}
