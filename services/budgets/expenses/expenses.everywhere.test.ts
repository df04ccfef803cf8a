import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, type Person, startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const alice = await app.person('alice');
const bob = await app.person('bob');
const path = '/api/expenses';
const item = (id: string) => `${path}/item/${id}`;

const budgetOf = (person: Person, given: object = {}) =>
  person.create('/api/budgets', { name: 'Groceries', limit: 500, ...given });
const spend = (person: Person, budgetId: string, given: object = {}) =>
  person.create(path, { budgetId, description: 'Tea', amount: 1, ...given });
const spentOf = async (person: Person, id: string) =>
  (await person.get(`/api/budgets/${id}`)).json.spentMinor;
const eventsOf = async (person: Person, type: string) => {
  const { json } = await person.get('/api/notifications?limit=500');
  return json.filter((each: { type: string }) => each.type === type).reverse();
};

test('an expense is created, read, changed and deleted', async () => {
  const { id: budgetId } = await budgetOf(alice);
  const created = await alice.post(path, {
    budgetId,
    description: 'Coffee',
    amount: '3.50',
    category: 'Food',
    tags: ['work', 'work', 'hot'],
    spentOn: '2026-03-01',
    notes: 'with milk',
    externalId: 'x-1',
  });
  assert.equal(created.status, 201, created.text);
  const expense = created.json;
  assert.deepEqual(expense, {
    id: expense.id,
    budgetId,
    kind: 'expense',
    description: 'Coffee',
    amount: 3.5,
    amountMinor: 350,
    currency: 'USD',
    category: 'Food',
    tags: ['work', 'hot'],
    spentOn: '2026-03-01',
    notes: 'with milk',
    externalId: 'x-1',
    originalAmount: null,
    originalAmountMinor: null,
    originalCurrency: null,
    rate: null,
    rateDate: null,
    addedBy: { id: alice.id, username: alice.email.split('@')[0] },
    createdAt: '2026-03-15T12:00:00.000Z',
    updatedAt: '2026-03-15T12:00:00.000Z',
    version: 1,
  });
  assert.equal(created.headers.get('location'), item(expense.id));
  assert.deepEqual((await alice.get(item(expense.id))).json, expense);
  assert.equal((await alice.send(item(expense.id), { headers: { 'if-none-match': '"v1"' } })).status, 304);
  const changed = await alice.put(`${path}/${expense.id}`, { amount: 4, category: null });
  assert.deepEqual(changed.json, { ...expense, amount: 4, amountMinor: 400, category: null, version: 2 });
  assert.equal(await spentOf(alice, budgetId), 400);
  const deleted = await alice.delete(`${path}/${expense.id}`);
  assert.deepEqual([deleted.status, deleted.json.id], [200, expense.id]);
  assert.equal(await spentOf(alice, budgetId), 0);
  assertError(await alice.get(item(expense.id)), { status: 404, code: 'NOT_FOUND' });
  assertError(await alice.delete(`${path}/${expense.id}`), { status: 404, code: 'NOT_FOUND' });
});

test('expenses of another user do not exist', async () => {
  const { id: budgetId } = await budgetOf(alice);
  const { id } = await spend(alice, budgetId);
  for (const answer of [
    await bob.get(item(id)),
    await bob.put(`${path}/${id}`, { amount: 2 }),
    await bob.delete(`${path}/${id}`),
    await bob.get(`${path}/${budgetId}`),
    await bob.get(`${path}?budgetId=${budgetId}`),
    await bob.post(path, { budgetId, description: 'x', amount: 1 }),
    await alice.get(`${path}/${id}`),
  ])
    assertError(answer, { status: 404, code: 'NOT_FOUND' });
  const own = await budgetOf(bob);
  const moved = await bob.put(`${path}/${(await spend(bob, own.id)).id}`, { budgetId });
  assertError(moved, { status: 404, code: 'NOT_FOUND' });
  assert.deepEqual((await app.send(path)).status, 401);
});

test('an invalid expense is refused, with the field, and changes nothing', async () => {
  const { id: budgetId } = await budgetOf(alice);
  const good = { budgetId, description: 'Tea', amount: 1 };
  const cases: [object, string][] = [
    [{ ...good, budgetId: 7 }, 'budgetId'],
    [{ ...good, kind: 'income' }, 'kind'],
    [{ budgetId, amount: 1 }, 'description'],
    [{ budgetId, description: 'Tea' }, 'amount'],
    [{ ...good, amount: 0 }, 'amount'],
    [{ ...good, amount: -1 }, 'amount'],
    [{ ...good, amount: 0.001 }, 'amount'],
    [{ ...good, amount: '1,000' }, 'amount'],
    [{ ...good, amount: 'NaN' }, 'amount'],
    [{ ...good, amount: true }, 'amount'],
    [{ ...good, description: ' ' }, 'description'],
    [{ ...good, description: 'a'.repeat(501) }, 'description'],
    [{ ...good, tags: Array.from({ length: 21 }, (_, index) => `t${index}`) }, 'tags'],
    [{ ...good, tags: ['a'.repeat(51)] }, 'tags[0]'],
    [{ ...good, notes: 'a'.repeat(2_001) }, 'notes'],
    [{ ...good, spentOn: '2026-02-29' }, 'spentOn'],
    [{ ...good, spentOn: '0999-01-01' }, 'spentOn'],
    [{ ...good, currency: 'EUR' }, 'rate'],
    [{ ...good, currency: 'EUR', rate: 0 }, 'rate'],
    [{ ...good, currency: 'EUR', rate: 'x' }, 'rate'],
    [{ ...good, currency: 'EUR', rate: '0.001' }, 'rate'],
    [{ ...good, currency: 'XYZ', rate: 1 }, 'currency'],
  ];
  for (const [body, field] of cases)
    assertError(await alice.post(path, body), { status: 400, code: 'VALIDATION_FAILED', field });
  assert.equal(await spentOf(alice, budgetId), 0);
  assert.deepEqual((await alice.get(`${path}/${budgetId}`)).json, []);
});

test('what was paid in another currency is converted once, half to even, and kept', async () => {
  const { id: budgetId } = await budgetOf(alice);
  const foreign = await spend(alice, budgetId, {
    amount: 1010,
    currency: 'JPY',
    rate: '0.0085',
    spentOn: '2026-03-02',
  });
  assert.deepEqual(
    [foreign.amountMinor, foreign.currency, foreign.originalAmount, foreign.originalAmountMinor],
    [858, 'USD', 1010, 1010],
  );
  assert.deepEqual(
    [foreign.originalCurrency, foreign.rate, foreign.rateDate],
    ['JPY', '0.0085', '2026-03-02'],
  );
  const changed = await alice.put(`${path}/${foreign.id}`, { amount: 1030 });
  assert.deepEqual([changed.json.amountMinor, changed.json.originalAmount], [876, 1030]);
  const domestic = await alice.put(`${path}/${foreign.id}`, { amount: 5, currency: 'USD' });
  assert.deepEqual(
    [domestic.json.amountMinor, domestic.json.originalAmount, domestic.json.rate],
    [500, null, null],
  );
  assert.equal(await spentOf(alice, budgetId), 500);
});

test('an external id is there once in a budget', async () => {
  const { id: budgetId } = await budgetOf(alice);
  const other = await budgetOf(alice);
  await spend(alice, budgetId, { externalId: 'bank-1' });
  const again = await alice.post(path, { budgetId, description: 'x', amount: 1, externalId: 'bank-1' });
  assertError(again, { status: 409, code: 'CONFLICT', field: 'externalId' });
  const { id } = await spend(alice, other.id, { externalId: 'bank-1' });
  assertError(await alice.put(`${path}/${id}`, { budgetId }), {
    status: 409,
    code: 'CONFLICT',
    field: 'externalId',
  });
  assert.equal(await spentOf(alice, budgetId), 100);
});

test('an expense moves to another budget and another day, and the sums follow', async () => {
  const from = await budgetOf(alice, { period: 'monthly' });
  const to = await budgetOf(alice, { period: 'monthly' });
  const { id } = await spend(alice, from.id, { amount: 7 });
  await alice.put(`${path}/${id}`, { budgetId: to.id, spentOn: '2026-02-01' });
  assert.deepEqual([await spentOf(alice, from.id), await spentOf(alice, to.id)], [0, 0]);
  const { json } = await alice.get(`/api/budgets/${to.id}/summary?period=2026-02`);
  assert.deepEqual([json.spent, json.expenses], [7, 1]);
  assert.equal((await alice.delete(`/api/budgets/${from.id}`)).status, 200);
});

test('lists are filtered and sorted, page by page', async () => {
  const carol = await app.person('carol');
  const food = await budgetOf(carol);
  const fun = await budgetOf(carol);
  const add = (budgetId: string, given: object) => spend(carol, budgetId, given);
  await add(food.id, {
    description: 'Café au lait',
    amount: 3,
    category: 'Food',
    tags: ['hot'],
    spentOn: '2026-01-01',
  });
  await add(fun.id, { description: 'Cinema', amount: 12, category: 'Fun', spentOn: '2026-01-03' });
  await add(food.id, {
    description: 'Cake',
    amount: 5,
    category: 'Food',
    tags: ['hot', 'sweet'],
    spentOn: '2026-01-02',
  });
  await add(food.id, { description: 'Apple', amount: 3, category: 'Food', spentOn: '2026-01-02' });
  const names = async (query: string) => {
    const seen: string[] = [];
    for (let next: string | undefined = query; next; ) {
      const page = await carol.get(next);
      assert.equal(page.status, 200, page.text);
      seen.push(...page.json.map(({ description }: { description: string }) => description.slice(0, 2)));
      next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
      assert.ok(Number(page.headers.get('x-total-count')) >= page.json.length);
    }
    return seen.join(' ');
  };
  const cases: [string, string][] = [
    ['', 'Ap Ca Ci Ca'],
    ['?limit=1', 'Ap Ca Ci Ca'],
    ['?sort=createdAt&limit=3', 'Ca Ci Ca Ap'],
    ['?sort=amount&limit=1', 'Ca Ap Ca Ci'],
    ['?sort=-amount&limit=2', 'Ci Ca Ap Ca'],
    ['?sort=spentOn&limit=1', 'Ca Ca Ap Ci'],
    ['?sort=-spentOn&limit=3', 'Ci Ap Ca Ca'],
    [`?budgetId=${fun.id}`, 'Ci'],
    ['?from=2026-01-02&to=2026-01-02', 'Ap Ca'],
    ['?minAmount=3.01', 'Ca Ci'],
    ['?minAmount=3&maxAmount=5', 'Ap Ca Ca'],
    ['?category=Fun', 'Ci'],
    ['?tag=hot', 'Ca Ca'],
    ['?tag=sweet', 'Ca'],
    ['?q=cafe', 'Ca'],
    ['?q=ca', 'Ca Ca'],
    ['?q=nothing', ''],
  ];
  for (const [query, expected] of cases) assert.equal(await names(`${path}${query}`), expected, query);
  assert.equal(await names(`${path}/${food.id}?sort=amount`), 'Ca Ap Ca');
  for (const query of [
    'sort=name',
    'from=x',
    'from=2026-02-01&to=2026-01-01',
    'minAmount=x',
    'limit=-1',
    'sort=amount&cursor=WyJhIiwxXQ',
  ])
    assertError(await carol.get(`${path}?${query}`), { status: 400, code: 'INVALID_INPUT' });
});

test('each change is a notification with the expense, numbered without holes', async () => {
  const carol = await app.person('carol');
  const budget = await budgetOf(carol);
  const { id } = await spend(carol, budget.id);
  await carol.put(`${path}/${id}`, { amount: 2 });
  await carol.delete(`${path}/${id}`);
  const { json } = await carol.get('/api/notifications');
  assert.deepEqual(
    json.map(({ seq, type }: { seq: number; type: string }) => [seq, type]),
    [
      [4, 'expense.deleted'],
      [3, 'expense.updated'],
      [2, 'expense.created'],
      [1, 'budget.created'],
    ],
  );
  assert.equal(json[1].data.amount, 2);
  assert.equal(json[1].data.id, id);
  assert.equal(json[3].data.id, budget.id);
});

test('a threshold notifies once in a period, and again after spending fell below', async () => {
  const carol = await app.person('carol');
  const { id: budgetId } = await budgetOf(carol, { limit: 100, period: 'monthly' });
  const told = async () =>
    (await eventsOf(carol, 'budget.threshold')).map(
      ({ data }: { data: { period: string; threshold: number } }) => `${data.period} ${data.threshold}`,
    );
  await spend(carol, budgetId, { amount: 79.99 });
  assert.deepEqual(await told(), []);
  const { id } = await spend(carol, budgetId, { amount: '0.01' });
  assert.deepEqual(await told(), ['2026-03 80']);
  await spend(carol, budgetId, { amount: 1 });
  await spend(carol, budgetId, { amount: 200, spentOn: '2026-02-01' });
  assert.deepEqual(await told(), ['2026-03 80', '2026-02 80', '2026-02 100']);
  await carol.delete(`${path}/${id}`);
  await carol.put(`${path}/${(await spend(carol, budgetId, { amount: 0.5 })).id}`, { amount: 30 });
  assert.deepEqual((await told()).slice(3), ['2026-03 100']);
  const [{ data, message }] = await eventsOf(carol, 'budget.threshold');
  assert.match(message, /^You have spent \$80\.00 of \$100\.00 for .+ in March 2026\.$/);
  assert.deepEqual(data, {
    budgetId,
    period: '2026-03',
    threshold: 80,
    spent: 80,
    spentMinor: 8_000,
    available: 100,
    availableMinor: 10_000,
    currency: 'USD',
  });
});

test('50 expenses at once reach a threshold once, and the sums are exact', async () => {
  const carol = await app.person('carol');
  const { id: budgetId } = await budgetOf(carol, { limit: 5 });
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => carol.post(path, { budgetId, description: 'Tea', amount: '0.10' })),
  );
  assert.ok(answers.every(({ status }) => status === 201));
  assert.equal(await spentOf(carol, budgetId), 500);
  const told = await eventsOf(carol, 'budget.threshold');
  assert.deepEqual(
    told.map(({ data }: { data: { threshold: number } }) => data.threshold),
    [80, 100],
  );
  const { json } = await carol.get('/api/notifications?limit=500');
  assert.deepEqual(
    json.map(({ seq }: { seq: number }) => seq).reverse(),
    Array.from({ length: 53 }, (_, index) => index + 1),
  );
});

test('no expense is refused because the sum of its budget exceeds 2^53', async () => {
  const { id: budgetId } = await budgetOf(alice);
  const expenses = [];
  for (let count = 0; count < 10; count++)
    expenses.push(await spend(alice, budgetId, { amount: '9999999999999.99' }));
  const { text } = await alice.get(`/api/budgets/${budgetId}`);
  assert.match(text, /"spent":99999999999999\.9,"spentMinor":9999999999999990,/);
  for (const { id } of expenses) await alice.delete(`${path}/${id}`);
  assert.equal(await spentOf(alice, budgetId), 0);
});

test('an idempotency key adds an expense once', async () => {
  const { id: budgetId } = await budgetOf(alice);
  const body = { budgetId, description: 'Once', amount: 1 };
  const send = () => alice.post(path, body, { 'idempotency-key': 'expense-1' });
  const answers = await Promise.all([send(), send(), send()]);
  assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
  assert.equal(await spentOf(alice, budgetId), 100);
  const other = await alice.post('/api/customers', { name: 'Ada' }, { 'idempotency-key': 'expense-1' });
  assertError(other, { status: 409, code: 'CONFLICT' });
});

test('If-Match protects a change and a deletion', async () => {
  const { id: budgetId } = await budgetOf(alice);
  const { id } = await spend(alice, budgetId);
  const put = (tag: string) => alice.put(`${path}/${id}`, { notes: 'x' }, { 'if-match': tag });
  assert.equal((await put('"v1"')).status, 200);
  assertError(await put('"v1"'), { status: 412, code: 'PRECONDITION_FAILED' });
  const stale = await alice.send(`${path}/${id}`, { method: 'DELETE', headers: { 'if-match': '"v1"' } });
  assertError(stale, { status: 412, code: 'PRECONDITION_FAILED' });
});
