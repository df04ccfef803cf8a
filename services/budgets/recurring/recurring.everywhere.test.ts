import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

let alice = await app.person('alice');
const bob = await app.person('bob');
const path = '/api/recurring';
const noon = Date.UTC(2026, 2, 15, 12);

const budgetOf = () => alice.create('/api/budgets', { name: 'Home', limit: 5_000 });
const add = async (given: object) => {
  const budget = await budgetOf();
  const recurring = await alice.create(path, {
    budgetId: budget.id,
    description: 'Rent',
    amount: 10,
    ...given,
  });
  return { budgetId: budget.id, recurring };
};
const daysOf = async (budgetId: string): Promise<string[]> => {
  const { json } = await alice.get(`/api/expenses/${budgetId}?sort=spentOn&limit=500`);
  return json.map(({ spentOn }: { spentOn: string }) => spentOn);
};

test('a recurring expense is created, read, changed and ended', async () => {
  const { budgetId, recurring } = await add({ freq: 'monthly', byMonthDay: 31, category: 'Home' });
  assert.equal(recurring.next, '2026-03-31');
  assert.deepEqual(await daysOf(budgetId), []);
  const { id } = recurring;
  assert.deepEqual((await alice.get(`${path}/${id}`)).json, recurring);
  const changed = await alice.put(`${path}/${id}`, { amount: '12.50', byMonthDay: [1, 20] });
  assert.deepEqual([changed.json.amount, changed.json.next, changed.json.version], [12.5, '2026-03-20', 2]);
  assertError(await alice.put(`${path}/${id}`, { amount: 1 }, { 'if-match': '"v1"' }), {
    status: 412,
    code: 'PRECONDITION_FAILED',
  });
  assert.equal((await alice.get(path)).json[0].id, id);
  assert.equal((await alice.delete(`${path}/${id}`)).json.id, id);
  assertError(await alice.get(`${path}/${id}`), { status: 404, code: 'NOT_FOUND' });
});

test('what was missed since the start is there at once, the 31st on the last day of shorter months', async () => {
  const { budgetId } = await add({ freq: 'monthly', start: '2025-12-31', timezone: 'Europe/Berlin' });
  assert.deepEqual(await daysOf(budgetId), ['2025-12-31', '2026-01-31', '2026-02-28']);
  const old = await add({ freq: 'monthly', start: '2010-01-15' });
  const days = await daysOf(old.budgetId);
  assert.deepEqual([days.length, days[0], days.at(-1)], [13, '2025-03-15', '2026-03-15']);
});

test('every rule has its days', async () => {
  const cases: [object, string[]][] = [
    [{ freq: 'daily', interval: 5, start: '2026-03-01' }, ['2026-03-01', '2026-03-06', '2026-03-11']],
    [
      { freq: 'daily', byDay: ['SA', 'SU'], start: '2026-03-05' },
      ['2026-03-07', '2026-03-08', '2026-03-14', '2026-03-15'],
    ],
    [
      { freq: 'weekly', interval: 2, byDay: ['FR', 'MO'], start: '2026-02-25' },
      ['2026-02-27', '2026-03-09', '2026-03-13'],
    ],
    [{ freq: 'weekly', start: '2026-03-01' }, ['2026-03-01', '2026-03-08', '2026-03-15']],
    [{ freq: 'daily', start: '2026-03-01', count: 2 }, ['2026-03-01', '2026-03-02']],
    [{ freq: 'daily', start: '2026-03-01', end: '2026-03-03' }, ['2026-03-01', '2026-03-02', '2026-03-03']],
    [{ freq: 'yearly', start: '2024-02-29' }, ['2026-02-28']],
    [
      { freq: 'monthly', interval: 2, byMonthDay: [10, 31], start: '2025-12-20' },
      ['2025-12-31', '2026-02-10', '2026-02-28'],
    ],
  ];
  for (const [rule, expected] of cases) {
    const { budgetId } = await add(rule);
    assert.deepEqual(await daysOf(budgetId), expected, JSON.stringify(rule));
  }
});

test('days on a weekend move to the working day before or after, one expense a day, and not before the start', async () => {
  const cases: [object, string[], next: string | null][] = [
    [
      { freq: 'monthly', start: '2025-11-30', byMonthDay: 31, onWeekend: 'before' },
      ['2025-12-01', '2025-12-31', '2026-01-30', '2026-02-27'],
      '2026-03-31',
    ],
    [
      { freq: 'monthly', start: '2026-01-15', onWeekend: 'after' },
      ['2026-01-15', '2026-02-16'],
      '2026-03-16',
    ],
    [{ freq: 'monthly', start: '2026-03-15', onWeekend: 'before' }, [], '2026-03-16'],
    [
      { freq: 'monthly', start: '2026-03-09', byMonthDay: 15, onWeekend: 'before' },
      ['2026-03-13'],
      '2026-04-15',
    ],
    [
      { freq: 'daily', start: '2026-03-05', count: 6, onWeekend: 'before' },
      ['2026-03-05', '2026-03-06', '2026-03-09', '2026-03-10', '2026-03-11', '2026-03-12'],
      null,
    ],
    [
      { freq: 'daily', start: '2026-03-06', end: '2026-03-08', onWeekend: 'after' },
      ['2026-03-06', '2026-03-09'],
      null,
    ],
  ];
  for (const [rule, days, next] of cases) {
    const { budgetId, recurring } = await add(rule);
    assert.deepEqual([await daysOf(budgetId), recurring.next], [days, next], JSON.stringify(rule));
  }
});

test('a changed move neither loses a day nor adds one twice, also when processes add at once', async () => {
  const weekly = await add({ freq: 'weekly', start: '2026-03-07', byDay: ['SA'], onWeekend: 'before' });
  const address = `${path}/${weekly.recurring.id}`;
  assert.deepEqual(await daysOf(weekly.budgetId), ['2026-03-09', '2026-03-13']);
  await Promise.all([alice.put(address, { onWeekend: 'same' }), app.addDueExpenses(), app.addDueExpenses()]);
  assert.deepEqual(await daysOf(weekly.budgetId), ['2026-03-09', '2026-03-13']);
  assert.equal((await alice.put(address, { onWeekend: 'after' })).json.next, '2026-03-23');
  const daily = await add({ freq: 'daily', start: '2026-03-14', onWeekend: 'after' });
  assert.deepEqual(await daysOf(daily.budgetId), []);
  await alice.put(`${path}/${daily.recurring.id}`, { onWeekend: 'same' });
  assert.deepEqual(await daysOf(daily.budgetId), ['2026-03-14', '2026-03-15']);
  app.clock.set(Date.UTC(2026, 2, 22, 12));
  alice = await app.signIn(alice);
  await alice.put(address, { onWeekend: 'before' });
  await alice.put(`${path}/${daily.recurring.id}`, { onWeekend: 'before' });
  assert.deepEqual(await daysOf(weekly.budgetId), ['2026-03-09', '2026-03-13', '2026-03-20']);
  assert.equal((await daysOf(daily.budgetId)).length, 9);
  app.clock.set(noon);
  alice = await app.signIn(alice);
});

test('an occurrence is there once, whatever runs twice, and when its day begins there', async () => {
  const { budgetId, recurring } = await add({ freq: 'daily', timezone: 'Pacific/Auckland' });
  // It is already the next day there.
  assert.deepEqual(await daysOf(budgetId), ['2026-03-16']);
  app.clock.set(Date.UTC(2026, 2, 16, 10, 59));
  alice = await app.signIn(alice);
  await app.addDueExpenses();
  assert.deepEqual(await daysOf(budgetId), ['2026-03-16']);
  app.clock.set(Date.UTC(2026, 2, 16, 11));
  await Promise.all([
    app.addDueExpenses(),
    app.addDueExpenses(),
    alice.put(`${path}/${recurring.id}`, { amount: 20 }),
  ]);
  await app.addDueExpenses();
  assert.deepEqual(await daysOf(budgetId), ['2026-03-16', '2026-03-17']);
  await alice.put(`${path}/${recurring.id}`, { start: '2026-03-16' });
  assert.deepEqual(await daysOf(budgetId), ['2026-03-16', '2026-03-17']);
  app.clock.set(noon);
  alice = await app.signIn(alice);
});

test('a change counts from the next day on, and what was booked stays', async () => {
  const booked = ['2026-01-10', '2026-02-10', '2026-03-10'];
  for (const [change, next] of [
    [{ byMonthDay: 15 }, '2026-04-15'],
    [{ byMonthDay: 20 }, '2026-03-20'],
    [{ freq: 'weekly' }, '2026-03-21'],
    [{ freq: 'daily', byDay: ['SU', 'MO'] }, '2026-03-16'],
    [{ interval: 2 }, '2026-05-10'],
    [{ amount: 20, timezone: 'Europe/Berlin' }, '2026-04-10'],
    [{ start: '2026-02-01' }, '2026-04-01'],
    [{ count: 5 }, '2026-04-10'],
    [{ count: 3 }, null],
    [{ end: '2026-03-31' }, null],
  ] as const) {
    const { budgetId, recurring } = await add({ freq: 'monthly', start: '2026-01-10' });
    const before = (await alice.get('/api/transactions?limit=1')).headers.get('x-total-count');
    const changed = await alice.put(`${path}/${recurring.id}`, change);
    assert.deepEqual([changed.status, changed.json.next], [200, next], JSON.stringify(change));
    await app.addDueExpenses();
    assert.deepEqual(await daysOf(budgetId), booked, JSON.stringify(change));
    const after = (await alice.get('/api/transactions?limit=1')).headers.get('x-total-count');
    assert.equal(after, before);
    await alice.delete(`${path}/${recurring.id}`);
  }
});

test('a count goes on where it was before a change, and an ended rule is not made up for', async () => {
  const { budgetId, recurring } = await add({ freq: 'weekly', start: '2026-02-20', count: 2 });
  assert.deepEqual(await daysOf(budgetId), ['2026-02-20', '2026-02-27']);
  const changed = await alice.put(`${path}/${recurring.id}`, { count: 4 });
  assert.equal(changed.json.next, '2026-03-20');
  app.clock.set(noon + 60 * 86_400_000);
  alice = await app.signIn(alice);
  await app.addDueExpenses();
  assert.deepEqual(await daysOf(budgetId), ['2026-02-20', '2026-02-27', '2026-03-20', '2026-03-27']);
  app.clock.set(noon);
  alice = await app.signIn(alice);
});

test('an earlier start adds what was missed before, each once, also what is due when it is changed', async () => {
  const { budgetId, recurring } = await add({ freq: 'monthly', start: '2026-02-10', count: 12 });
  const address = `${path}/${recurring.id}`;
  await alice.put(address, { start: '2025-12-05' });
  const days = ['2025-12-05', '2026-01-05', '2026-02-05', '2026-02-10', '2026-03-10'];
  assert.deepEqual(await daysOf(budgetId), days);
  await alice.put(address, { start: '2025-12-05' });
  assert.deepEqual(await daysOf(budgetId), days);
  const later = await alice.put(address, { start: '2026-04-20' });
  assert.equal(later.json.next, '2026-04-20');
  assert.deepEqual(await daysOf(budgetId), days);
  // The service was down on April 20: that day is added by the rule as it was.
  app.clock.set(Date.UTC(2026, 3, 22, 12));
  alice = await app.signIn(alice);
  await alice.put(address, { amount: 99, byMonthDay: 1 });
  assert.deepEqual(await daysOf(budgetId), [...days, '2026-04-20']);
  const { json } = await alice.get(`/api/expenses/${budgetId}?sort=-spentOn&limit=1`);
  assert.equal(json[0].amount, 10);
  app.clock.set(noon);
  alice = await app.signIn(alice);
});

test('the service adds what is due after it was down', async () => {
  const { budgetId } = await add({ freq: 'weekly' });
  app.clock.set(noon + 22 * 86_400_000);
  alice = await app.signIn(alice);
  await app.addDueExpenses();
  assert.deepEqual(await daysOf(budgetId), ['2026-03-15', '2026-03-22', '2026-03-29', '2026-04-05']);
  app.clock.set(noon);
  alice = await app.signIn(alice);
});

test('recurring expenses of another user do not exist, and what is invalid is refused', async () => {
  const { budgetId, recurring } = await add({ freq: 'monthly', byMonthDay: 31 });
  const address = `${path}/${recurring.id}`;
  for (const answer of [
    await bob.get(address),
    await bob.put(address, { amount: 1 }),
    await bob.delete(address),
    await bob.post(path, { budgetId, description: 'x', amount: 1, freq: 'daily' }),
  ])
    assertError(answer, { status: 404, code: 'NOT_FOUND' });
  assert.deepEqual((await bob.get(path)).json, []);
  const good = { budgetId, description: 'x', amount: 1, freq: 'monthly' };
  for (const [body, field] of [
    [{ ...good, freq: 'hourly' }, 'freq'],
    [{ ...good, amount: 0 }, 'amount'],
    [{ ...good, interval: 0 }, 'interval'],
    [{ ...good, byMonthDay: 32 }, 'byMonthDay'],
    [{ ...good, byDay: ['MO'] }, 'byDay'],
    [{ ...good, freq: 'weekly', byMonthDay: 1 }, 'byMonthDay'],
    [{ ...good, timezone: 'Moon/Base' }, 'timezone'],
    [{ ...good, start: '2026-03-15', end: '2026-03-14' }, 'end'],
    [{ ...good, count: 0 }, 'count'],
    [{ ...good, onWeekend: 'never' }, 'onWeekend'],
    [{ ...good, onWeekend: null }, 'onWeekend'],
  ] as const)
    assertError(await alice.post(path, body), { status: 400, code: 'VALIDATION_FAILED', field });
});
