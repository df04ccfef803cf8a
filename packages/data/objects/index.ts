import type { S3Options } from './s3.ts';
import type { ObjectStore } from './store.ts';

export { openFolderStore } from './folder.ts';
export type { S3Options } from './s3.ts';
export { type SpillBudget, SpillBuffer, SpillOverflow } from './spill.ts';
export type { ByteRange, ObjectStore, PutOptions, StoredObject } from './store.ts';

/** Opens a store in an existing bucket. The S3 client is loaded only here, because that takes 0.1 s. */
export async function openS3Store(options: S3Options): Promise<ObjectStore> {
  const { S3Store } = await import('./s3.ts');
  return new S3Store(options);
}
