/** Stored objects: a folder or S3. */
export { openFolderStore } from './objects/folder.ts';
export { openS3Store } from './objects/index.ts';
export type { S3Options } from './objects/s3.ts';
export { type SpillBudget, SpillBuffer, SpillOverflow } from './objects/spill.ts';
export type { ByteRange, ObjectStore, StoredObject } from './objects/store.ts';
