import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, startBudgets } from '../testing.ts';
import { signedInClient } from '../testing-pages.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const alice = await app.person('alice');
const bob = await app.person('bob');
const usd = await alice.create('/api/budgets', { name: 'Food', limit: 100 });
const jpy = await alice.create('/api/budgets', { name: 'Trip', limit: 100, currency: 'JPY' });
const add = (budgetId: string, amount: number, spentOn: string, category?: string) =>
  alice.create('/api/expenses', { budgetId, description: `x${amount}`, amount, spentOn, category });
await add(usd.id, 10.1, '2026-01-05', 'Food');
await add(usd.id, 0.2, '2026-01-31', 'Food');
await add(usd.id, 30, '2026-03-01', '=Fun');
await add(usd.id, 5, '2026-03-02');
await add(jpy.id, 100, '2026-03-03', 'Food');

test('by category and by month, currencies apart', async () => {
  assert.deepEqual((await alice.get('/api/reports/by-category')).json, [
    { category: 'Food', currency: 'JPY', amount: 100, amountMinor: 100, expenses: 1 },
    { category: '=Fun', currency: 'USD', amount: 30, amountMinor: 3_000, expenses: 1 },
    { category: 'Food', currency: 'USD', amount: 10.3, amountMinor: 1_030, expenses: 2 },
    { category: null, currency: 'USD', amount: 5, amountMinor: 500, expenses: 1 },
  ]);
  assert.deepEqual((await alice.get('/api/reports/by-month?to=2026-03-02')).json, [
    { month: '2026-01', currency: 'USD', amount: 10.3, amountMinor: 1_030, expenses: 2 },
    { month: '2026-03', currency: 'USD', amount: 35, amountMinor: 3_500, expenses: 2 },
  ]);
});

test('categories that differ by case or accents only are one, spelled as most expenses are', async () => {
  const dora = await app.person('dora');
  const { id: budgetId } = await dora.create('/api/budgets', { name: 'All', limit: 100 });
  const yen = await dora.create('/api/budgets', { name: 'Trip', limit: 100, currency: 'JPY' });
  const spend = (amount: number, category?: string, budget = budgetId) =>
    dora.create('/api/expenses', {
      budgetId: budget,
      description: `x${amount}`,
      amount,
      spentOn: '2026-03-10',
      category,
    });
  await spend(50, 'CAFÉ');
  await spend(1, 'Café');
  await spend(2, 'Café');
  await spend(4, 'Кафе');
  await spend(8, 'кафе');
  await spend(16);
  await spend(100, 'cafe', yen.id);
  const report = (await dora.get('/api/reports/by-category')).json;
  assert.deepEqual(
    report.map((row: Record<string, unknown>) => [row.category, row.currency, row.amount, row.expenses]),
    [
      ['Café', 'JPY', 100, 1],
      ['Café', 'USD', 53, 3],
      [null, 'USD', 16, 1],
      ['Кафе', 'USD', 12, 2],
    ],
  );
  const { byCategory } = (await dora.get(`/api/budgets/${budgetId}/summary`)).json;
  assert.deepEqual(
    byCategory.map((row: Record<string, unknown>) => [row.category, row.amount]),
    [
      ['Café', 53],
      [null, 16],
      ['Кафе', 12],
    ],
  );
  const amounts = async (category: string) => {
    const { json, headers } = await dora.get(
      `/api/expenses?sort=amount&category=${encodeURIComponent(category)}`,
    );
    assert.equal(headers.get('x-total-count'), String(json.length));
    return json.map(({ amount }: { amount: number }) => amount);
  };
  assert.deepEqual(await amounts('cafe'), [1, 2, 50, 100]);
  assert.deepEqual(await amounts('КАФЕ'), [4, 8]);
  assert.deepEqual(await amounts('caf'), []);
  const page = await (await signedInClient(app, dora)).open('/expenses?category=CAFE');
  assert.match(page.html, /<option value="Café" selected>/);
  assert.doesNotMatch(page.html, /<option value="(CAFÉ|cafe|кафе)"/);
});

test('the trend has every month, with its change and the average of three', async () => {
  const { json } = await alice.get('/api/reports/trend');
  const dollars = json.filter(({ currency }: { currency: string }) => currency === 'USD');
  assert.deepEqual(
    dollars.map((row: Record<string, unknown>) => [
      row.month,
      row.amount,
      row.change,
      row.changePercent,
      row.average,
    ]),
    [
      ['2026-01', 10.3, 0, null, 10.3],
      ['2026-02', 0, -10.3, -100, 5.15],
      ['2026-03', 35, 35, null, 15.1],
    ],
  );
});

test('the largest expenses come first', async () => {
  const { json } = await alice.get('/api/reports/top?from=2026-01-01&to=2026-03-02');
  assert.deepEqual(
    json.map(({ amount }: { amount: number }) => amount),
    [30, 10.1, 5, 0.2],
  );
  assert.equal(json[0].budgetId, usd.id);
});

test('the largest expenses of one currency do not hide those of another', async () => {
  const dan = await app.person('dan');
  for (const [currency, amount] of [
    ['JPY', 5_000],
    ['USD', 3],
  ] as const) {
    const { id: budgetId } = await dan.create('/api/budgets', { name: currency, limit: 1, currency });
    for (let more = 0; more < 12; more++)
      await dan.create('/api/expenses', { budgetId, description: 'x', amount: amount + more });
  }
  const { json } = await dan.get('/api/reports/top');
  assert.deepEqual(
    json.map(({ amount }: { amount: number }) => amount),
    [
      ...Array.from({ length: 10 }, (_, index) => 5_011 - index),
      ...Array.from({ length: 10 }, (_, index) => 14 - index),
    ],
  );
});

test('a report is of one budget if it is named, and takes no other parameters', async () => {
  for (const name of ['by-category', 'by-month', 'trend', 'top']) {
    const { json } = await alice.get(`/api/reports/${name}?budgetId=${jpy.id}`);
    assert.deepEqual(
      json.map(({ currency, amount }: { currency: string; amount: number }) => [currency, amount]),
      [['JPY', 100]],
      name,
    );
    const foreign = await bob.get(`/api/reports/${name}?budgetId=${jpy.id}`);
    assertError(foreign, { status: 404, code: 'NOT_FOUND' });
    const unknown = await alice.get(`/api/reports/${name}?budget=${jpy.id}`);
    assertError(unknown, { status: 400, code: 'INVALID_INPUT', field: 'budget' });
  }
});

test('a report as CSV has no cell that acts as a formula', async () => {
  const { text, headers } = await alice.get('/api/reports/by-category?format=csv');
  assert.match(headers.get('content-type') ?? '', /^text\/csv/);
  assert.equal(text.split('\r\n')[2], "'=Fun,USD,30,3000,1");
});

test('reports are of one’s own, and what is invalid is refused', async () => {
  for (const name of ['by-category', 'by-month', 'trend', 'top']) {
    assert.deepEqual((await bob.get(`/api/reports/${name}`)).json, []);
    assertError(await app.send(`/api/reports/${name}`), { status: 401, code: 'UNAUTHORIZED' });
    assertError(await alice.get(`/api/reports/${name}?from=x`), {
      status: 400,
      code: 'INVALID_INPUT',
      field: 'from',
    });
    assertError(await alice.get(`/api/reports/${name}?format=pdf`), {
      status: 400,
      code: 'INVALID_INPUT',
      field: 'format',
    });
  }
  assertError(await alice.get('/api/reports/other'), { status: 404, code: 'NOT_FOUND' });
});

test('by payee, by tag and compared with earlier months; the page links to the expenses and saves each as CSV', async () => {
  const erin = await app.person('erin');
  const { id: budgetId } = await erin.create('/api/budgets', { name: 'Home', limit: 100, period: 'monthly' });
  const spend = (description: string, amount: number, spentOn: string, more: object = {}) =>
    erin.create('/api/expenses', { budgetId, description, amount, spentOn, ...more });
  await spend('REWE 4711', 20, '2026-03-02', { category: 'Food', tags: ['a', 'b'] });
  await spend('Rewe 12', 5, '2026-03-03', { category: 'food', tags: ['a'] });
  await spend('Lidl', 3, '2026-03-03', { kind: 'refund' });
  await spend('Lidl', 7, '2026-02-28', { category: 'Food' });
  await spend('Shoes', 90, '2025-03-31', { category: 'Clothes' });
  await erin.create('/api/expenses', { description: 'To savings', amount: 500, tags: ['transfer'] });
  const month = '?from=2026-03-01&to=2026-03-31';
  const get = async (path: string) => (await erin.get(`/api/reports/${path}`)).json;
  assert.deepEqual(await get(`by-payee${month}`), [
    { payee: 'REWE', currency: 'USD', amount: 25, amountMinor: 2_500, expenses: 2 },
    { payee: 'Lidl', currency: 'USD', amount: -3, amountMinor: -300, expenses: 1 },
  ]);
  assert.deepEqual(await get(`by-tag${month}`), [
    { tag: 'a', currency: 'USD', amount: 25, amountMinor: 2_500, expenses: 2 },
    { tag: 'b', currency: 'USD', amount: 20, amountMinor: 2_000, expenses: 1 },
  ]);
  type Row = { category: string; amount: number; before: number; lastYear: number };
  const compared: Row[] = await get('compare?to=2026-03-31');
  const rows = compared.map(({ category, amount, before, lastYear }) => [category, amount, before, lastYear]);
  assert.deepEqual(rows, [
    ['Food', 25, 7, 0],
    ['Clothes', 0, 0, 90],
    [null, -3, 0, 0],
  ]);
  const byBudget = (await get('compare-budgets?to=2026-03-31')).map(
    ({ budgetId: id, budget, amount, before, lastYear }: Row & { budgetId: string; budget: string }) => [
      id,
      budget,
      amount,
      before,
      lastYear,
    ],
  );
  assert.deepEqual(byBudget, [[budgetId, 'Home', 22, 7, 90]]);
  const client = await signedInClient(app, erin);
  const page = (await client.open(`/reports${month}`)).html.replaceAll('&amp;', '&');
  assert.match(page, /href="\/expenses\?q=REWE&from=2026-03-01&to=2026-03-31">REWE</);
  assert.match(page, /href="\/expenses\?category=Food&from=2026-03-01/);
  assert.match(page, /href="\/expenses\?tag=a&/);
  assert.match(page, /Compared with before[\s\S]*March 2026[\s\S]*February 2026[\s\S]*March 2025/);
  assert.match(page, new RegExp(`by budget[\\s\\S]*budget=${budgetId}&from=2026-03-01&to=2026-03-31">Home<`));
  assert.match(page, /Budgets against actual spending[\s\S]*Home/);
  assert.match(page, /href="\/reports\/compare-budgets\/csv/);
  const [address = ''] = /\/reports\/by-payee\/csv[^"]*/.exec(page) ?? [];
  const saved = (await client.open(address)).html;
  assert.match(saved, /^payee,currency,amount,amountMinor,expenses\r?\nREWE,USD,25/);
  assert.equal((await client.open('/reports/none/csv')).status, 404);
});

test('budgets are compared with their periods in the chosen days', async () => {
  const frank = await app.person('frank');
  const budget = { limit: 100, period: 'monthly', startDate: '2026-01-01' };
  const { id } = await frank.create('/api/budgets', { ...budget, name: 'Plain' });
  const payday = await frank.create('/api/budgets', { ...budget, name: 'Payday', periodDay: 25 });
  const spend = (budgetId: string, amount: number, spentOn: string) =>
    frank.create('/api/expenses', { budgetId, description: 'Tea', amount, spentOn });
  for (const each of [id, payday.id]) {
    await spend(each, 11, '2026-02-10');
    await spend(each, 30, '2026-03-10');
  }
  const client = await signedInClient(app, frank);
  const section = async (range: string) => {
    const { html } = await client.open(`/reports?${range}`);
    const [, shown = ''] = html.split('Budgets against actual spending');
    return shown.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
  };
  const last = await section('from=2026-02-01&to=2026-02-28');
  assert.match(last, /Payday Jan 25 – Feb 24, 2026 .* \$11\.00 \$89\.00/);
  assert.match(last, /Plain February 2026 .* \$11\.00 \$89\.00/);
  const now = await section('from=2026-03-01&to=2026-03-31');
  assert.match(now, /Payday Feb 25 – Mar 24, 2026 .* \$30\.00 \$70\.00 .*Plain March 2026/);
  // No expense has a category.
  const { html } = await client.open('/reports');
  assert.ok(html.indexOf('by budget') < html.indexOf('Compared with before, by category'));
});
