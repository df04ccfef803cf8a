import { basename } from 'node:path';

/** Reason of a failed request. HTTP, RPC and the command line each map these codes in one table. */
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
  | 'unprocessable'
  | 'validation_failed'
  | 'locked'
  | 'rate_limited'
  | 'unavailable'
  | 'timeout'
  | 'canceled'
  | 'not_implemented'
  | 'internal';

/** Messages by field name, as the caller wrote the name (`title`, `posts[17]`). */
export type Fields = Readonly<Record<string, string>>;

export interface AppErrorOptions {
  readonly fields?: Fields;
  /** Errors in the form of an API that does not use `fields`: lists of sentences, nested objects. */
  readonly details?: unknown;
  /** A more specific code for clients, such as `INVALID_CREDENTIALS`. */
  readonly reason?: string;
  /** Time to retry; becomes `Retry-After`. Infinity means never. */
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
  readonly details: unknown;
  readonly reason: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.fields = options.fields ?? {};
    this.details = options.details;
    this.reason = options.reason;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/**
 * The error itself if it is an {@link AppError}; `unavailable` if this process may open no more files, which passes; else an `internal`
 * one with it as `cause`.
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (hasTooManyFiles(error)) {
    return new AppError(
      'unavailable',
      'The server has too many open files and connections. Try again shortly.',
      {
        retryAfterSeconds: 1,
        cause: error,
      },
    );
  }
  return new AppError('internal', 'Something went wrong on our side.', { cause: error });
}

/**
 * Returns true if an error, or its cause, comes from the limit of open files. A thread that cannot start says so in its message
 * only.
 */
function hasTooManyFiles(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    const reason = code === 'ERR_WORKER_INIT_FAILED' ? message : code;
    if (/\b(?:EMFILE|ENFILE)\b/.test(reason)) return true;
  }
  return false;
}

/** A `not_found` error: `notFound('post', 7)` has the message "post 7 does not exist". */
export function notFound(what: string, id: string | number): AppError {
  return new AppError('not_found', `${what} ${id} does not exist`);
}

/** Remedies for the errors of the operating system (`errno` of POSIX) that a user of this machine can fix. */
const remedies: Readonly<Record<string, string>> = {
  EACCES: 'is not permitted: give its folder to the user that runs this',
  EPERM: 'is not permitted: give its folder to the user that runs this',
  EROFS: 'is on a read-only file system: choose a folder that can be written',
  ENOSPC: 'has no space left on its disk: free some',
  EDQUOT: 'exceeds the disk quota of this user: free some space',
  EMFILE: 'could not be opened, because this process has too many open files: raise the limit (ulimit -n)',
  ENFILE: 'could not be opened, because this machine has too many open files: raise its limit',
  ENOTDIR: 'goes through a file where a folder is expected: choose another folder',
  EEXIST: 'is a file where a folder is expected: choose another folder',
  EISDIR: 'is a folder where a file is expected: move it away, or choose another file',
  ELOOP: 'is a link that leads to itself: correct it',
  // What Node says if the folder above it is on a read-only file system, too.
  'mkdir ENOENT': 'cannot be created: check that the folder above it exists and can be written',
  EIO: 'cannot be read from or written to its disk: check the disk',
};

/**
 * A file or folder that this machine does not give us. The message names its path and what to do, so it is for the command line and for
 * logs only: throw it where no client is, or as the `cause` of an error.
 */
export class FileProblem extends AppError {
  /** The message with the bare name of the file, for readiness. */
  readonly summary: string;

  constructor(path: string, remedy: string, cause: unknown) {
    super('unavailable', `${path} ${remedy}`, { cause });
    this.summary = `${basename(path)} ${remedy}`;
  }
}

/**
 * Describes an error, if it or its cause comes from the operating system. `path` names the file if the error does not, as that
 * of a failed write.
 */
export function describeSystemError(error: unknown, path?: string): FileProblem | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof FileProblem) return cause;
    const { code = '', path: own = path, syscall = '' } = cause as NodeJS.ErrnoException;
    const remedy = remedies[`${syscall} ${code}`] ?? remedies[code];
    if (remedy === undefined) continue;
    return new FileProblem(own ?? `what "${syscall}" needs`, `${remedy} (${code})`, error);
  }
  return undefined;
}

/** Describes an error for readiness, without paths of this machine and without the text of foreign errors. */
export function problemOf(error: unknown): string {
  const problem = describeSystemError(error);
  if (problem) return problem.summary;
  return error instanceof AppError ? error.message : 'does not respond';
}
