import type { Database } from '@octavo/data';
import { EmbeddingFailure, type Embeddings } from '../../embeddings/index.ts';
import type { Tables } from '../../tables.ts';
import { IndexCache } from '../index-cache.ts';
import { syncDense } from '../store.ts';
import type { Match } from '../top-k.ts';
import { DenseIndex, type DenseScanner } from './index-of-vectors.ts';

export interface DenseRequest {
  readonly libraries: readonly number[];
  readonly only: readonly number[] | undefined;
  readonly limit: number;
}

/** Results of the vectors of a service, or of the encoder of this machine. */
export interface DenseFound {
  /** The nearest chunks to each question; undefined if nothing was compared. */
  readonly lists: readonly (readonly Match[])[] | undefined;
  /** Trust in the order of each list, 0 to 1. */
  readonly trusts: readonly number[];
  /** Number of documents with vectors. */
  readonly documentCount: number;
  /** Reason for an empty result, in words for the user. */
  readonly problem: string | undefined;
}

const byWords = 'Passages were found by their words.';

/** The number of documents in an index of words. */
interface Counted {
  readonly documentCount: number;
}

/** Returns true if all documents have vectors of the service, and these were searched. */
export function coversAllDocuments({ lists, documentCount }: DenseFound, words: readonly Counted[]): boolean {
  const documents = words.reduce((sum, index) => sum + index.documentCount, 0);
  return documentCount >= documents && (lists !== undefined || documents === 0);
}

/** Search by the vectors of a service or of the encoder of this machine, which may fail at any time. */
export class DenseSearch {
  readonly embeddings: Embeddings;
  readonly #libraries: IndexCache<DenseIndex>;

  constructor(database: Database<Tables>, scanner: DenseScanner, embeddings: Embeddings) {
    this.embeddings = embeddings;
    const model = embeddings.modelId;
    this.#libraries = new IndexCache(database, {
      create: () => new DenseIndex(scanner, embeddings.client.dimensions ?? 0),
      sync: (library, index) => syncDense(database, { library, model }, index),
    });
  }

  get model(): string {
    return this.embeddings.client.source.model;
  }

  /** True with an embedding service, which all documents get vectors of. */
  get isService(): boolean {
    return this.embeddings.client.source.provider === 'openai-compatible';
  }

  /** Sentences for the client about a result beside the indexes of words. */
  warningsFor(found: DenseFound, words: readonly Counted[]): string[] {
    if (found.problem !== undefined) return [found.problem];
    if (coversAllDocuments(found, words)) return [];
    return [`Some documents have no vectors of ${this.model} yet. They were found by their words.`];
  }

  async preload(): Promise<void> {
    if ((await this.embeddings.dimensions()) !== undefined) await this.#libraries.preload();
  }

  async nearest(questions: readonly string[], { libraries, only, limit }: DenseRequest): Promise<DenseFound> {
    const { client } = this.embeddings;
    this.embeddings.use();
    // Without a vector its length is unknown.
    const isEmpty = (await this.embeddings.dimensions()) === undefined;
    const indexes = isEmpty ? [] : await Promise.all(libraries.map((each) => this.#libraries.indexOf(each)));
    const documentCount = indexes.reduce((sum, index) => sum + index.documentCount, 0);
    const none = { lists: undefined, trusts: [], documentCount, problem: undefined };
    if (questions.some((question) => client.source.leavesOut(question)))
      return { ...none, problem: `${client.source.title} knows English only. ${byWords}` };
    if (indexes.every(({ size }) => size === 0)) return none;
    try {
      const vectors = await client.questions(questions);
      const wanted = only && new Set(only);
      const searches = vectors.map(async (vector) => {
        const found = await Promise.all(indexes.map((index) => index.nearest(vector, limit, wanted)));
        return found.flat().sort((one, other) => other.score - one.score);
      });
      const lists = await Promise.all(searches);
      const trusts = lists.map((list) =>
        client.source.trustIn(list.slice(0, limit).map(({ score }) => score)),
      );
      return { ...none, lists, trusts };
    } catch (error) {
      if (!(error instanceof EmbeddingFailure)) throw error;
      return { ...none, problem: `${client.source.title} ${error.message}. ${byWords}` };
    }
  }
}
