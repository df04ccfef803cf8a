/**
 * Pages of the admin's list of a million quotes, each with another filter and order, as a signed-in user, one after another.
 *
 *   node proof/bench/admin.ts [pages]
 */
import { PageClient } from '@octavo/testing';
import { run as runAdmin } from '../../apps/octavo/commands/admin.ts';
import { startProcess, stopProcess } from '../../apps/octavo/testing.ts';
import { quantiles } from './lib/load.ts';
import { makeMillion, quoteCount } from './quotes/million.ts';

const [pages = 40] = process.argv.slice(2).map(Number);
const password = 'ferries wait in fog';
const settings = { ...(await makeMillion()), ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1', LOG_LEVEL: 'warn' };
await runAdmin(['create', 'quotes', 'bench'], { ...settings, ADMIN_PASSWORD: password }).catch(() => {});
const { url, child } = await startProcess('quotes', settings);
const alice = new PageClient(url);
await alice.open('/admin/login/');
await alice.send('/admin/login/', { username: 'bench', password });

const list = '/admin/quotes/quote/';
const categories = Array.from({ length: 200 }, (_, index) => index + 1);
const days = Array.from({ length: 28 }, (_, index) => index + 1);
const attributions = ['unverified', 'verified', 'disputed'];
const all: number[] = [];
await measure('first page', () => list);
await measure('one category, newest first', (n) => `${list}?category=${pick(categories, n)}`);
await measure('one category by author', (n) => `${list}?category=${pick(categories, n)}&o=2`);
await measure(
  'one attribution, newest first',
  (n) => `${list}?attribution=${pick(attributions, n)}&p=${1 + (n % 5)}`,
);
await measure('one attribution, oldest first', (n) => `${list}?attribution=${pick(attributions, n)}&o=6`);
await measure(
  'one attribution by author',
  (n) => `${list}?attribution=${pick(attributions, n)}&o=${pick(['2', '-2'], n)}`,
);
await measure('not published, newest first', (n) => `${list}?is_published=false&p=${1 + (n % 20)}`);
await measure('not published by author', (n) => `${list}?is_published=false&o=${pick(['2', '-2'], n)}`);
await measure(
  'one day by author',
  (n) => `${list}?created__year=2024&created__month=5&created__day=${pick(days, n)}&o=2`,
);
await measure(
  'one month, one attribution, by author',
  (n) => `${list}?created__year=2024&created__month=${1 + (n % 12)}&attribution=disputed&o=2`,
);
report('all of them', all);
await stopProcess(child);

async function measure(name: string, pathOf: (round: number) => string): Promise<void> {
  const durations: number[] = [];
  for (let round = 0; round < pages; round++) {
    const startedMs = performance.now();
    const { status, html } = await alice.open(pathOf(round));
    durations.push(performance.now() - startedMs);
    if (status !== 200 || !html.includes('<td class="main">')) throw new Error(`${pathOf(round)}: ${status}`);
  }
  all.push(...durations);
  report(name, durations);
}

function report(name: string, durations: number[]): void {
  const { p50Ms, p95Ms, maxMs } = quantiles(durations);
  const figures = [p50Ms, p95Ms, maxMs].map((ms) => ms.toFixed(1).padStart(7));
  console.log(
    `${name.padEnd(40)} p50 ${figures[0]} p95 ${figures[1]} max ${figures[2]} ms, of ${quoteCount} rows`,
  );
}

function pick<T>(values: readonly T[], round: number): T {
  return values[round % values.length] as T;
}
