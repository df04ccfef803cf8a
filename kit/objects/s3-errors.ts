import { S3ServiceException } from '@aws-sdk/client-s3';
import { AppError } from '../errors.ts';

/** What a server refuses, or does not answer, as the store's failure. */
export async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const message =
      statusOf(error) === undefined ? 'The object store does not answer.' : 'The object store refuses.';
    throw new AppError('unavailable', message, { cause: error });
  }
}

/** Nothing where the server said that there is no such object. */
export function unlessMissing(error: unknown): undefined {
  if (statusOf((error as AppError).cause) === 404) return undefined;
  throw error;
}

/** The status of the answer that an error stands for; none where there was no answer. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
}
