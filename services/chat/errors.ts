import { AppError, type ErrorCode, toAppError } from '@octavo/core';

/** One thing that is wrong with a request. */
export interface Detail {
  readonly path: string;
  readonly message: string;
  readonly allowed?: readonly string[];
}

/** A `validation_error` about one value of a request. */
export function invalidValue(path: string, message: string, allowed?: readonly string[]): AppError {
  const details: Detail[] = [{ path, message, ...(allowed && { allowed }) }];
  return new AppError('validation_failed', `${path} ${message}`, { details });
}

/** A caller asked too often, or for too much at once. */
export function rateLimited(message: string, retryAfterSeconds: number): AppError {
  return new AppError('rate_limited', message, { retryAfterSeconds });
}

/** The code of an error as clients see it. */
export function codeOf(error: unknown): string {
  const { code, reason } = toAppError(error);
  return reason ?? errorTable[code].code;
}

/** Returns true if the same request may succeed later. */
export function isRetryable(error: unknown): boolean {
  const { code } = toAppError(error);
  return ['rate_limited', 'unavailable', 'timeout', 'locked', 'internal', 'canceled'].includes(code);
}

/** Statuses and codes of the chat's own envelope. */
export const errorTable = {
  invalid_input: { status: 400, code: 'validation_error' },
  validation_failed: { status: 400, code: 'validation_error' },
  unauthenticated: { status: 401, code: 'unauthorized' },
  forbidden: { status: 403, code: 'forbidden' },
  not_found: { status: 404, code: 'not_found' },
  method_not_allowed: { status: 405, code: 'method_not_allowed' },
  conflict: { status: 409, code: 'duplicate' },
  locked: { status: 409, code: 'session_busy' },
  precondition_failed: { status: 412, code: 'precondition_failed' },
  too_large: { status: 413, code: 'payload_too_large' },
  unsupported_media_type: { status: 415, code: 'unsupported_media_type' },
  range_not_satisfiable: { status: 416, code: 'range_not_satisfiable' },
  unprocessable: { status: 422, code: 'unprocessable_document' },
  rate_limited: { status: 429, code: 'rate_limited' },
  canceled: { status: 499, code: 'canceled' },
  not_implemented: { status: 501, code: 'not_implemented' },
  internal: { status: 500, code: 'internal' },
  unavailable: { status: 503, code: 'not_ready' },
  timeout: { status: 504, code: 'timeout' },
} as const satisfies Record<ErrorCode, { status: number; code: string }>;

/** The body of every error except those of completions. */
export function errorBody(
  error: { code: string; message: string; fields: Readonly<Record<string, string>>; details: unknown },
  request: { readonly id: string },
) {
  const named = Object.entries(error.fields).map(([path, message]) => ({ path, message }));
  const details = (error.details as readonly Detail[] | undefined) ?? named;
  const { code, message } = error;
  return { success: false, error: { code, message, details }, request_id: request.id };
}
