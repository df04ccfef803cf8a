/** Why a request could not be served. One list for every edge; each edge has one table from it. */
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
  /** A finer name on the wire where the code's own is too coarse, such as `INVALID_CREDENTIALS`. */
  readonly reason?: string;
  /** When trying again makes sense; becomes `Retry-After`. Infinity says that it never does. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/**
 * The one error that callers may see: its message and fields are written for them.
 * Anything else that is thrown answers `internal`, and its text is only logged.
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

/** The error itself where it is an {@link AppError}, else an `internal` one that hides it (as `cause`). */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError('internal', 'Something went wrong on our side.', { cause: error });
}

/** A 404 in words: `notFound('post', 7)` says "post 7 does not exist". */
export function notFound(what: string, id: string | number): AppError {
  return new AppError('not_found', `${what} ${id} does not exist`);
}
