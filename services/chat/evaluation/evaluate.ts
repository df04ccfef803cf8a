import { createHash } from 'node:crypto';
import type { Database } from '@octavo/data';
import { extractiveAnswer } from '@octavo/reader';
import { insertParsed, knownLibraries, libraryId, presentFilenames } from '../documents/index.ts';
import type { EmbeddingsInUse } from '../embeddings/index.ts';
import { parseDocument } from '../extraction/index.ts';
import { type CrossEncoder, Retriever, type Strategy, strategyIds } from '../retrieval/index.ts';
import type { Tables } from '../tables.ts';
import type { LabelledDocument, LabelledSet } from './labelled-set.ts';
import { meanScores, type Scores, scoresOf } from './metrics.ts';

/** Number of chunks to read, so that ten documents are among them. */
const chunksMax = 50;

/** The scores of one strategy. */
export interface StrategyScores extends Scores {
  readonly strategy: Strategy;
  readonly reranked: boolean;
  readonly questions: number;
  readonly queriesPerSecond: number;
  /** Number of questions that were answered, and that were refused, without a model. */
  readonly answered: number;
  readonly refused: number;
  /** Number of questions with an `answer` in the set, and of those answered or refused rightly. */
  readonly judged: number;
  readonly right: number;
  /** Number of questions that were searched by words because an embedding service had no vectors for them, or ordered without a reranker that failed. */
  readonly fellBack: number;
}

interface EvaluationEngines {
  readonly libraries: readonly number[];
  readonly embeddings: EmbeddingsInUse;
  readonly crossEncoder?: CrossEncoder | undefined;
}

/** The scores of each strategy for a labelled set, about the documents of the libraries. */
export async function evaluateStrategies(
  database: Database<Tables>,
  { questions }: LabelledSet,
  { libraries, embeddings, crossEncoder }: EvaluationEngines,
): Promise<StrategyScores[]> {
  const crossEncoders = { current: async () => crossEncoder };
  await using retriever = new Retriever(database, { embeddings, crossEncoders });
  const results: StrategyScores[] = [];
  for (const strategy of strategyIds) {
    for (const rerank of [false, true]) {
      const startMs = performance.now();
      const all: Scores[] = [];
      let [fellBack, refused, judged, right] = [0, 0, 0, 0];
      for (const { text, grades, answer } of questions) {
        const request = { query: text, strategy, topK: chunksMax, rerank, libraries };
        const found = await retriever.search(request);
        const { ranked, warnings } = found;
        if (warnings.length > 0) fellBack++;
        const { answer: said } = extractiveAnswer(found);
        if (said.abstained) refused++;
        if (answer !== undefined) {
          judged++;
          if (answer === null ? said.abstained : !said.abstained && hasText(said.text, answer)) right++;
        }
        all.push(scoresOf([...new Set(ranked.map(({ source }) => source.source))], grades));
      }
      const queriesPerSecond = (1_000 * questions.length) / (performance.now() - startMs);
      results.push({
        strategy,
        reranked: rerank,
        questions: all.length,
        answered: all.length - refused,
        refused,
        judged,
        right,
        queriesPerSecond,
        fellBack,
        ...meanScores(all),
      });
    }
  }
  return results;
}

/** Without regard to case and space. */
function hasText(text: string, part: string): boolean {
  const plain = (each: string) => each.toLowerCase().replace(/\s+/g, ' ').trim();
  return plain(text).includes(plain(part));
}

/** The documents that questions name and that are not in the libraries, so that they count as not found. */
export async function missingDocuments(
  database: Database<Tables>,
  { questions }: LabelledSet,
  libraries: readonly number[],
): Promise<string[]> {
  const named = [...new Set(questions.flatMap(({ grades }) => [...grades.keys()]))];
  const present = await presentFilenames(database, libraries, named);
  return named.filter((name) => !present.has(name));
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
