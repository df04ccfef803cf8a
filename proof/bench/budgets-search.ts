/**
 * Searches of the budgets through the API, one after another, in a million expenses of a thousand accounts: one word, two words, a word
 * that is not finished, and a phrase, taken from the caller's expenses. Words are as frequent as in texts. Every expense
 * that is found must be the caller's own.
 *
 *   node proof/bench/budgets-search.ts [searches of each kind]
 */
import { type BenchAccount, expenseCount, startMillion } from './budgets/million.ts';
import { send, signIn } from './budgets/start.ts';
import { cpuUsOf } from './lib/cpu.ts';
import { quantiles } from './lib/load.ts';

const [searches = 1_000] = process.argv.slice(2).map(Number);
const searchers = 200;
const warmUp = 50;

const kinds: Readonly<Record<string, (words: readonly string[]) => string>> = {
  'one word': ([, word = '']) => `${word} `,
  'two words': ([first, , third]) => `${third} ${first} `,
  'the beginning of a word': ([, word = '']) => word.slice(0, Math.max(2, Math.ceil(word.length / 2))),
  'a phrase': ([first, second, third]) => `"${first} ${second} ${third}"`,
};

await using service = await startMillion();
const accounts: (BenchAccount & { headers: Record<string, string> })[] = [];
for (const account of service.accounts.slice(0, searchers)) {
  accounts.push({ ...account, headers: await signIn(service.url, account.email) });
}
for (const [kind, queryOf] of Object.entries(kinds)) await measure(kind, queryOf);

async function measure(kind: string, queryOf: (words: readonly string[]) => string): Promise<void> {
  const durationsMs: number[] = [];
  let found = 0;
  let cpuBeforeUs = 0;
  for (let number = -warmUp; number < searches; number++) {
    if (number === 0) cpuBeforeUs = await cpuUsOf(service.child.pid);
    const account = accounts[(number + warmUp) % accounts.length] as (typeof accounts)[number];
    const { samples } = account;
    const query = queryOf((samples[Math.abs(number) % samples.length] ?? '').split(' '));
    const startedMs = performance.now();
    const total = await search(account, query);
    if (number < 0) continue;
    durationsMs.push(performance.now() - startedMs);
    found += total;
  }
  const cpuMs = ((await cpuUsOf(service.child.pid)) - cpuBeforeUs) / searches / 1_000;
  const { p50Ms, p95Ms, p99Ms, maxMs } = quantiles(durationsMs);
  const figures = [p50Ms, p95Ms, p99Ms, maxMs].map((ms) => ms.toFixed(1));
  console.log(
    `${kind} in ${expenseCount.toLocaleString('en')} expenses: p50 ${figures[0]}, p95 ${figures[1]}, p99 ${figures[2]}, at most ${figures[3]} ms, CPU time ${cpuMs.toFixed(1)} ms; ${(found / searches).toFixed(1)} found each`,
  );
}

async function search(
  { headers, budgetId }: BenchAccount & { headers: Record<string, string> },
  query: string,
): Promise<number> {
  const body = { query };
  const { total, expenses } = (await send(`${service.url}/api/search/expenses`, { headers, body })) as {
    total: number;
    expenses: { budgetId: string }[];
  };
  if (total === 0) throw new Error(`${query} was not found`);
  if (expenses.some((expense) => expense.budgetId !== budgetId)) throw new Error('a foreign expense');
  return total;
}
