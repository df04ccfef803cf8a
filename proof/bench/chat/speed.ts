import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { type Database, openDatabase } from '@octavo/data';
import { Encoder, encoderDimensions } from '@octavo/encoder';
import { localEncoder, openEmbeddings, type VectorSource } from '../../../services/chat/embeddings/index.ts';
import { indexSet, readLabelledSet } from '../../../services/chat/evaluation/index.ts';
import { Retriever } from '../../../services/chat/retrieval/index.ts';
import type { Tables } from '../../../services/chat/tables.ts';
import { fts5 } from './peers.ts';

const paragraphsEach = 50;

/** Measures searches among many chunks, which are made of runs of words of the sets, beside FTS5 alone. */
export async function measureSpeed(folder: string, chunks: number): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'octavo-chat-'));
  const migrations = new URL('../../../services/chat/migrations/', import.meta.url);
  const database = await openDatabase<Tables>({
    name: 'chat',
    url: undefined,
    folder: place,
    log: silentLog,
    migrations,
  });
  const squad = await readLabelledSet(join(folder, 'squad20_dev'));
  const texts = madeTexts(
    (squad.documents ?? []).map(({ text }) => text),
    chunks / paragraphsEach,
  );
  const startMs = performance.now();
  const library = await indexSet(database, texts);
  const seconds = (performance.now() - startMs) / 1_000;
  console.log(`${chunks} chunks in this process, ${(chunks / seconds).toFixed(0)}/s`);
  const step = Math.floor(squad.questions.length / 200);
  const questions = squad.questions.filter((_, index) => index % step === 0).map(({ text }) => text);
  const retriever = new Retriever(database);
  const loadMs = performance.now();
  await retriever.search({ query: 'x', strategy: 'semantic', topK: 1, rerank: false, libraries: [library] });
  const rss = Math.round(process.memoryUsage().rss / 1e6);
  console.log(`vectors read in ${(performance.now() - loadMs).toFixed(0)} ms; ${rss} MB resident`);
  const rows = await database.kysely.selectFrom('chunk').select(['public_id as id', 'text']).execute();
  const keywords = fts5(rows);
  for (let round = 0; round < 2; round++) {
    await measure('FTS5 alone', questions, async (query) => keywords(query));
    await measure('semantic, reranked', questions, (query) =>
      retriever.search({ query, strategy: 'semantic', topK: 10, rerank: true, libraries: [library] }),
    );
    for (const rerank of [false, true]) {
      await measure(`hybrid${rerank ? ', reranked' : ''}`, questions, (query) =>
        retriever.search({ query, strategy: 'hybrid', topK: 10, rerank, libraries: [library] }),
      );
    }
  }
  await measureWithEncoder(database, library, questions);
  await database[Symbol.asyncDispose]();
  rmSync(place, { recursive: true });
}

/** Measures searches with vectors of the encoder's size beside the words. Those of chunks are random, as 100,000 real ones take hours. */
async function measureWithEncoder(
  database: Database<Tables>,
  library: number,
  questions: readonly string[],
): Promise<void> {
  await using encoder = new Encoder({ log: silentLog });
  const real = localEncoder(encoder, false);
  const vectors: VectorSource['vectors'] = async (request) =>
    request.purpose === 'question'
      ? real.vectors(request)
      : request.texts.map(() => randomVector(encoderDimensions));
  const source = { ...real, provider: 'openai-compatible' as const, vectors };
  const parts = { source, timeoutMs: 10_000, clock: systemClock, database, log: silentLog };
  const embeddings = await openEmbeddings(parts);
  await embeddings.fill(new AbortController().signal);
  await using retriever = new Retriever(database, { embeddings: { current: async () => embeddings } });
  for (let round = 0; round < 2; round++) {
    // Vectors of questions are kept, so the second round asks others.
    const asked = questions.map((question) => `${question}${' '.repeat(round)}`);
    await measure('hybrid, encoder', asked, (query) =>
      retriever.search({ query, strategy: 'hybrid', topK: 10, rerank: true, libraries: [library] }),
    );
  }
}

function randomVector(dimensions: number): number[] {
  return Array.from({ length: dimensions }, () => Math.random() - 0.5);
}

/** Time of day and CPU time for each question. */
async function measure(
  label: string,
  questions: readonly string[],
  ask: (question: string) => Promise<unknown>,
): Promise<void> {
  const times: number[] = [];
  const before = process.cpuUsage();
  for (const question of questions) {
    const startMs = performance.now();
    await ask(question);
    times.push(performance.now() - startMs);
  }
  const { user, system } = process.cpuUsage(before);
  times.sort((one, other) => one - other);
  const [p50, p95] = [0.5, 0.95].map((share) => times[Math.floor(times.length * share)]?.toFixed(1));
  const cpu = ((user + system) / 1_000 / times.length).toFixed(2);
  console.log(`${label.padEnd(20)} p50 ${p50} ms, p95 ${p95} ms, CPU ${cpu} ms`);
}

/** Texts of as many paragraphs as fill chunks, with runs of real words in another order. */
function madeTexts(paragraphs: readonly string[], count: number) {
  const words = paragraphs.join(' ').split(/\s+/);
  let seed = 1;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const run = () => {
    const at = random(words.length - 20);
    return words.slice(at, at + 14).join(' ');
  };
  const paragraph = () => {
    let text = '';
    while (text.length < 850) text += `${run()}. `;
    return text;
  };
  return Array.from({ length: count }, (_, index) => ({
    id: `made-${index}`,
    text: Array.from({ length: paragraphsEach }, paragraph).join('\n\n'),
  }));
}
