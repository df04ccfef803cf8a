/**
 * The list of quotes beside Django, Django REST Framework and Gunicorn (`lib/django.ts`) with the same quotes and likes, then searches for two
 * words in a million quotes through the API, one after another. Words are as frequent as in texts, and other ones in each search.
 *
 *   node proof/bench/quotes.ts [rounds] [seconds] [searches]
 */
import { testFolder } from '@octavo/testing';
import { seeds } from '../../apps/octavo/index.ts';
import { startProcess, stopProcess } from '../../apps/octavo/testing.ts';
import { bests } from './lib/compare.ts';
import { createDatabase, startDjango } from './lib/django.ts';
import { offer, quantiles } from './lib/load.ts';
import { Corpus } from './quotes/corpus.ts';
import { makeMillion, quoteCount } from './quotes/million.ts';

const [rounds = 3, seconds = 4, searches = 2_000] = process.argv.slice(2).map(Number);
const light = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1', LOG_LEVEL: 'warn' };

if (rounds > 0) await compareLists();
if (searches > 0) await measureSearch();

async function compareLists(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const start = async (settings: Record<string, string>) => {
    const environment = { ...light, OCTAVO_DATA: testFolder('bench'), ...settings };
    await seeds.quotes?.(environment, { count: 0, isForced: false, onProgress: () => {} });
    const { url, child } = await startProcess('quotes', environment);
    stack.defer(() => stopProcess(child));
    return url;
  };
  const sqlite = await start({});
  const postgres = await start({ DATABASE_URL: await createDatabase('octavo_bench_quotes') });
  const quotes = (await (await fetch(`${sqlite}/api/quotes/`)).json()) as object[];
  const peer = stack.use(await startDjango({ quotes }));
  const targets = { 'on SQLite': sqlite, 'on PostgreSQL': postgres, Django: peer.url };
  const ways = Object.entries(targets).map(([name, url]) => {
    const load = { url: `${url}/api/quotes/`, headers: { accept: 'application/json' }, seconds };
    return [name, async () => (await offer(load)).perSecond] as const;
  });
  const found = await bests(Object.fromEntries(ways), rounds);
  const said = Object.entries(found).map(
    ([name, each]) => `${name} ${each.toFixed(0)}/s (${(each / (found.Django ?? 0)).toFixed(1)} times)`,
  );
  console.log(`GET /api/quotes/, ${quotes.length} quotes: ${said.join(', ')}`);
}

async function measureSearch(): Promise<void> {
  const settings = await makeMillion();
  const { url, child } = await startProcess('quotes', { ...light, ...settings });
  const corpus = new Corpus(2);
  const durations: number[] = [];
  let found = 0;
  for (let number = -50; number < searches; number++) {
    const search = encodeURIComponent(`${corpus.word()} ${corpus.word()}`);
    const startedMs = performance.now();
    const response = await fetch(`${url}/api/quotes/?search=${search}&limit=20`);
    const quotes = (await response.json()) as object[];
    if (number >= 0) durations.push(performance.now() - startedMs);
    if (number >= 0 && quotes.length > 0) found++;
  }
  await stopProcess(child);
  const { p50Ms, p95Ms, p99Ms, maxMs } = quantiles(durations);
  const figures = [p50Ms, p95Ms, p99Ms, maxMs].map((ms) => ms.toFixed(1));
  console.log(
    `two words in ${quoteCount.toLocaleString('en')} quotes: p50 ${figures[0]}, p95 ${figures[1]}, p99 ${figures[2]}, at most ${figures[3]} ms; ${found} of ${searches} found something`,
  );
}
