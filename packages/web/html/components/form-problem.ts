import { AppError, type ErrorCode, type Fields } from '@octavo/core';
import { count } from '../format.ts';

/** An error as a form shows it: beside the field that caused it, or above all fields. */
export interface FormProblem {
  /** The HTTP status of the response. */
  readonly status: number;
  /** Errors by field name, for {@link errorSummary} and {@link field}. */
  readonly errors: Fields;
  /** The message, if no field caused it. */
  readonly problem?: string;
}

/**
 * Returns the problem to show for an error that the user can correct. Throws any other error again.
 * @param fieldByReason the field that causes an error, by the error's reason
 */
export function formProblem(error: unknown, fieldByReason: Readonly<Record<string, string>>): FormProblem {
  if (!(error instanceof AppError)) throw error;
  const status = statuses[error.code];
  if (status === undefined) throw error;
  const field = fieldByReason[error.reason ?? ''];
  if (field === undefined && namesFields(error)) return { status, errors: error.fields };
  const text = error.retryAfterSeconds === undefined ? error.message : withWait(error);
  return field === undefined ? { status, errors: {}, problem: text } : { status, errors: { [field]: text } };
}

/** Returns true for an `AppError` with this reason. */
export function hasReason(error: unknown, reason: string): boolean {
  return error instanceof AppError && error.reason === reason;
}

const statuses: Partial<Readonly<Record<ErrorCode, number>>> = {
  invalid_input: 400,
  unauthenticated: 401,
  forbidden: 403,
  conflict: 409,
  validation_failed: 422,
  precondition_failed: 423,
  locked: 423,
  rate_limited: 429,
  unavailable: 503,
};

function namesFields({ code, fields }: AppError): boolean {
  return (code === 'validation_failed' || code === 'conflict') && Object.keys(fields).length > 0;
}

function withWait({ message, retryAfterSeconds = 0 }: AppError): string {
  const minutes = Math.ceil(retryAfterSeconds / 60);
  return message.replace(/Try again later\.$/, `Try again in ${count(minutes, 'minute')}.`);
}
