import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '../errors.ts';
import { newId } from '../ids.ts';
import {
  allTaken,
  type ByteRange,
  checkKey,
  gone,
  newestFirst,
  noContent,
  type ObjectStore,
  type PutOptions,
  type StoredObject,
} from './store.ts';

/** A store in a folder, for one machine; processes may share it. The folder is made where it is missing. */
export async function openFolderStore(folder: string): Promise<ObjectStore> {
  const store = new FolderStore(folder);
  await store.sweep();
  return store;
}

/**
 * Content is written aside, brought to the disk, and then linked to its key, which fails where the key is taken: so an object is whole under its
 * key from the first moment, also after a crash. What crashes left aside is swept away a day later.
 */
class FolderStore implements ObjectStore {
  readonly #folder: string;
  readonly #aside: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#aside = join(folder, asideName);
  }

  async put(content: AsyncIterable<Uint8Array>, { keys, signal }: PutOptions): Promise<StoredObject> {
    const path = join(this.#aside, newId());
    await known(mkdir(this.#aside, { recursive: true, mode: folderMode }));
    try {
      const file = await known(open(path, 'wx', fileMode));
      try {
        await writeAll(file, content, signal);
      } finally {
        await file.close();
      }
      return await known(this.#place(path, keys));
    } finally {
      await rm(path, { force: true });
    }
  }

  async list(folder: string): Promise<StoredObject[]> {
    const name = folder.replace(/\/$/, '');
    checkKey(name);
    const entries = await known(readdir(join(this.#folder, name), { withFileTypes: true })).catch((error) =>
      this.#unlessThere(error),
    );
    const keys = (entries ?? []).filter((entry) => entry.isFile()).map((entry) => `${name}/${entry.name}`);
    const found = await Promise.all(keys.map((key) => this.#stat(key)));
    return found.filter((object) => object !== undefined).sort(newestFirst);
  }

  find(key: string): Promise<StoredObject | undefined> {
    checkKey(key);
    return this.#stat(key);
  }

  async *read({ key, entityTag }: StoredObject, range?: ByteRange): AsyncGenerator<Uint8Array> {
    checkKey(key);
    const file = await known(open(join(this.#folder, key), readPlain)).catch((error) =>
      this.#unlessThere(error),
    );
    if (!file) throw gone();
    try {
      if (objectOf(key, await known(file.stat({ bigint: true }))).entityTag !== entityTag) throw gone();
      yield* file.createReadStream({ ...range, autoClose: false, highWaterMark: readBytes });
    } finally {
      await file.close();
    }
  }

  async ping(): Promise<void> {
    await known(mkdir(this.#aside, { recursive: true, mode: folderMode }));
  }

  /** Removes what crashed processes left aside; what was touched of late may belong to a living one. */
  async sweep(): Promise<void> {
    await this.ping();
    const names = await known(readdir(this.#aside));
    for (const path of names.map((name) => join(this.#aside, name))) {
      const stats = await lstat(path).catch(unlessThere);
      if (stats && Date.now() - stats.mtimeMs > sweepAfterMs) await rm(path, { force: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #place(from: string, keys: Iterable<string>): Promise<StoredObject> {
    for (const key of keys) {
      checkKey(key);
      const to = join(this.#folder, key);
      await mkdir(dirname(to), { recursive: true, mode: folderMode });
      if (!(await linkNew(from, to))) continue;
      await syncFolder(dirname(to));
      return objectOf(key, await lstat(to, { bigint: true }));
    }
    throw allTaken();
  }

  async #stat(key: string): Promise<StoredObject | undefined> {
    const stats = await known(lstat(join(this.#folder, key), { bigint: true })).catch((error) =>
      this.#unlessThere(error),
    );
    return stats?.isFile() && stats.size > 0n ? objectOf(key, stats) : undefined;
  }

  /** Nothing where there is no such file; without its folder the store knows of none. */
  async #unlessThere(error: unknown): Promise<undefined> {
    unlessThere(error);
    await known(readdir(this.#folder));
  }
}

const asideName = '.incoming';
const folderMode = 0o700;
const fileMode = 0o600;
const readBytes = 256 * 1024;
const sweepAfterMs = 24 * 60 * 60 * 1000;
// A link that somebody put there is not followed out of the folder.
const readPlain = constants.O_RDONLY | constants.O_NOFOLLOW;

async function writeAll(
  file: FileHandle,
  content: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<void> {
  let sizeBytes = 0;
  for await (const bytes of content) {
    signal?.throwIfAborted();
    await known(file.writeFile(bytes));
    sizeBytes += bytes.length;
  }
  signal?.throwIfAborted();
  if (sizeBytes === 0) throw noContent();
  await known(file.sync());
}

/** False where the name is taken. */
async function linkNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Without this a crash of the machine could forget the name. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function objectOf(key: string, { size, mtimeNs, mtimeMs }: BigIntStats): StoredObject {
  const entityTag = `"${mtimeNs.toString(36)}-${size.toString(36)}"`;
  return { key, sizeBytes: Number(size), modifiedMs: Number(mtimeMs), entityTag };
}

/** What the file system refuses is the store's failure, not the caller's. */
async function known<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('unavailable', 'The object store cannot be used.', { cause: error });
  }
}

/** Nothing where there is no such file. */
function unlessThere(error: unknown): undefined {
  const cause = error instanceof AppError ? error.cause : error;
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
  throw error;
}
