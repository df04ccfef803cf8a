import type { S3Options } from './options.ts';
import type { ObjectStore } from './store.ts';

export { openFolderStore } from './folder.ts';
export type { S3Options } from './options.ts';
export { type SpillBudget, SpillBuffer, SpillOverflow } from './spill.ts';
export type { ByteRange, ObjectStore, PutOptions, StoredObject } from './store.ts';

/** A store in a bucket that exists. Its client is loaded only here, since that takes a tenth of a second. */
export async function openS3Store(options: S3Options): Promise<ObjectStore> {
  const { S3Store } = await import('./s3.ts');
  return new S3Store(options);
}
