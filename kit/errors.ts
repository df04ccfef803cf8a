/** Why a request failed. HTTP, RPC and the command line each map these codes in one table. */
export type ErrorCode =
  | 'invalid_input'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'precondition_failed'
  | 'range_not_satisfiable'
  | 'too_large'
  | 'unsupported_media_type'
  | 'validation_failed'
  | 'rate_limited'
  | 'unavailable'
  | 'timeout'
  | 'canceled'
  | 'internal';

/** Messages by field name, as the caller wrote the name (`title`, `posts[17]`). */
export type Fields = Readonly<Record<string, string>>;

export interface AppErrorOptions {
  readonly fields?: Fields;
  /** A more specific code for clients, such as `INVALID_CREDENTIALS`. */
  readonly reason?: string;
  /** When to retry; becomes `Retry-After`. Infinity means never. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/**
 * The only error whose message and fields clients see.
 * Any other thrown error becomes `internal`, and its text is only logged.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly fields: Fields;
  readonly reason: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.fields = options.fields ?? {};
    this.reason = options.reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** The error itself if it is an {@link AppError}, else an `internal` one with it as `cause`. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError('internal', 'Something went wrong on our side.', { cause: error });
}

/** A `not_found` error: `notFound('post', 7)` has the message "post 7 does not exist". */
export function notFound(what: string, id: string | number): AppError {
  return new AppError('not_found', `${what} ${id} does not exist`);
}
