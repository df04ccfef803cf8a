import { AppError } from '@octavo/core';

/** Creates the error for a document that cannot be read. */
export function unreadable(message: string, cause?: unknown): AppError {
  return new AppError('unprocessable', message, { cause });
}
