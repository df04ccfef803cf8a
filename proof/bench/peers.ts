/**
 * Every peer that this machine has, each beside ours in the same run: a table and charts in `docs/performance.md`. Peers need
 * `npm ci --prefix proof/bench/peers`, and Django Debian's packages (`lib/django.ts`); what is missing is named. `smoke` runs the same in seconds with
 * tiny loads, and writes into a folder.
 *
 *   npx node proof/bench/peers.ts [rounds] [seconds]
 *   npx node proof/bench/peers.ts smoke FOLDER [PART,...]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testFolder } from '@octavo/testing';
import type { Comparison } from './report/chart.ts';
import { type Part, writeReport } from './report/write.ts';

interface Bench {
  readonly name: string;
  readonly title: string;
  readonly file: string;
  /** Arguments of its script. */
  readonly args: (rounds: string, seconds: string) => string[];
  /** Packages of `proof/bench/peers/package.json`. */
  readonly packages?: readonly string[];
  readonly needsDjango?: boolean;
}

const asGiven = (rounds: string, seconds: string) => [rounds, seconds];
const benches: readonly Bench[] = [
  { name: 'posts', title: 'Posts beside bare servers and grpc-js', file: 'read.ts', args: asGiven },
  {
    name: 'sentiment',
    title: 'Sentiment beside VADER',
    file: 'sentiment.ts',
    args: (_, seconds) => [seconds, 'alone'],
  },
  {
    name: 'tokens',
    title: 'Tokens beside better-auth, both in memory',
    file: 'tokens.ts',
    args: (rounds, seconds) => [rounds, seconds, 'compare'],
    packages: ['better-auth'],
  },
  {
    name: 'polls',
    title: 'Polls beside Django REST Framework',
    file: 'polls.ts',
    args: asGiven,
    needsDjango: true,
  },
  {
    name: 'graphql',
    title: 'GraphQL of the budgets beside Apollo Server and mercurius with JIT',
    file: 'budgets-graphql.ts',
    args: asGiven,
    packages: ['@apollo/server', 'mercurius'],
  },
  {
    name: 'parse',
    title: 'Budgets beside Parse Server',
    file: 'budgets-parse.ts',
    args: asGiven,
    packages: ['parse-server'],
  },
  {
    name: 'search',
    title: 'Search of the chat beside FTS5, MiniSearch and Orama',
    file: 'chat-search.ts',
    args: (_, seconds) => [seconds, Number(seconds) < 1 ? '300' : '5000'],
    packages: ['minisearch', '@orama/orama'],
  },
];

/** Comparisons that this command cannot make, with the reason. */
const elsewhere = [
  'How good the rankings of the chat are beside FTS5, MiniSearch and Orama: `proof/bench/chat.ts quality` needs labelled sets of documents.',
  'Passkeys, mail and one sign-in: their baselines are libraries, not products (`proof/bench/README.md`).',
];

const [given = '3', second = '3', only] = process.argv.slice(2);
const isSmoke = given === 'smoke';
const [rounds, seconds] = isSmoke ? ['1', '0.2'] : [given, second];
const target = isSmoke ? second : join(import.meta.dirname, '../../docs');
const chosen = benches.filter(({ name }) => only === undefined || only.split(',').includes(name));
const parts: Part[] = [];
const missing = isSmoke ? [] : [...elsewhere];
for (const bench of chosen) {
  const reason = missingOf(bench);
  const comparisons = reason === undefined ? await run(bench) : [];
  if (comparisons.length > 0) parts.push({ name: bench.name, title: bench.title, comparisons });
  else missing.push(`${bench.title}: ${reason ?? 'the benchmark failed, as its output says'}.`);
}
const command = `npx node proof/bench/peers.ts ${process.argv.slice(2).join(' ')}`.trim();
writeReport(target, { parts, missing, command });
for (const line of missing) console.log(`not compared: ${line}`);

function missingOf({ packages = [], needsDjango = false }: Bench): string | undefined {
  const absent = packages.filter(
    (name) => !existsSync(join(import.meta.dirname, 'peers/node_modules', name)),
  );
  if (absent.length > 0)
    return `${absent.join(' and ')} not installed (\`npm ci --prefix proof/bench/peers\`)`;
  return needsDjango && !existsSync('/usr/bin/gunicorn')
    ? 'Django and Gunicorn are not installed'
    : undefined;
}

/** Runs a benchmark in a process of its own. Returns what it reported, or nothing if it failed. */
async function run({ name, file, args }: Bench): Promise<Comparison[]> {
  const report = join(testFolder('bench-report'), `${name}.jsonl`);
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, file), ...args(String(rounds), String(seconds))],
    { env: { ...process.env, BENCH_REPORT: report }, stdio: 'inherit' },
  );
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) process.exitCode = 1;
  if (code !== 0 || !existsSync(report)) return [];
  const lines = readFileSync(report, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Comparison);
}
