import { HeadObjectCommand, type HeadObjectCommandOutput, type S3Client } from '@aws-sdk/client-s3';
import { answered, unlessMissing } from './s3-errors.ts';
import type { StoredObject } from './store.ts';

/** What a server says of a key, whole object or not; nothing where the key is free. */
export function headOf(
  client: S3Client,
  at: { readonly Bucket: string; readonly Key: string },
): Promise<HeadObjectCommandOutput | undefined> {
  return answered(client.send(new HeadObjectCommand(at))).catch(unlessMissing);
}

/** Nothing for an empty object: it only keeps a key for one that is on its way. */
export function objectOf(
  key: string,
  said: { sizeBytes: number | undefined; modified: Date | undefined; tag: string | undefined },
): StoredObject | undefined {
  const { sizeBytes = 0, modified, tag = '' } = said;
  if (sizeBytes === 0) return undefined;
  return { key, sizeBytes, modifiedMs: modified?.getTime() ?? 0, entityTag: tag };
}

/** The whole object of a key. */
export async function findObject(
  client: S3Client,
  at: { readonly Bucket: string; readonly Key: string },
): Promise<StoredObject | undefined> {
  const head = await headOf(client, at);
  if (!head) return undefined;
  const { ContentLength: sizeBytes, LastModified: modified, ETag: tag } = head;
  return objectOf(at.Key, { sizeBytes, modified, tag });
}
