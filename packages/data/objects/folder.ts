import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, readdir, rm, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, describeSystemError, newId } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
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

/** Opens a store in a folder, which is created if missing. Several processes of one machine may share it. */
export async function openFolderStore(folder: string): Promise<ObjectStore> {
  const store = new FolderStore(folder);
  try {
    await store.sweep();
  } catch (error) {
    await store[Symbol.asyncDispose]();
    throw error;
  }
  return store;
}

/**
 * Content is written to a temporary file, synced, and then linked to its key, which fails if the key is taken. So an object is complete
 * from the moment it has its key, also after a crash. Temporary files that a crash leaves are removed when they have not been written to
 * for an hour: at start, and each hour.
 */
class FolderStore implements ObjectStore {
  readonly #folder: string;
  readonly #incoming: string;
  readonly #sweeping: AsyncDisposable;

  constructor(folder: string) {
    this.#folder = folder;
    this.#incoming = join(folder, incomingName);
    // A failure shows in `ping` and in whatever uses the store.
    this.#sweeping = runEvery(sweepMs, () => this.sweep().catch(() => {}));
  }

  async put(content: AsyncIterable<Uint8Array>, { keys, signal }: PutOptions): Promise<StoredObject> {
    const path = join(this.#incoming, newId());
    await this.#openIncoming();
    try {
      const file = await this.#orUnavailable(open(path, 'wx', fileMode));
      try {
        await this.#writeAll(file, content, signal);
      } finally {
        await file.close();
      }
      return await this.#orUnavailable(this.#place(path, keys));
    } finally {
      await rm(path, { force: true });
    }
  }

  async list(folder: string): Promise<StoredObject[]> {
    const name = folder.replace(/\/$/, '');
    checkKey(name);
    const entries = await this.#orUnavailable(
      readdir(join(this.#folder, name), { withFileTypes: true }),
    ).catch((error) => this.#unlessMissing(error));
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
    const file = await this.#orUnavailable(open(join(this.#folder, key), readPlain)).catch((error) =>
      this.#unlessMissing(error),
    );
    if (!file) throw gone();
    try {
      if (objectOf(key, await this.#orUnavailable(file.stat({ bigint: true }))).entityTag !== entityTag)
        throw gone();
      yield* file.createReadStream({ ...range, autoClose: false, highWaterMark: readBytes });
    } finally {
      await file.close();
    }
  }

  async remove(key: string): Promise<boolean> {
    if (!(await this.find(key))) return false;
    const path = join(this.#folder, key);
    const isRemoved = await this.#orUnavailable(unlink(path).then(() => true)).catch(
      async (error) => (await this.#unlessMissing(error)) ?? false,
    );
    if (isRemoved) await this.#orUnavailable(syncFolder(dirname(path)));
    return isRemoved;
  }

  /** Writes a file, which finds a full disk. */
  async ping(): Promise<void> {
    await this.#openIncoming();
    const path = join(this.#incoming, newId());
    try {
      await this.#orUnavailable(writeFile(path, 'ping', { flag: 'wx', mode: fileMode }));
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Removes temporary files of crashed processes. Recent ones may belong to a running process. */
  async sweep(): Promise<void> {
    await this.#openIncoming();
    const names = await this.#orUnavailable(readdir(this.#incoming));
    for (const path of names.map((name) => join(this.#incoming, name))) {
      const stats = await lstat(path).catch(unlessMissing);
      if (stats && Date.now() - stats.mtimeMs > sweepMs) await rm(path, { force: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sweeping[Symbol.asyncDispose]();
  }

  async #openIncoming(): Promise<void> {
    await this.#orUnavailable(mkdir(this.#incoming, { recursive: true, mode: folderMode }));
  }

  async #writeAll(file: FileHandle, content: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void> {
    let sizeBytes = 0;
    for await (const bytes of content) {
      signal?.throwIfAborted();
      await this.#orUnavailable(file.writeFile(bytes));
      sizeBytes += bytes.length;
    }
    signal?.throwIfAborted();
    if (sizeBytes === 0) throw noContent();
    await this.#orUnavailable(file.sync());
  }

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
    const stats = await this.#orUnavailable(lstat(join(this.#folder, key), { bigint: true })).catch((error) =>
      this.#unlessMissing(error),
    );
    return stats?.isFile() && stats.size > 0n ? objectOf(key, stats) : undefined;
  }

  /** Waits for a file operation. Throws `unavailable` if it fails, because that is not the caller's fault. */
  async #orUnavailable<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof AppError) throw error;
      const cause = describeSystemError(error, this.#folder) ?? error;
      throw new AppError('unavailable', 'The object store cannot be used.', { cause });
    }
  }

  /** Undefined if there is no such file. Throws if the folder of the store is missing, too. */
  async #unlessMissing(error: unknown): Promise<undefined> {
    unlessMissing(error);
    await this.#orUnavailable(readdir(this.#folder));
  }
}

const incomingName = '.incoming';
const folderMode = 0o700;
const fileMode = 0o600;
const readBytes = 256 * 1024;
/** Interval at which temporary files are checked, and the time for which one is left alone after its last write. */
const sweepMs = 60 * 60 * 1000;
// Does not follow a symbolic link out of the folder.
const readPlain = constants.O_RDONLY | constants.O_NOFOLLOW;

/** False if the name is taken. */
async function linkNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Syncs a folder; without this, a crash of the machine could lose the name. */
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

/** Undefined if the error reports a missing file; throws any other error. */
function unlessMissing(error: unknown): undefined {
  let cause = error;
  while (cause instanceof AppError) cause = cause.cause;
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
  throw error;
}
