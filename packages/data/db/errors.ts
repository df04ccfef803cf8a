import { AppError } from '@octavo/core';

/** A `conflict` that names the columns which must be unique. */
export function uniqueConflict(columns: readonly string[], cause: unknown): AppError {
  const fields = Object.fromEntries(columns.map((column) => [column, 'is already taken']));
  const what = columns.length > 0 ? columns.join(', ') : 'this';
  return new AppError('conflict', `${what} is already taken`, { fields, cause });
}

/** A `conflict` for a row that refers to a missing row, or that other rows still refer to. */
export function referenceConflict(cause: unknown): AppError {
  return new AppError('conflict', 'this refers to something that does not exist, or is still in use', {
    cause,
  });
}

/** An `unavailable` that asks the caller to try again in a second. */
export function databaseUnavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'the database cannot be used at the moment', {
    retryAfterSeconds: 1,
    cause,
  });
}

/**
 * A write that may have been carried out or not: the connection was lost before the database confirmed it. A caller that repeats it should be
 * able to tell.
 */
export class UnknownOutcome extends AppError {
  constructor(cause: unknown) {
    super(
      'timeout',
      'The database did not confirm the change. It may have been saved or not: check before you repeat it.',
      {
        cause,
      },
    );
  }
}

/**
 * Reads what a write that was committed has left, for its response. If the database fails now, the write was carried out, which `unavailable`
 * would deny; throws {@link UnknownOutcome} instead.
 */
export async function afterWrite<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw error instanceof AppError && error.code === 'unavailable' ? new UnknownOutcome(error) : error;
  }
}

/** An `internal` error: trying again does not help. */
export function brokenDatabase(cause: unknown): AppError {
  return new AppError('internal', 'Something went wrong on our side.', { cause });
}

/** The error of restoring over rows without `overwrite`. */
export function notEmpty(target: string): AppError {
  return new AppError('conflict', `${target} is not empty: restoring would replace what it holds`);
}

/** The error of restoring from a file that is something else or not whole. */
export function notABackup(file: string, cause?: unknown): AppError {
  return new AppError('invalid_input', `${file} is not a whole backup of this kind of database`, { cause });
}

/** The error of using a database inside one of its own `write`s. */
export function outerHandleError(): Error {
  return new Error(
    'inside database.write use the session it gives: the database itself would not see its changes',
  );
}
