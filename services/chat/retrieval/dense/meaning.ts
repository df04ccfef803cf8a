import type { Database } from '@octavo/data';
import { meaningDimensions, meaningOf } from '@octavo/reader/meaning';
import type { Tables } from '../../tables.ts';
import { IndexCache } from '../index-cache.ts';
import { syncMeaning } from '../store.ts';
import type { Match } from '../top-k.ts';
import { DenseIndex, type DenseScanner } from './index-of-vectors.ts';
import type { DenseRequest } from './search.ts';

/** Texts below have little in common but the language. */
const cosineMin = 0.4;

/** Search by the built-in vectors of meaning, which know words that are alike. */
export class MeaningSearch {
  readonly #libraries: IndexCache<DenseIndex>;

  constructor(database: Database<Tables>, scanner: DenseScanner) {
    this.#libraries = new IndexCache(database, {
      create: () => new DenseIndex(scanner, meaningDimensions),
      sync: (library, index) => syncMeaning(database, library, index),
    });
  }

  preload(): Promise<void> {
    return this.#libraries.preload();
  }

  /** The nearest chunks to a question, nearest first; none if it has no word that is known. */
  async nearest(question: string, { libraries, only, limit }: DenseRequest): Promise<Match[]> {
    const vector = meaningOf(question);
    if (vector.length === 0) return [];
    const indexes = await Promise.all(libraries.map((each) => this.#libraries.indexOf(each)));
    const wanted = only && new Set(only);
    const found = await Promise.all(indexes.map((index) => index.nearest(vector, limit, wanted)));
    const matches = found.flat().sort((one, other) => other.score - one.score || one.id - other.id);
    return matches.filter(({ score }) => score >= cosineMin).slice(0, limit);
  }
}
