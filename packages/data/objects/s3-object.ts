import { HeadObjectCommand, type HeadObjectCommandOutput, type S3Client } from '@aws-sdk/client-s3';
import { orUnavailable, unlessMissing } from './s3-errors.ts';
import type { StoredObject } from './store.ts';

/** Longest time of a request without content, with all its attempts, in milliseconds. */
export const responseTimeoutMs = 10_000;

/** The options of a request without content: it fails after {@link responseTimeoutMs}, or when the signal aborts. */
export function inTime(signal: AbortSignal): { readonly abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.any([signal, AbortSignal.timeout(responseTimeoutMs)]) };
}

/** The head of an object, complete or reserved; undefined if the key is free. */
export function headOf(
  client: S3Client,
  at: { readonly Bucket: string; readonly Key: string },
  signal: AbortSignal,
): Promise<HeadObjectCommandOutput | undefined> {
  return orUnavailable(client.send(new HeadObjectCommand(at), inTime(signal))).catch(unlessMissing);
}

/** Undefined for an empty object, which only reserves a key for an upload in progress. */
export function objectOf(
  key: string,
  head: { sizeBytes: number | undefined; modified: Date | undefined; tag: string | undefined },
): StoredObject | undefined {
  const { sizeBytes = 0, modified, tag = '' } = head;
  if (sizeBytes === 0) return undefined;
  return { key, sizeBytes, modifiedMs: modified?.getTime() ?? 0, entityTag: tag };
}

/** The complete object of a key. */
export async function findObject(
  client: S3Client,
  at: { readonly Bucket: string; readonly Key: string },
  signal: AbortSignal,
): Promise<StoredObject | undefined> {
  const head = await headOf(client, at, signal);
  if (!head) return undefined;
  const { ContentLength: sizeBytes, LastModified: modified, ETag: tag } = head;
  return objectOf(at.Key, { sizeBytes, modified, tag });
}
