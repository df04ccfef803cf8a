/**
 * Wait of others while one account with very many varied expenses asks for every page, list, search and report, and the time that each of those takes.
 * SQLite, one process with budgets and polls; `/health` of polls is asked all the time by another. 20,000 expenses are imported as a file, with random
 * days of ten years, 400 payees, 12 categories in several spellings, and tags; the rest are copies with other days, amounts and payees. Prints a table
 * of all calls above 300 ms, and the p99 of `/health`.
 *
 *   node proof/bench/one-account.ts [--expenses 1000000] [--folder FOLDER] [--only WORD]
 *
 * A folder that is given is kept, and its expenses are used again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { PageClient, testFolder } from '@octavo/testing';
import { stopProcess } from '../../apps/octavo/testing.ts';
import { pageRoutes, routes } from '../../services/budgets/routes.ts';
import { register, send, signIn } from './budgets/start.ts';
import { quantiles } from './lib/load.ts';
import { Probe } from './lib/probe.ts';
import { multiplyExpenses } from './one-account/multiply.ts';

const { values: options } = parseArgs({
  options: {
    expenses: { type: 'string', default: '1000000' },
    only: { type: 'string', default: '' },
    folder: { type: 'string', default: testFolder('one-account') },
  },
});
const count = Number(options.expenses);
const slowMs = 300;
/** Number of expenses that are imported. The rest are copies of them. */
const imported = Math.min(count, 20_000);
const rounds = 2;
const email = 'alice@example.com';
const [staff, password] = ['bench-staff', 'ferries wait in fog'];
const environment = {
  PATH: process.env.PATH,
  OCTAVO_DATA: options.folder,
  LOG_LEVEL: 'error',
  NODE_ENV: 'development',
  OCTAVO_SSO: 'off',
  GRPC_PORT: '0',
  BUDGETS_RATE_LIMIT_PER_MINUTE: '0',
  BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE: '0',
  ARGON2_MEMORY_KIB: '8',
  ARGON2_PASSES: '1',
  PORT: '0',
};
const entry = join(import.meta.dirname, '../../apps/octavo/octavo.js');

const isFilled = existsSync(join(options.folder, 'budgets.sqlite'));
mkdirSync(options.folder, { recursive: true });
if (!isFilled) await createStaff();
let { child, urls } = await start();
let url = urls.get('budgets') ?? '';
try {
  if (!isFilled) {
    await fill();
    await stopProcess(child, 'SIGKILL');
    if (count > imported) await multiplyExpenses(options.folder, imported, count);
    ({ child, urls } = await start());
    url = urls.get('budgets') ?? '';
  }
  const headers = await signIn(url, email);
  await measure(headers, await firstBudget(headers));
} finally {
  await stopProcess(child, 'SIGKILL');
  if (!process.argv.includes('--folder')) rmSync(options.folder, { recursive: true, force: true });
}

async function createStaff(): Promise<void> {
  const env = { ...environment, ADMIN_PASSWORD: password };
  const created = spawn(process.execPath, [entry, 'admin', 'create', 'budgets', staff], { env });
  const [code] = await once(created, 'exit');
  if (code !== 0) throw new Error('the administrator could not be created');
}

/** Both services in one process, with their addresses. */
async function start(): Promise<{ child: ChildProcess; urls: Map<string, string> }> {
  const startedMs = performance.now();
  const started = spawn(process.execPath, [entry, 'serve', 'budgets', 'polls'], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.once('exit', () => started.kill('SIGKILL'));
  const found = new Map<string, string>();
  for await (const line of createInterface({ input: started.stdout })) {
    const [name = '', address = ''] = line.split(/\s+/);
    found.set(name, address);
    if (found.size === 2) break;
  }
  console.log(`ready after ${Math.round(performance.now() - startedMs)} ms`);
  return { child: started, urls: found };
}

async function fill(): Promise<void> {
  const headers = await register(url, email);
  const body = { name: 'Everything', limit: 1_000_000, period: 'monthly', startDate: '2016-01-01' };
  const { id } = (await send(`${url}${routes.budgets}`, { headers, body })) as { id: string };
  const form = new FormData();
  form.append('format', 'csv');
  form.append('budgetId', id);
  form.append('file', new Blob([...csv(imported)]), 'file.csv');
  const response = await fetch(`${url}${routes.import}`, { method: 'POST', headers, body: form });
  if (!response.ok) throw new Error(await response.text());
  const task = (await response.json()) as { id: string };
  for (let status = ''; status !== 'completed'; await delay(500)) {
    const answer = await fetch(`${url}${routes.tasks}/${task.id}`, { headers });
    // On a busy machine the service may be too busy to tell.
    if (answer.status === 503) continue;
    ({ status } = (await answer.json()) as { status: string });
    if (status === 'failed') throw new Error('the import failed');
  }
}

/** Lines of a file, the same in each run. */
function* csv(rows: number): Generator<string> {
  const random = randoms(7);
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T;
  const names = [
    'Ferry',
    'Coffee',
    'Rent',
    'Market',
    'Books',
    'Train',
    'Bakery',
    'Garden',
    'Cinema',
    'Water',
  ];
  const payees = Array.from({ length: 400 }, (_, index) => `${pick(names)} ${pick(names)} ${index}`);
  const categories = ['Food', 'food', 'Travel', 'Home', 'Fun', 'Café', 'cafe', 'Health', 'Gifts', 'Work', ''];
  const tags = ['', '', '', 'shared', 'shared;trip', 'trip', 'tax', 'tax;work'];
  yield 'spentOn,description,amount,category,tags\n';
  for (let row = 0; row < rows; row++) {
    const day = new Date(Date.UTC(2016, 0, 1 + Math.floor(random() * 3_650))).toISOString().slice(0, 10);
    const amount = (0.5 + 10 ** (random() * 3.7)).toFixed(2);
    yield `${day},${pick(payees)},${amount},${pick(categories)},${pick(tags)}\n`;
  }
}

/** Numbers from 0 to 1 by a linear congruential generator. */
function randoms(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function firstBudget(headers: Record<string, string>): Promise<string> {
  const list = (await send(`${url}${routes.budgets}`, { headers })) as { id: string }[];
  return list[0]?.id ?? '';
}

interface Call {
  readonly name: string;
  ask(): Promise<Response>;
}

async function measure(headers: Record<string, string>, budgetId: string): Promise<void> {
  const all = [...apiCalls(headers, budgetId), ...(await pageCalls(budgetId)), ...(await adminCalls())];
  const calls = all.filter(({ name }) => name.includes(options.only));
  const probe = new Probe(`${urls.get('polls')}/health`);
  await delay(500);
  const rows: (readonly [name: string, worst: number, waited: number])[] = [];
  for (const { name, ask } of calls) {
    probe.worstMs = 0;
    let worst = 0;
    for (let round = 0; round < rounds; round++) {
      const askedMs = performance.now();
      const response = await ask();
      await response.arrayBuffer();
      worst = Math.max(worst, performance.now() - askedMs);
      if (response.status >= 400) console.log(`${name}: ${response.status}`);
    }
    rows.push([name, Math.round(worst), Math.round(probe.worstMs)]);
  }
  const waits = await probe.stop();
  rows.sort((one, other) => other[1] - one[1]);
  console.log(`| call, the slower of ${rounds} | ms | longest wait of /health, ms |\n|---|---|---|`);
  for (const [name, worst, waited] of rows)
    if (worst > slowMs || waited > 50) console.log(`| ${name} | ${worst} | ${waited} |`);
  const { p50Ms, p95Ms, p99Ms } = quantiles(waits);
  console.log(
    `${rows.length} calls. /health of polls: p50 ${p50Ms.toFixed(1)}, p95 ${p95Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)}, most ${Math.max(...waits).toFixed(1)} ms of ${waits.length}`,
  );
  console.log(`file: ${Math.round(statSync(join(options.folder, 'budgets.sqlite')).size / 1e6)} MB`);
}

function apiCalls(headers: Record<string, string>, budgetId: string): Call[] {
  const get = (path: string): Call => ({
    name: `GET ${named(path, budgetId)}`,
    ask: () => fetch(url + path, { headers }),
  });
  const find = (body: object): Call => ({
    name: `POST ${routes.searchExpenses} ${JSON.stringify(body)}`.replace(budgetId, 'ID'),
    ask: () =>
      fetch(`${url}${routes.searchExpenses}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  });
  const sorts = ['spentOn', '-spentOn', 'amount', '-amount', 'createdAt', '-createdAt'];
  const filters = [
    'category=food',
    'category=none-such',
    'tag=trip',
    'q=coffee',
    'q=coffee%20rent',
    'minAmount=100&maxAmount=200',
    'from=2020-01-01&to=2020-12-31',
    `budgetId=${budgetId}`,
    `budgetId=${budgetId}&category=food`,
    'budgetId=none',
  ];
  const reports = ['by-category', 'by-payee', 'by-tag', 'by-month', 'trend', 'top', 'cash-flow', 'compare'];
  return [
    routes.profile,
    routes.budgets,
    routes.customers,
    routes.orders,
    routes.notifications,
    routes.recurring,
    routes.rules,
    routes.tasks,
    routes.transactions,
    `/api/budgets/${budgetId}`,
    `/api/budgets/${budgetId}/history`,
    `/api/budgets/${budgetId}/summary`,
    `/api/budgets/${budgetId}/summary?period=2020-05`,
    ...sorts.map((sort) => `${routes.expenses}?sort=${sort}`),
    ...filters.map((filter) => `${routes.expenses}?${filter}`),
    ...sorts.map((sort) => `${routes.expenses}?category=food&sort=${sort}`),
    `${routes.expenses}?budgetId=${budgetId}&sort=amount`,
    `/api/expenses/${budgetId}`,
    ...reports.map((name) => `/api/reports/${name}`),
    ...reports.map((name) => `/api/reports/${name}?from=2020-01-01&to=2020-12-31`),
    ...reports.map((name) => `/api/reports/${name}?budgetId=${budgetId}`),
  ]
    .map(get)
    .concat([
      find({ query: 'coffee' }),
      find({ query: 'coffee', sort: 'date' }),
      find({ query: 'coffee rent', sort: 'date' }),
      find({ query: 'cof' }),
      find({ query: 'c' }),
      find({ query: '"coffee rent"', sort: 'date' }),
      find({ query: 'coffee', from: '2020-01-01', to: '2020-12-31', budgetId }),
      find({ query: 'coffee', page: 1_000 }),
    ]);
}

async function pageCalls(budgetId: string): Promise<Call[]> {
  const client = new PageClient(url);
  await client.open(pageRoutes.signIn);
  await client.send(pageRoutes.signIn, { email, password });
  const paths = [
    pageRoutes.budgets,
    `/budgets/${budgetId}`,
    `/budgets/${budgetId}?period=2020-05`,
    `/budgets/${budgetId}/edit`,
    `/budgets/${budgetId}/delete`,
    pageRoutes.expenses,
    `${pageRoutes.expenses}?category=food`,
    `${pageRoutes.expenses}?q=coffee`,
    `${pageRoutes.expenses}?tag=trip`,
    `${pageRoutes.expenses}?budget=${budgetId}&category=Travel`,
    `${pageRoutes.expenses}?from=2020-01-01&to=2020-12-31`,
    pageRoutes.newExpense,
    pageRoutes.reports,
    `${pageRoutes.reports}?from=2016-01-01&to=2026-12-31`,
    pageRoutes.recurring,
    pageRoutes.import,
    pageRoutes.rules,
    pageRoutes.newRule,
    pageRoutes.tasks,
    pageRoutes.customers,
    pageRoutes.orders,
    pageRoutes.transactions,
    pageRoutes.notifications,
    pageRoutes.settings,
  ];
  return paths.map((path) => ({ name: `page ${named(path, budgetId)}`, ask: () => pageOf(client, path) }));
}

async function adminCalls(): Promise<Call[]> {
  const client = new PageClient(url);
  await client.open('/admin/login/');
  await client.send('/admin/login/', { username: staff, password });
  const list = '/admin/budgets/expense/';
  const paths = [
    '/admin/',
    '/admin/budgets/account/',
    '/admin/budgets/budget/',
    '/admin/budgets/task/',
    list,
    `${list}?p=2`,
    `${list}?q=coffee`,
    `${list}?q=alice`,
    `${list}?q=none-such`,
    ...[1, 2, 3, -3, 4, 5].map((column) => `${list}?o=${column}`),
    '/admin/search/?q=coffee',
  ];
  return paths.map((path) => ({ name: `page ${path}`, ask: () => pageOf(client, path) }));
}

async function pageOf(client: PageClient, path: string): Promise<Response> {
  const { status, html } = await client.open(path);
  if (status !== 200) throw new Error(`${path}: ${status}`);
  return new Response(html, { status });
}

function named(path: string, budgetId: string): string {
  return path.replace(budgetId, 'ID');
}
