import { createHash } from 'node:crypto';
import type { Database } from '#kit/db/index.ts';
import { insertParsed, knownLibraries, libraryId } from '../documents/index.ts';
import type { Embeddings } from '../embeddings/index.ts';
import { parseDocument } from '../extraction/index.ts';
import { Retriever, type Strategy, strategyIds } from '../retrieval/index.ts';
import type { Tables } from '../tables.ts';
import type { LabelledDocument, LabelledSet } from './labelled-set.ts';
import { meanScores, type Scores, scoresOf } from './metrics.ts';

/** How many chunks are looked at, so that ten documents are among them. */
const chunksMax = 50;

/** The scores of one strategy. */
export interface StrategyScores extends Scores {
  readonly strategy: Strategy;
  readonly reranked: boolean;
  readonly questions: number;
  readonly queriesPerSecond: number;
  /** How many questions an embedding service had no vectors for, so that their words were searched for. */
  readonly fellBack: number;
}

/** The scores of each strategy for a labelled set, about the documents of the libraries. */
export async function evaluateStrategies(
  database: Database<Tables>,
  { questions }: LabelledSet,
  { libraries, embeddings }: { libraries: readonly number[]; embeddings?: Embeddings | undefined },
): Promise<StrategyScores[]> {
  await using retriever = new Retriever(database, embeddings);
  const results: StrategyScores[] = [];
  for (const strategy of strategyIds) {
    for (const rerank of [false, true]) {
      const startMs = performance.now();
      const all: Scores[] = [];
      let fellBack = 0;
      for (const { text, grades } of questions) {
        const request = { query: text, strategy, topK: chunksMax, rerank, libraries };
        const { ranked, warnings } = await retriever.search(request);
        if (warnings.length > 0) fellBack++;
        all.push(scoresOf([...new Set(ranked.map(({ source }) => source.source))], grades));
      }
      const queriesPerSecond = (1_000 * questions.length) / (performance.now() - startMs);
      results.push({
        strategy,
        reranked: rerank,
        questions: all.length,
        queriesPerSecond,
        fellBack,
        ...meanScores(all),
      });
    }
  }
  return results;
}

/** The library that everybody's questions are answered from. */
export function sharedLibraries(database: Database<Tables>): Promise<number[]> {
  return knownLibraries(database, ['shared']);
}

const batchSize = 100;

/** Indexes the documents of a labelled set, as if each had been uploaded as a text file, and returns their library. */
export async function indexSet(
  database: Database<Tables>,
  documents: readonly LabelledDocument[],
): Promise<number> {
  const library = await libraryId(database, 'shared');
  for (let first = 0; first < documents.length; first += batchSize) {
    const batch = documents.slice(first, first + batchSize);
    await Promise.all(batch.map((document) => indexOne(database, library, document)));
  }
  return library;
}

async function indexOne(
  database: Database<Tables>,
  library: number,
  { id, text }: LabelledDocument,
): Promise<void> {
  const bytes = Buffer.from(text);
  const mediaType = 'text/plain';
  const sha256 = createHash('sha256').update(id).digest('hex');
  const given = { library, owner: 'public', session: null, filename: id, mediaType, sha256, bytes };
  const request = { bytes, filename: 'document.txt', mediaType, library, dialect: database.dialect };
  await insertParsed(database, { ...given, tags: [], warnings: [] }, parseDocument(request));
}
