import { AppError, type ErrorCode, toAppError } from '@octavo/core';
import type { ErrorRow, HttpError } from '../options.ts';
import { isMalformedForm } from '../requests/multipart.ts';

/** The HTTP status of each error code (RFC 9110, and nginx's 499 for a caller that went away). */
export const defaultErrorTable: Readonly<Record<ErrorCode, ErrorRow>> = {
  invalid_input: { status: 400, code: 'INVALID_INPUT' },
  unauthenticated: { status: 401, code: 'UNAUTHORIZED' },
  forbidden: { status: 403, code: 'FORBIDDEN' },
  not_found: { status: 404, code: 'NOT_FOUND' },
  method_not_allowed: { status: 405, code: 'METHOD_NOT_ALLOWED' },
  conflict: { status: 409, code: 'CONFLICT' },
  precondition_failed: { status: 412, code: 'PRECONDITION_FAILED' },
  too_large: { status: 413, code: 'PAYLOAD_TOO_LARGE' },
  range_not_satisfiable: { status: 416, code: 'RANGE_NOT_SATISFIABLE' },
  unsupported_media_type: { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' },
  validation_failed: { status: 422, code: 'VALIDATION_FAILED' },
  unprocessable: { status: 422, code: 'UNPROCESSABLE_CONTENT' },
  locked: { status: 423, code: 'LOCKED' },
  rate_limited: { status: 429, code: 'RATE_LIMITED' },
  canceled: { status: 499, code: 'CANCELED' },
  internal: { status: 500, code: 'INTERNAL_ERROR' },
  not_implemented: { status: 501, code: 'NOT_IMPLEMENTED' },
  unavailable: { status: 503, code: 'SERVICE_UNAVAILABLE' },
  timeout: { status: 504, code: 'UPSTREAM_TIMEOUT' },
};

/** An error with a status of its own: of a request that Node refused before it came to a route. */
export class ClientError extends AppError {
  readonly status: number;

  constructor(status: number, ...given: ConstructorParameters<typeof AppError>) {
    super(...given);
    this.status = status;
  }
}

export type ErrorTable = Readonly<Record<ErrorCode, ErrorRow>>;

/** Converts an error to its HTTP response. */
export function toHttpError(error: AppError, table: ErrorTable): HttpError {
  const row = table[error.code];
  const status = error instanceof ClientError ? error.status : row.status;
  return {
    status,
    code: error.reason ?? row.code,
    message: error.message,
    fields: error.fields,
    details: error.details,
    retryAfterSeconds: waitOf(error, status),
  };
}

function waitOf({ retryAfterSeconds }: AppError, status: number): number | undefined {
  if (retryAfterSeconds === Number.POSITIVE_INFINITY) return undefined;
  return retryAfterSeconds ?? (status === 503 || status === 429 ? 1 : undefined);
}

/**
 * Converts anything thrown inside Fastify to an `AppError`: Fastify's own errors about a request by their code or status, with
 * our messages; any other error becomes `internal`.
 */
export function fromFastify(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  // Fastify uses status 400 for the error of a connection that closes while its body is read.
  if (code === 'ECONNRESET' && statusCode === 400) return incompleteBody(error);
  if (isMalformedForm(error))
    return new AppError('invalid_input', 'The form is malformed.', { cause: error });
  if (typeof code !== 'string' || !code.startsWith('FST_')) return toAppError(error);
  const known = fastifyErrors[code] ?? fastifyStatuses[String(statusCode)];
  return known ? new AppError(known[0], known[1], { cause: error }) : toAppError(error);
}

/** The error of a request whose body was cut off. */
export function incompleteBody(cause: unknown): AppError {
  return new AppError('canceled', 'The request body is incomplete.', { cause });
}

type Known = readonly [ErrorCode, string];

const fastifyErrors: Readonly<Partial<Record<string, Known>>> = {
  FST_ERR_BAD_URL: ['invalid_input', 'The address is malformed.'],
  FST_ERR_MAX_PARAM_LENGTH: ['invalid_input', 'A part of the address is too long.'],
};

const fastifyStatuses: Readonly<Partial<Record<string, Known>>> = {
  400: ['invalid_input', 'The request is malformed.'],
  404: ['not_found', 'There is nothing at this address.'],
  413: ['too_large', 'The request body is too large.'],
  415: ['unsupported_media_type', 'The media type of the request body is not supported here.'],
};
