import type { Database } from '#kit/db/index.ts';
import type { Tables } from '../tables.ts';
import { largestLibraries, syncVectors, versionOf } from './store.ts';
import { VectorIndex } from './vectors.ts';

const librariesMax = 50;
const preloadedMax = 10;

interface Entry {
  readonly index: VectorIndex;
  /** The version of the library that the index has; -1 before it was read. */
  version: number;
  syncing: Promise<void> | undefined;
}

/** The vectors of the libraries that were searched last, in memory. */
export class Libraries {
  readonly #database: Database<Tables>;
  readonly #entries = new Map<number, Entry>();

  constructor(database: Database<Tables>) {
    this.#database = database;
  }

  /** Reads the largest libraries before anybody asks. */
  async preload(): Promise<void> {
    for (const library of await largestLibraries(this.#database, preloadedMax)) await this.vectorsOf(library);
  }

  /** The vectors of a library as it is now. */
  async vectorsOf(library: number): Promise<VectorIndex> {
    let entry = this.#entries.get(library);
    if (!entry || entry.index.isMostlyRemoved)
      entry = { index: new VectorIndex(), version: -1, syncing: undefined };
    this.#entries.delete(library);
    this.#entries.set(library, entry);
    if (this.#entries.size > librariesMax) this.#entries.delete(this.#entries.keys().next().value as number);
    await this.#bringUpToDate(library, entry);
    return entry.index;
  }

  async #bringUpToDate(library: number, entry: Entry): Promise<void> {
    await entry.syncing;
    const version = await versionOf(this.#database, library);
    if (version <= entry.version) return;
    entry.syncing ??= syncVectors(this.#database, library, entry.index)
      .then(() => {
        entry.version = version;
      })
      .finally(() => {
        entry.syncing = undefined;
      });
    await entry.syncing;
    // Another search may have begun with an older version.
    if (entry.version < version) await this.#bringUpToDate(library, entry);
  }
}
