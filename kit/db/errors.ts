import { AppError } from '../errors.ts';

/** A `conflict` that names the columns which must be unique. */
export function uniqueConflict(columns: readonly string[], cause: unknown): AppError {
  const fields = Object.fromEntries(columns.map((column) => [column, 'is already taken']));
  const what = columns.length > 0 ? columns.join(', ') : 'this';
  return new AppError('conflict', `${what} is already taken`, { fields, cause });
}

/** A `conflict` for a row that refers to nothing, or that others still refer to. */
export function referenceConflict(cause: unknown): AppError {
  return new AppError('conflict', 'this refers to something that does not exist, or is still in use', {
    cause,
  });
}

/** An `unavailable` that asks to come back in a second. */
export function databaseUnavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'the database cannot be used at the moment', {
    retryAfterSeconds: 1,
    cause,
  });
}

/** What restoring over rows throws, unless that is wanted. */
export function notEmpty(target: string): AppError {
  return new AppError('conflict', `${target} is not empty: restoring would replace what it holds`);
}

/** What restoring from another file throws. */
export function notABackup(file: string, cause?: unknown): AppError {
  return new AppError('invalid_input', `${file} is not a whole backup of this kind of database`, { cause });
}

/** What using the outer database inside one of its own `write`s throws. */
export function outerHandleError(): Error {
  return new Error(
    'inside database.write use the session it gives: the database itself would not see its changes',
  );
}

/** Passes the values on, and what goes wrong as `translate` makes it. */
export async function* translatingErrors<T>(
  source: AsyncIterable<T>,
  translate: (error: unknown) => unknown,
): AsyncGenerator<T> {
  try {
    yield* source;
  } catch (error) {
    throw translate(error);
  }
}
