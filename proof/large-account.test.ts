import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { PageClient, testFolder } from '@octavo/testing';
import { pageRoutes, routes } from '../services/budgets/routes.ts';
import { finished, password, personOf, startBudgets } from '../services/budgets/testing.ts';
import { multiplyExpenses } from './bench/one-account/multiply.ts';

/** More than a read may touch on the event loop. */
const count = 20_000;
const imported = 120;
/** An admin counts up to 10,001 rows of a list, with seven steps each. */
const adminStepsMax = 75_000;
/** A statement takes three steps of SQLite's virtual machine at least for each row that it looks at. */
const stepsMax = 33_000;

const folder = testFolder('large-account');
const { email, budgetId, carriedId } = await fill();
await multiplyExpenses(folder, imported, count);
spendEachDay();
const app = await startBudgets({ folder });
after(() => app[Symbol.asyncDispose]());
const { json: signedIn } = await app.send(routes.login, { body: { email, password } });
const alice = personOf(app.send, { id: signedIn.user.id, email, token: signedIn.token });
const staff = new PageClient(app.url);
const setup = new URL(app.setupLink);
await staff.open(`${setup.pathname}${setup.search}`);
const token = setup.searchParams.get('token') ?? '';
assert.equal((await staff.send(setup.pathname, { token, username: 'root', password })).status, 303);
const longest = new Map<string, number>();
subscribe('octavo:sqlite:statement', (message) => {
  const { sql, steps } = message as { sql: string; steps: number };
  longest.set(sql, Math.max(longest.get(sql) ?? 0, steps));
});

/** Days of spending in the budget that carries amounts over. */
function spendEachDay(): void {
  using database = new DatabaseSync(`${folder}/budgets.sqlite`);
  database.exec(`INSERT INTO budget_day (owner, budget, day, amount_minor, expenses)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    SELECT owner, number, date('1960-01-01', '+' || i || ' days'), 100, 1 FROM n, budget WHERE rollover <> 'none'`);
}

/** An account with some expenses of many days. */
async function fill(): Promise<{ email: string; budgetId: string; carriedId: string }> {
  await using first = await startBudgets({ folder });
  const person = await first.person('alice');
  const budget = { name: 'Everything', limit: 1_000_000, period: 'monthly', startDate: '2016-01-01' };
  const { id } = await person.create(routes.budgets, budget);
  const carried = { name: 'Carried', limit: 1, period: 'daily', startDate: '1960-01-01', rollover: 'full' };
  const { id: carriedId } = await person.create(routes.budgets, carried);
  const rows = Array.from({ length: imported }, (_, index) => {
    const day = new Date(Date.UTC(2016, 0, 1 + index * 30)).toISOString().slice(0, 10);
    const category = ['Food', 'food', 'Travel', 'Home', ''][index % 5];
    return `${day},Coffee ${index % 40},${index + 1}.50,${category},${index % 3 === 0 ? 'trip' : ''}`;
  });
  const form = new FormData();
  form.append('format', 'csv');
  form.append('budgetId', id);
  const file = `spentOn,description,amount,category,tags\n${rows.join('\n')}\n`;
  form.append('file', new Blob([file]), 'file.csv');
  const headers = { authorization: `Bearer ${person.token}` };
  const response = await fetch(`${first.url}${routes.import}`, { method: 'POST', headers, body: form });
  assert.equal(response.status, 202, await response.clone().text());
  const task = await finished(person, (await response.json()) as { id: string });
  assert.equal(task.result?.created, imported, JSON.stringify(task));
  return { email: person.email, budgetId: id, carriedId };
}

/** Reads, each of which may look at many rows only in a thread. */
async function assertShort(
  name: string,
  ask: () => Promise<{ status: number }>,
  most = stepsMax,
): Promise<void> {
  longest.clear();
  let { status } = await ask();
  // On a busy machine.
  while (status === 503) ({ status } = await ask());
  assert.equal(status, 200, name);
  const long = [...longest].filter(([, steps]) => steps > most);
  assert.deepEqual(long, [], name);
}

const sorts = ['spentOn', '-spentOn', 'amount', '-amount', 'createdAt', '-createdAt'];
const filters = [
  'limit=1',
  'category=food',
  'category=none',
  'tag=trip',
  'q=coffee',
  'minAmount=100&maxAmount=200',
  'from=2017-01-01&to=2022-12-31',
  `budgetId=${budgetId}`,
  `budgetId=${budgetId}&category=food`,
];
const reports = ['by-category', 'by-payee', 'by-tag', 'by-month', 'trend', 'top', 'cash-flow', 'compare'];
const summary = `/api/budgets/${budgetId}/summary`;

for (const path of [
  routes.budgets,
  routes.notifications,
  routes.tasks,
  routes.transactions,
  `/api/budgets/${budgetId}`,
  `/api/budgets/${budgetId}/history`,
  summary,
  `${summary}?period=2019-05`,
  ...sorts.flatMap((sort) =>
    ['', '&category=food', `&budgetId=${budgetId}`].map((more) => `${routes.expenses}?sort=${sort}${more}`),
  ),
  ...filters.map((filter) => `${routes.expenses}?${filter}`),
  ...reports.flatMap((name) =>
    ['', '?from=2017-01-01&to=2022-12-31', `?budgetId=${budgetId}`].map(
      (more) => `/api/reports/${name}${more}`,
    ),
  ),
])
  test(`GET ${path.replaceAll(budgetId, 'ID')}`, () => assertShort(path, () => alice.get(path)));

for (const body of [
  { query: 'coffee' },
  { query: 'c', sort: 'date' },
  { query: 'coffee', page: 100 },
  { query: 'coffee', from: '2017-01-01', budgetId },
])
  test(`search ${JSON.stringify(body).replace(budgetId, 'ID')}`, () =>
    assertShort('search', () => alice.post(routes.searchExpenses, body)));

test('amounts that are carried over are added up in slices', async () => {
  for (const path of [`/api/budgets/${carriedId}`, `/api/budgets/${carriedId}/history`])
    await assertShort(path, () => alice.get(path));
  const expense = { budgetId: carriedId, description: 'Ferry', amount: 1 };
  await assertShort('an expense', async () => {
    const { status } = await alice.post(routes.expenses, expense);
    return { status: status === 201 ? 200 : status };
  });
  const { json } = await alice.get(`/api/budgets/${carriedId}/summary`);
  const days = (Date.UTC(2026, 2, 15) - Date.UTC(1960, 0, 1)) / 86_400_000;
  assert.equal(json.carried, days - count);
});

const browser = new PageClient(app.url);
await browser.open(pageRoutes.signIn);
await browser.send(pageRoutes.signIn, { email: alice.email, password });
for (const path of [
  pageRoutes.budgets,
  `/budgets/${budgetId}`,
  `/budgets/${budgetId}?period=2019-05`,
  `/budgets/${budgetId}/edit`,
  pageRoutes.expenses,
  `${pageRoutes.expenses}?category=food`,
  `${pageRoutes.expenses}?q=coffee`,
  pageRoutes.reports,
  `${pageRoutes.reports}?from=2016-01-01&to=2026-12-31`,
  pageRoutes.transactions,
  pageRoutes.rules,
  pageRoutes.newRule,
  pageRoutes.import,
  pageRoutes.recurring,
])
  test(`page ${path.replaceAll(budgetId, 'ID')}`, () => assertShort(path, () => browser.open(path)));

for (const path of ['', '?p=2', '?q=coffee', '?q=alice', '?o=1', '?o=-3', '?o=5'].map(
  (query) => `/admin/budgets/expense/${query}`,
))
  test(`page ${path}`, () => assertShort(path, () => staff.open(path), adminStepsMax));
for (const path of ['/admin/', '/admin/budgets/account/', '/admin/budgets/budget/'])
  test(`page ${path}`, () => assertShort(path, () => staff.open(path), adminStepsMax));
test('search of all in the admin', () => assertShort('search', () => staff.open('/admin/search/?q=coffee')));
