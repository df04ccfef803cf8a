import { measureCache } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { Tables } from '../tables.ts';
import { type LibraryIndex, largestLibraries, versionOf } from './store.ts';

const librariesMax = 50;
const preloadedMax = 10;

interface Entry<I> {
  readonly index: I;
  /** The version of the library that the index has; -1 before it was read. */
  version: number;
  syncing: Promise<void> | undefined;
}

export interface IndexCacheOptions<I extends LibraryIndex> {
  create(): I;
  /** Brings an index up to date with the documents of its library. */
  sync(library: number, index: I): Promise<void>;
}

function bytesOfLibraries(entries: ReadonlyMap<number, Entry<LibraryIndex>>): number {
  return entries.values().reduce((sum, { index }) => sum + index.bytes, 0);
}

/** The indexes of the libraries that were searched last, in memory. */
export class IndexCache<I extends LibraryIndex> {
  readonly #database: Database<Tables>;
  readonly #options: IndexCacheOptions<I>;
  readonly #entries = new Map<number, Entry<I>>();

  constructor(database: Database<Tables>, options: IndexCacheOptions<I>) {
    this.#database = database;
    this.#options = options;
    measureCache('vectors of libraries', this.#entries, bytesOfLibraries);
  }

  /** Reads the largest libraries before anybody asks. */
  async preload(): Promise<void> {
    for (const library of await largestLibraries(this.#database, preloadedMax)) await this.indexOf(library);
  }

  /** The index of a library as it is now. */
  async indexOf(library: number): Promise<I> {
    let entry = this.#entries.get(library);
    if (!entry || entry.index.isMostlyRemoved)
      entry = { index: this.#options.create(), version: -1, syncing: undefined };
    this.#entries.delete(library);
    this.#entries.set(library, entry);
    if (this.#entries.size > librariesMax) this.#entries.delete(this.#entries.keys().next().value as number);
    await this.#bringUpToDate(library, entry);
    return entry.index;
  }

  async #bringUpToDate(library: number, entry: Entry<I>): Promise<void> {
    await entry.syncing;
    const version = await versionOf(this.#database, library);
    if (version <= entry.version) return;
    entry.syncing ??= this.#options
      .sync(library, entry.index)
      .then(() => {
        entry.version = version;
      })
      .catch((error) => {
        // A part of a document may be there, which would count as all of it.
        this.#entries.delete(library);
        throw error;
      })
      .finally(() => {
        entry.syncing = undefined;
      });
    await entry.syncing;
    // Another search may have begun with an older version.
    if (entry.version < version) await this.#bringUpToDate(library, entry);
  }
}
