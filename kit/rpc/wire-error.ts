import { AppError } from '../errors.ts';
import { type ConnectCode, codeOfStatus, connectCodes, errorCodes } from './codes.ts';
import { type ErrorDetail, readDetails, writeDetails } from './error-details.ts';

/** A Connect error as JSON: the body of a failed unary call, and `error` in the end of a stream. */
export interface WireError {
  readonly code: ConnectCode;
  readonly message: string;
  readonly details: readonly ErrorDetail[];
}

/** An error as it was received. */
export interface ReceivedError {
  readonly error: AppError;
  /** The server says that it did nothing of what was asked, so that it may be asked of another. */
  readonly isRefusal: boolean;
}

/** An error as it goes over the wire; {@link fromWire} gives the same error back. */
export function toWire(
  error: AppError,
  options: { isRefusal?: boolean; code?: ConnectCode } = {},
): WireError {
  const { isRefusal = false, code = connectCodes[error.code] } = options;
  return { code, message: error.message, details: writeDetails(error, isRefusal) };
}

/**
 * The error that a response carries. `body` is the parsed JSON, whatever it is: ours with all its parts, another
 * Connect server's by its code, that of our HTTP server which let the call not in, or else the HTTP status speaks.
 * `retryAfter` is the header of that name.
 */
export function fromWire(body: unknown, status: number, retryAfter?: string): ReceivedError {
  const { code, message, details, error: answer } = (body ?? {}) as Record<string, unknown>;
  const connectCode =
    typeof code === 'string' && Object.hasOwn(errorCodes, code)
      ? (code as ConnectCode)
      : codeOfStatus(status);
  const atTheDoor =
    status === 503 ? textOf((answer as { message?: unknown } | undefined)?.message) : undefined;
  const text = textOf(message) ?? atTheDoor ?? `the RPC server answered ${connectCode}`;
  const { isRefusal = atTheDoor !== undefined, code: ownCode, ...found } = readDetailsQuietly(details);
  const retryAfterSeconds =
    found.retryAfterSeconds ?? (/^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined);
  const error = new AppError(ownCode ?? errorCodes[connectCode], text, { ...found, retryAfterSeconds });
  return { error, isRefusal };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function readDetailsQuietly(details: unknown): ReturnType<typeof readDetails> {
  if (!Array.isArray(details)) return {};
  try {
    return readDetails(details);
  } catch {
    return {};
  }
}
