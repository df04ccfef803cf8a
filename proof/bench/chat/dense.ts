import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { termsOf } from '@octavo/data/terms';
import { meaningDimensions, meaningOf } from '@octavo/reader/meaning';
import { embeddingService, openEmbeddings } from '../../../services/chat/embeddings/index.ts';
import { readLabelledSet } from '../../../services/chat/evaluation/index.ts';
import { meanScores, scoresOf } from '../../../services/chat/evaluation/metrics.ts';
import { Retriever } from '../../../services/chat/retrieval/index.ts';
import { denseShares } from '../../../services/chat/retrieval/search.ts';
import { startEmbeddings } from '../../../services/chat/testing-embeddings.ts';
import { openCorpus, sample } from '../../../training/retrieval/corpus.ts';

const names = ['cranfield', 'cookdocs', 'squad20_dev'];
const dimensions = 768;
const shares = [0, 0.4, 0.6];

/**
 * Measures the best weight for the vectors of an embedding service beside the words. There is no such model here, so one is
 * simulated: the vector of a text has a part for its words, a part that the questions share which it answers by the labels of
 * the set, and noise. The more of the second, the better the model. Its errors are then partly those of words too, as with real
 * models.
 */
export async function measureDense(folder: string, questionsMax: number): Promise<void> {
  for (const name of names) {
    for (const knowledge of ['words', 0.25, 0.6] as const)
      await measureWith(folder, name, { knowledge, questionsMax });
  }
}

async function measureWith(
  folder: string,
  name: string,
  { knowledge, questionsMax }: { knowledge: number | 'words'; questionsMax: number },
): Promise<void> {
  const { documents = [] } = await readLabelledSet(join(folder, name));
  await using corpus = await openCorpus(folder, name);
  const questions = sample(corpus.questions, questionsMax);
  const answered = new Map<string, string[]>();
  for (const { id, grades } of corpus.questions)
    for (const [document, grade] of grades)
      if (grade > 0) answered.set(document, [...(answered.get(document) ?? []), id]);
  const idOf = new Map(corpus.questions.map(({ id, text }) => [text, id]));
  // The headings come first, a line each.
  const documentOf = (text: string): string => {
    const found = documents.find((document) => document.text.includes(text));
    const end = text.indexOf('\n');
    return found?.id ?? (end < 0 ? '' : documentOf(text.slice(end + 1)));
  };
  await using server = await startEmbeddings();
  server.script = (reply, { input }) =>
    reply.vectors(
      input.map((text) => {
        // A weak model that is real: the mean of word vectors.
        if (knowledge === 'words') return [...padded(meaningOf(text))];
        const question = idOf.get(text);
        const labels = question === undefined ? (answered.get(documentOf(text)) ?? []) : [question];
        return sum(
          [1, wordsOf(text)],
          [knowledge, sum(...labels.map((id) => [1, noise(`label ${id}`)] as const))],
          [0.2, noise(text)],
        );
      }),
    );
  const embeddings = await openEmbeddings({
    source: embeddingService({
      baseUrl: server.url,
      apiKey: undefined,
      model: randomBytes(4).toString('hex'),
      dimensions: undefined,
    }),
    timeoutMs: 10_000,
    clock: systemClock,
    database: corpus.database,
    log: silentLog,
  });
  await embeddings.fill(new AbortController().signal);
  const scoresBy = async (retriever: Retriever, strategy: 'semantic' | 'hybrid', rerank: boolean) => {
    const all = [];
    for (const { text, grades } of questions) {
      const request = { query: text, strategy, topK: 50, rerank, libraries: [corpus.library] };
      const { ranked } = await retriever.search(request);
      all.push(scoresOf([...new Set(ranked.map(({ source }) => source.source))], grades));
    }
    return meanScores(all).ndcgAt10.toFixed(3);
  };
  const retriever = new Retriever(corpus.database, { embeddings: { current: async () => embeddings } });
  const print = (what: string, cells: readonly string[]) =>
    console.log(`${name.padEnd(12)} ${knowledge} ${what.padEnd(24)} ${cells.join(' ')}`);
  Object.assign(denseShares, { reranked: 0, unsure: 0 });
  print('words, reranked', [
    await scoresBy(corpus.retriever, 'hybrid', false),
    await scoresBy(corpus.retriever, 'hybrid', true),
  ]);
  print('vectors alone', [await scoresBy(retriever, 'semantic', false)]);
  const cells: string[] = [];
  for (const share of shares) {
    denseShares.retrieved = share;
    cells.push(await scoresBy(retriever, 'hybrid', false));
  }
  print('share when retrieved', cells);
  denseShares.retrieved = usual.retrieved;
  cells.length = 0;
  for (const share of shares) {
    denseShares.reranked = share;
    cells.push(await scoresBy(retriever, 'hybrid', true));
  }
  print('share when reranked', cells);
}

const usual = { ...denseShares };

/** A text without any known word has a direction too. */
function padded(vector: Float32Array): Float32Array {
  return vector.length > 0 ? vector : Float32Array.from({ length: meaningDimensions }, () => 0.1);
}

type Vector = readonly number[];

/** A random vector of length 1 that a text always has. */
function noise(text: string): Vector {
  let seed = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    seed = Math.imul(seed ^ text.charCodeAt(index), 0x01000193);
  const values = Array.from({ length: dimensions }, () => {
    seed = (Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((seed ^ (seed >>> 13)) >>> 8) / 2 ** 24 - 0.5;
  });
  return sum([1, values]);
}

const known = new Map<string, Vector>();

function wordsOf(text: string): Vector {
  const counts = new Map<string, number>();
  for (const { stem } of termsOf(text)) if (stem.length > 3) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  const parts = [...counts].map(([stem, count]) => {
    const vector = known.get(stem) ?? noise(stem);
    known.set(stem, vector);
    return [Math.log(1 + count), vector] as const;
  });
  return sum(...parts);
}

/** A weighted sum of length 1. */
function sum(...parts: readonly (readonly [number, Vector])[]): Vector {
  const total = new Float64Array(dimensions);
  for (const [weight, vector] of parts)
    for (const [index, value] of vector.entries()) total[index] = (total[index] as number) + weight * value;
  const length = Math.sqrt(total.reduce((square, value) => square + value * value, 0)) || 1;
  return Array.from(total, (value) => value / length);
}
