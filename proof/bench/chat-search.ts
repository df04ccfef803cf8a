/**
 * Searches of the chat among made-up texts beside FTS5 alone, MiniSearch and Orama on the same texts in the same process: searches a second
 * of CPU time. How good the rankings are is measured by `chat.ts quality`. First `npm ci --prefix proof/bench/peers`.
 *
 *   node proof/bench/chat-search.ts [seconds] [texts]
 */
import { silentLog } from '@octavo/core/log';
import { openDatabase } from '@octavo/data';
import { testFolder } from '@octavo/testing';
import { indexSet } from '../../services/chat/evaluation/index.ts';
import { Retriever } from '../../services/chat/retrieval/index.ts';
import type { Tables } from '../../services/chat/tables.ts';
import { fts5, miniSearch, orama, type Peer } from './chat/peers.ts';
import { report } from './lib/compare.ts';
import { Corpus } from './quotes/corpus.ts';

const [seconds = 3, textCount = 5_000] = process.argv.slice(2).map(Number);
const corpus = new Corpus(1);
const documents = Array.from({ length: textCount }, (_, index) => ({
  id: `text-${index}`,
  text: corpus.next().text,
}));
const questions = documents
  .filter((_, index) => index % Math.ceil(textCount / 100) === 0)
  .map(({ text }) => text.split(/\W+/).slice(0, 3).join(' '));

await using database = await openDatabase<Tables>({
  name: 'chat',
  url: undefined,
  folder: testFolder('bench'),
  log: silentLog,
  migrations: new URL('../../services/chat/migrations/', import.meta.url),
});
const library = await indexSet(database, documents);
const retriever = new Retriever(database);
const figures = {
  ours: await perSecond((query) =>
    retriever.search({ query, strategy: 'hybrid', topK: 10, rerank: false, libraries: [library] }),
  ),
  'FTS5 alone': await perSecond(fts5(documents)),
  MiniSearch: await perSecond(miniSearch(documents)),
  Orama: await perSecond(await orama(documents)),
};
for (const [name, rate] of Object.entries(figures)) console.log(`${name}: ${rate.toFixed(0)} searches/s`);
report(`Chat: hybrid search among ${textCount} texts, CPU time of one core`, figures);

/** Processor time, not time of day: other work on the machine does not count. */
async function perSecond(ask: Peer | ((question: string) => Promise<unknown>)): Promise<number> {
  for (const question of questions) await ask(question);
  const before = process.cpuUsage();
  let done = 0;
  const spent = () => process.cpuUsage(before).user + process.cpuUsage(before).system;
  for (; spent() < seconds * 1e6; done += questions.length)
    for (const question of questions) await ask(question);
  return (done * 1e6) / spent();
}
