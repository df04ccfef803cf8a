import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, type Person, startBudgets } from '../testing.ts';
import { signedInClient } from '../testing-pages.ts';

// It is March 15, 2026.
const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());
const alice = await app.person('alice');
const bob = await app.person('bob');
const budgetOf = async (given: Record<string, unknown> = {}) => {
  const plan = { name: 'Food', limit: 500, period: 'monthly', rollover: 'full', startDate: '2025-10-01' };
  const { id } = await alice.create('/api/budgets', { ...plan, ...given });
  return `/api/budgets/${id}`;
};
const spend = (path: string, amount: number, spentOn: string) =>
  alice.create('/api/expenses', {
    budgetId: path.split('/').at(-1),
    description: 'Food',
    amount,
    spentOn,
  });
const read = async (path: string, person: Person = alice) => (await person.get(path)).json;
type Row = Record<string, unknown>;
const history = async (path: string, ...fields: string[]) =>
  (await read(`${path}/history?periods=4`)).map((row: Row) => [
    row.period,
    ...fields.map((name) => row[name]),
  ]);

test('a changed limit makes no money of the past', async () => {
  const path = await budgetOf();
  for (const month of ['2025-10', '2025-11', '2025-12', '2026-01', '2026-02'])
    await spend(path, 500, `${month}-10`);
  const changed = await alice.put(path, { limit: 600 });
  assert.equal(changed.json.remaining, 600);
  assert.deepEqual(await history(path, 'limit', 'carried', 'spent', 'available'), [
    ['2025-12', 500, 0, 500, 500],
    ['2026-01', 500, 0, 500, 500],
    ['2026-02', 500, 0, 500, 500],
    ['2026-03', 600, 0, 0, 600],
  ]);
  await alice.put(path, { limit: 100 });
  assert.deepEqual((await history(path, 'limit', 'remaining')).slice(2), [
    ['2026-02', 500, 0],
    ['2026-03', 100, 100],
  ]);
  assert.equal((await read(`${path}/summary?period=2026-01`)).limit, 500);
  assert.equal((await read(`${path}/summary?period=2026-05`)).carried, 200);
  const [listed] = await read('/api/budgets?limit=1');
  assert.equal(listed.remaining, 100);
});

test('a change with `from` reaches back, and no further', async () => {
  const path = await budgetOf({ limit: 100 });
  await alice.put(path, { limit: 200, from: '2026-01' });
  await alice.put(path, { limit: 300 });
  assert.deepEqual(await history(path, 'limit', 'carried'), [
    ['2025-12', 100, 200],
    ['2026-01', 200, 300],
    ['2026-02', 200, 500],
    ['2026-03', 300, 700],
  ]);
  await alice.put(path, { limit: 50, from: '2025-12' });
  assert.deepEqual(await history(path, 'limit', 'carried'), [
    ['2025-12', 50, 200],
    ['2026-01', 50, 250],
    ['2026-02', 50, 300],
    ['2026-03', 50, 350],
  ]);
  for (const from of ['2026-04', '2026', '2026-W01', 'x'])
    assertError(await alice.put(path, { limit: 1, from }), {
      status: 400,
      code: 'VALIDATION_FAILED',
      field: 'from',
    });
  assert.equal((await read(path)).limit, 50);
});

test('rollover and period hold from the period in which they were changed', async () => {
  const path = await budgetOf({ rollover: 'none', limit: 100 });
  await spend(path, 30, '2026-02-03');
  await spend(path, 10, '2026-03-02');
  await alice.put(path, { rollover: 'full' });
  assert.equal((await read(path)).remaining, 90, 'what was left in February is not added now');
  assert.equal((await read(`${path}/summary?period=2026-04`)).carried, 90);
  await alice.put(path, { period: 'weekly' });
  assert.deepEqual(
    (await read(`${path}/history?periods=4`)).map(({ period, from, to, spent }: Row) => [
      period,
      from,
      to,
      spent,
    ]),
    [
      ['2026-01', '2026-01-01', '2026-01-31', 0],
      ['2026-02', '2026-02-01', '2026-02-28', 30],
      ['2026-03', '2026-03-01', '2026-03-08', 10],
      ['2026-W11', '2026-03-09', '2026-03-15', 0],
    ],
  );
  assert.equal((await read(`${path}/summary?period=2026-W11`)).carried, 90);
  assert.equal((await read(`${path}/summary?period=2026-02`)).spent, 30);
  await alice.put(path, { period: 'none' });
  assert.deepEqual(await history(path, 'spent', 'from'), [['all', 40, null]]);
});

test('a month begins on payday, and is named by the month it begins in', async () => {
  const path = await budgetOf({ periodDay: 25, limit: 100, startDate: '2026-01-25' });
  await spend(path, 30, '2026-02-24');
  await spend(path, 20, '2026-02-25');
  assert.deepEqual(await history(path, 'from', 'to', 'carried', 'spent'), [
    ['2025-11', '2025-11-25', '2025-12-24', 0, 0],
    ['2025-12', '2025-12-25', '2026-01-24', 0, 0],
    ['2026-01', '2026-01-25', '2026-02-24', 0, 30],
    ['2026-02', '2026-02-25', '2026-03-24', 70, 20],
  ]);
  const [listed] = await read('/api/budgets?limit=1');
  assert.deepEqual([listed.spent, listed.remaining, listed.periodDay], [20, 150, 25]);
  for (const periodDay of [0, 29, 1.5, '5'])
    assertError(await alice.put(path, { periodDay }), {
      status: 400,
      code: 'VALIDATION_FAILED',
      field: 'periodDay',
    });
  // The period in which the day is changed gets longer, so that none is there twice.
  await alice.put(path, { periodDay: 1 });
  assert.deepEqual((await history(path, 'from', 'to')).slice(2), [
    ['2026-02', '2026-02-25', '2026-02-28'],
    ['2026-03', '2026-03-01', '2026-03-31'],
  ]);
  await alice.put(path, { periodDay: 10 });
  assert.deepEqual((await history(path, 'from', 'to')).slice(2), [
    ['2026-02', '2026-02-25', '2026-02-28'],
    ['2026-03', '2026-03-01', '2026-04-09'],
  ]);
});

test('a history is of one’s own budget, and of 1 to 120 periods', async () => {
  const path = await budgetOf();
  assert.equal((await read(`${path}/history`)).length, 12);
  assertError(await bob.get(`${path}/history`), { status: 404, code: 'NOT_FOUND' });
  assertError(await app.send(`${path}/history`), { status: 401, code: 'UNAUTHORIZED' });
  for (const periods of ['0', '121', 'x'])
    assertError(await alice.get(`${path}/history?periods=${periods}`), {
      status: 400,
      code: 'INVALID_INPUT',
      field: 'periods',
    });
});

test('the page shows twelve periods with the limit of each, and links to them', async () => {
  const path = await budgetOf({ rollover: 'none' });
  await spend(path, 501, '2026-02-03');
  await alice.put(path, { limit: 700 });
  const page = await (await signedInClient(app, alice)).open(path.replace('/api', ''));
  assert.equal(page.html.match(/class="column/g)?.length, 12);
  assert.match(page.html, /February 2026: \$501\.00 of \$500\.00/);
  assert.match(page.html, /March 2026: \$0\.00 of \$700\.00/);
  const [, february = ''] = /href="([^"]*day=2026-02-01)"/.exec(page.html) ?? [];
  const past = await (await signedInClient(app, alice)).open(february);
  assert.match(past.html, /\$1\.00 more than was available/);
});
