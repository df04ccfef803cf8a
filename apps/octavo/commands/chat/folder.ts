import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { constants, lstat, open, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { FolderError, type FolderFile, isLeftOut } from '@octavo/chat/folder';

const readsMax = 3;
const readAgainMs = 300;

interface LocalFile extends FolderFile {
  /** Changes whenever the file does. */
  readonly version: string;
}

/** The files of a folder by their paths. Links are not followed. */
export interface Folder {
  readonly files: readonly LocalFile[];
  /** Reasons why parts of it are not in the list. */
  readonly unreadable: readonly string[];
  /** Changes whenever a file does. */
  readonly version: string;
}

/** Lists a folder again and again, and reads only those files again that changed. */
export class FolderReader {
  readonly #root: string;
  #hashes = new Map<string, string>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Throws if the folder itself cannot be read. */
  async list(signal: AbortSignal): Promise<Folder> {
    const files: LocalFile[] = [];
    const unreadable: string[] = [];
    const known = this.#hashes;
    this.#hashes = new Map();
    const folders = [''];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      try {
        for await (const entry of await opendir(join(this.#root, folder))) {
          signal.throwIfAborted();
          const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
          if (isLeftOut(entry.name)) continue;
          if (entry.isDirectory()) folders.push(path);
          if (entry.isFile()) files.push(await this.#fileAt(path, known));
        }
      } catch (error) {
        signal.throwIfAborted();
        const { code, message } = error as NodeJS.ErrnoException;
        if (folder === '') throw new FolderError(message);
        // It was deleted after it was listed.
        if (code !== 'ENOENT') unreadable.push(message);
      }
    }
    files.sort((a, b) => (a.path < b.path ? -1 : 1));
    return { files, unreadable, version: JSON.stringify([files.map(({ version }) => version), unreadable]) };
  }

  async #fileAt(path: string, known: ReadonlyMap<string, string>): Promise<LocalFile> {
    const place = join(this.#root, path);
    const stats = await lstat(place, { bigint: true });
    const version = `${path} ${versionOf(stats)}`;
    const keep = (sha256: string) => {
      this.#hashes.set(version, sha256);
      return sha256;
    };
    const former = known.get(version);
    if (former !== undefined) keep(former);
    return {
      path,
      version,
      size: Number(stats.size),
      read: () => readWhole(place),
      hash: async () =>
        former ??
        keep(
          createHash('sha256')
            .update(await readWhole(place))
            .digest('hex'),
        ),
    };
  }
}

/** Reads a file that does not change in the meantime. Throws a `FolderError`. */
async function readWhole(place: string): Promise<Uint8Array<ArrayBuffer>> {
  for (let read = 1; ; read++) {
    const bytes = await readOnce(place).catch((error: Error) => {
      throw new FolderError(error.message);
    });
    if (bytes) return bytes;
    if (read === readsMax) throw new FolderError('The file changes while it is read.');
    await setTimeout(readAgainMs);
  }
}

async function readOnce(place: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  await using file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW);
  const before = versionOf(await file.stat({ bigint: true }));
  const bytes = await file.readFile();
  const after = versionOf(await file.stat({ bigint: true }));
  return before === after ? bytes : undefined;
}

function versionOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs].join(' ');
}
