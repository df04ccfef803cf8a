import { S3ServiceException } from '@aws-sdk/client-s3';
import { AppError } from '@octavo/core';

/** Waits for a request. Throws `unavailable` if the server rejects it or does not respond. */
export async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const message =
      statusOf(error) === undefined
        ? 'The object store does not respond.'
        : 'The object store rejected the request.';
    throw new AppError('unavailable', message, { cause: error });
  }
}

/** Undefined if the server reports a missing object; throws any other error. */
export function unlessMissing(error: unknown): undefined {
  if (statusOf((error as AppError).cause) === 404) return undefined;
  throw error;
}

/** The HTTP status of the response behind an error; undefined if there was no response. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}
