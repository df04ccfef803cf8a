import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, type Person, startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const alice = await app.person('alice');
const bob = await app.person('bob');
const unknownId = '01932c07-8a3b-7c55-9d0e-0c1a4c1d2f3b';
const path = '/api/budgets';

const budgetOf = (person: Person, given: object = {}) =>
  person.create(path, { name: 'Groceries', limit: 500, ...given });
const spend = (person: Person, budgetId: string, amount: number | string, spentOn = '2026-03-15') =>
  person.create('/api/expenses', { budgetId, description: 'Tea', amount, spentOn });

test('a budget is created, read, changed and deleted', async () => {
  const created = await alice.post(path, {
    name: 'Food',
    limit: '12.50',
    currency: 'EUR',
    period: 'monthly',
  });
  assert.equal(created.status, 201, created.text);
  const budget = created.json;
  assert.deepEqual(budget, {
    id: budget.id,
    name: 'Food',
    limit: 12.5,
    limitMinor: 1250,
    currency: 'EUR',
    period: 'monthly',
    periodDay: 1,
    startDate: '2026-03-15',
    rollover: 'none',
    thresholds: [80, 100],
    spent: 0,
    spentMinor: 0,
    remaining: 12.5,
    remainingMinor: 1250,
    role: 'owner',
    sharedBy: null,
    createdAt: '2026-03-15T12:00:00.000Z',
    updatedAt: '2026-03-15T12:00:00.000Z',
    version: 1,
  });
  const address = `${path}/${budget.id}`;
  assert.equal(created.headers.get('location'), address);
  assert.equal(created.headers.get('etag'), '"v1"');
  const read = await alice.get(address);
  assert.deepEqual(read.json, budget);
  const known = await alice.send(address, { headers: { 'if-none-match': '"v1"' } });
  assert.equal(known.status, 304);
  assert.equal(known.text, '');
  const changed = await alice.put(address, { name: 'Eating', thresholds: [50] });
  assert.deepEqual(changed.json, { ...budget, name: 'Eating', thresholds: [50], version: 2 });
  assert.equal(changed.headers.get('etag'), '"v2"');
  const deleted = await alice.delete(address);
  assert.equal(deleted.status, 200);
  assert.equal(deleted.json.id, budget.id);
  assert.equal(typeof deleted.json.message, 'string');
  assertError(await alice.get(address), { status: 404, code: 'NOT_FOUND' });
  assertError(await alice.delete(address), { status: 404, code: 'NOT_FOUND' });
});

test('requests without a token are refused', async () => {
  const { id } = await budgetOf(alice);
  for (const [method, at] of [
    ['GET', path],
    ['POST', path],
    ['GET', `${path}/${id}`],
    ['PUT', `${path}/${id}`],
    ['DELETE', `${path}/${id}`],
    ['GET', `${path}/${id}/summary`],
  ] as const) {
    assertError(await app.send(at, { method }), { status: 401, code: 'UNAUTHORIZED' });
  }
});

test('budgets of another user do not exist', async () => {
  const { id } = await budgetOf(alice);
  for (const address of [`${path}/${id}`, `${path}/${unknownId}`, `${path}/anything`]) {
    assertError(await bob.get(address), { status: 404, code: 'NOT_FOUND' });
    assertError(await bob.put(address, { name: 'Mine' }), { status: 404, code: 'NOT_FOUND' });
    assertError(await bob.delete(address), { status: 404, code: 'NOT_FOUND' });
    assertError(await bob.get(`${address}/summary`), { status: 404, code: 'NOT_FOUND' });
  }
  assert.deepEqual((await bob.get(path)).json, []);
  assert.equal((await alice.get(`${path}/${id}`)).json.name, 'Groceries');
});

test('an invalid budget is refused, with the field', async () => {
  const good = { name: 'Food', limit: 10 };
  const cases: [object, string][] = [
    [{ limit: 10 }, 'name'],
    [{ name: 'Food' }, 'limit'],
    [{ ...good, name: '' }, 'name'],
    [{ ...good, name: '\u2800\u3164' }, 'name'],
    [{ ...good, name: '  ' }, 'name'],
    [{ ...good, name: 'a'.repeat(121) }, 'name'],
    [{ ...good, name: 'a\u0000b' }, 'name'],
    [{ ...good, limit: -1 }, 'limit'],
    [{ ...good, limit: '1,000' }, 'limit'],
    [{ ...good, limit: 1.234 }, 'limit'],
    [{ ...good, limit: null }, 'limit'],
    [{ ...good, limit: 10_000_000_000_000 }, 'limit'],
    [{ ...good, limit: 1.5, currency: 'JPY' }, 'limit'],
    [{ ...good, currency: 'ABC' }, 'currency'],
    [{ ...good, currency: 'usd' }, 'currency'],
    [{ ...good, period: 'hourly' }, 'period'],
    [{ ...good, rollover: 'maybe' }, 'rollover'],
    [{ ...good, thresholds: [0] }, 'thresholds[0]'],
    [{ ...good, thresholds: ['80'] }, 'thresholds[0]'],
    [{ ...good, startDate: '2026-02-30' }, 'startDate'],
  ];
  for (const [body, field] of cases)
    assertError(await alice.post(path, body), { status: 400, code: 'VALIDATION_FAILED', field });
  assertError(await alice.post(path, '{"name":'), { status: 400, code: 'INVALID_INPUT' });
  assertError(await alice.post(path), { status: 400, code: 'INVALID_INPUT' });
  const text = await alice.post(path, 'name=Food', { 'content-type': 'text/plain' });
  assertError(text, { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' });
  const long = await alice.post(path, { ...good, name: 'a'.repeat(1024 * 1024) });
  assertError(long, { status: 413, code: 'PAYLOAD_TOO_LARGE' });
  assertError(await alice.send(path, { method: 'PATCH' }), { status: 405, code: 'METHOD_NOT_ALLOWED' });
});

test('limits have the digits of their currency, up to 15', async () => {
  const most = await budgetOf(alice, { limit: '9999999999999.99' });
  assert.equal(most.limitMinor, 999_999_999_999_999);
  assert.match((await alice.get(`${path}/${most.id}`)).text, /"limit":9999999999999\.99,/);
  assert.equal((await budgetOf(alice, { limit: 1e2, currency: 'JPY' })).limitMinor, 100);
  assert.equal((await budgetOf(alice, { limit: '1.234', currency: 'KWD' })).limit, 1.234);
  assert.equal((await budgetOf(alice, { limit: 0 })).limit, 0);
});

test('a number in JSON is read as it is written', async () => {
  const bodyOf = (limit: string) => `{"name":"Exact","limit":${limit}}`;
  const type = { 'content-type': 'application/json' };
  for (const limit of ['1e-400', '1.0000000000000000001', '1e400', '12345678901234567890'])
    assertError(await alice.post(path, bodyOf(limit), type), {
      status: 400,
      code: 'VALIDATION_FAILED',
      field: 'limit',
    });
  for (const limit of ['12.50', '1.25e1', '12.5000000000000000000000', '125E-1'])
    assert.equal((await alice.post(path, bodyOf(limit), type)).json.limitMinor, 1250, limit);
  const query = 'mutation ($x: Decimal!) { createBudget(input: { name: "a", limit: $x }) { limit } }';
  for (const [x, limit] of [
    ['1.0000000000000000001', undefined],
    ['1e-400', undefined],
    ['12.50', 12.5],
  ]) {
    const body = `{"query":${JSON.stringify(query)},"variables":{"x":${x}}}`;
    const { json, text } = await alice.post('/api/graphql', body, type);
    assert.equal(json.data?.createBudget.limit, limit, text);
  }
});

test('a list has pages, newest first, and says how many there are', async () => {
  const carol = await app.person('carol');
  const ids: string[] = [];
  for (let count = 0; count < 5; count++) ids.unshift((await budgetOf(carol, { name: `B${count}` })).id);
  const whole = await carol.get(path);
  assert.deepEqual(
    whole.json.map(({ id }: { id: string }) => id),
    ids,
  );
  assert.equal(whole.headers.get('x-total-count'), '5');
  assert.equal(whole.headers.get('link'), null);
  const seen: string[] = [];
  for (let next: string | undefined = `${path}?limit=2`; next; ) {
    const page = await carol.get(next);
    assert.equal(page.headers.get('x-total-count'), '5');
    seen.push(...page.json.map(({ id }: { id: string }) => id));
    next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  assert.deepEqual(seen, ids);
  assert.equal((await carol.get(`${path}?limit=1000`)).status, 200);
  for (const query of ['limit=0', 'limit=x', 'cursor=x', 'cursor=WyJ4Il0', 'limit=1&limit=2'])
    assertError(await carol.get(`${path}?${query}`), { status: 400, code: 'INVALID_INPUT' });
});

test('If-Match protects a change', async () => {
  const { id } = await budgetOf(alice);
  const address = `${path}/${id}`;
  const put = (ifMatch: string) => alice.put(address, { name: 'Changed' }, { 'if-match': ifMatch });
  assert.equal((await put('"v1"')).status, 200);
  for (const tag of ['"v1"', 'W/"v2"', '"2"', 'v2'])
    assertError(await put(tag), { status: 412, code: 'PRECONDITION_FAILED' });
  assert.equal((await put('"v1", "v2"')).status, 200);
  assert.equal((await put('*')).status, 200);
  const answers = await Promise.all(Array.from({ length: 5 }, () => put('"v4"')));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412, 412, 412]);
  const stale = await alice.send(address, { method: 'DELETE', headers: { 'if-match': '"v1"' } });
  assertError(stale, { status: 412, code: 'PRECONDITION_FAILED' });
});

test('an idempotency key makes a budget once', async () => {
  const carol = await app.person('carol');
  const body = { name: 'Once', limit: 1 };
  const headers = { 'idempotency-key': 'key-1' };
  const answers = await Promise.all(Array.from({ length: 5 }, () => carol.post(path, body, headers)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [201, 201, 201, 201, 201],
  );
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.equal(answers.filter(({ headers }) => headers.has('idempotent-replayed')).length, 4);
  const other = await carol.post(path, { ...body, limit: 2 }, headers);
  assertError(other, { status: 409, code: 'CONFLICT', field: 'Idempotency-Key' });
  // Keys of different accounts are independent, and expire after 24 hours.
  assert.equal((await bob.post(path, { ...body, limit: 2 }, headers)).status, 201);
  assert.equal((await carol.get(path)).json.length, 1);
  app.clock.advance(30 * 60_000);
  assert.equal((await carol.post(path, body, headers)).json.id, answers[0]?.json.id);
  assertError(await carol.post(path, body, { 'idempotency-key': 'a b' }), {
    status: 400,
    code: 'INVALID_INPUT',
  });
  app.clock.set(Date.UTC(2026, 2, 15, 12));
});

test('a budget with expenses is deleted with them, or not at all', async () => {
  const { id } = await budgetOf(alice);
  await spend(alice, id, 5);
  const address = `${path}/${id}`;
  assertError(await alice.delete(address), { status: 409, code: 'CONFLICT' });
  assert.equal((await alice.delete(`${address}?cascade=true`)).status, 200);
  assertError(await alice.get(`/api/expenses/${id}`), { status: 404, code: 'NOT_FOUND' });
  const { json: found } = await alice.post('/api/search/expenses', { query: 'tea', budgetId: undefined });
  assert.ok(found.expenses.every(({ budgetId }: { budgetId: string }) => budgetId !== id));
});

test('the currency changes only before there are expenses', async () => {
  const { id } = await budgetOf(alice, { limit: 12.5 });
  const address = `${path}/${id}`;
  assertError(await alice.put(address, { currency: 'JPY' }), {
    status: 400,
    code: 'VALIDATION_FAILED',
    field: 'limit',
  });
  assert.equal((await alice.put(address, { currency: 'KWD' })).json.limitMinor, 12_500);
  await spend(alice, id, '1.234');
  assertError(await alice.put(address, { currency: 'USD' }), {
    status: 409,
    code: 'CONFLICT',
    field: 'currency',
  });
});

test('what is left of a month is carried over, with positive or full', async () => {
  const standing = async (rollover: string, amount: number) => {
    const { id } = await budgetOf(alice, { period: 'monthly', rollover, startDate: '2026-01-10' });
    await spend(alice, id, amount, '2026-01-31');
    const { json } = await alice.get(`${path}/${id}/summary?period=2026-02`);
    return [json.carried, json.available, json.spent, json.remaining];
  };
  assert.deepEqual(await standing('positive', 300), [200, 700, 0, 700]);
  assert.deepEqual(await standing('full', 300), [200, 700, 0, 700]);
  assert.deepEqual(await standing('positive', 600), [0, 500, 0, 500]);
  assert.deepEqual(await standing('full', 600), [-100, 400, 0, 400]);
  assert.deepEqual(await standing('none', 300), [0, 500, 0, 500]);
});

test('the summary of a period has its ends, its sums, and each category', async () => {
  const { id } = await budgetOf(alice, { period: 'monthly' });
  const add = (amount: number, spentOn: string, category?: string) =>
    alice.create('/api/expenses', { budgetId: id, description: 'x', amount, spentOn, category });
  await add(1.1, '2026-02-01', 'Food');
  await add(2.2, '2026-02-28', 'Food');
  await add(10, '2026-02-14');
  await add(99, '2026-03-01', 'Food');
  const { json } = await alice.get(`${path}/${id}/summary?period=2026-02`);
  assert.deepEqual(json, {
    budgetId: id,
    period: '2026-02',
    from: '2026-02-01',
    to: '2026-02-28',
    currency: 'USD',
    limit: 500,
    limitMinor: 50_000,
    carried: 0,
    carriedMinor: 0,
    available: 500,
    availableMinor: 50_000,
    spent: 13.3,
    spentMinor: 1_330,
    remaining: 486.7,
    remainingMinor: 48_670,
    expenses: 3,
    byCategory: [
      { category: null, amount: 10, amountMinor: 1_000 },
      { category: 'Food', amount: 3.3, amountMinor: 330 },
    ],
  });
  const current = await alice.get(`${path}/${id}/summary`);
  assert.deepEqual([current.json.period, current.json.spent], ['2026-03', 99]);
  assert.equal((await alice.get(`${path}/${id}`)).json.spent, 99);
  for (const period of ['2026', '2026-13', 'all', 'x', '2026-W07'])
    assertError(await alice.get(`${path}/${id}/summary?period=${period}`), {
      status: 400,
      code: 'INVALID_INPUT',
      field: 'period',
    });
  for (const [kind, name] of [
    ['none', 'all'],
    ['daily', '2026-03-15'],
    ['weekly', '2026-W11'],
    ['quarterly', '2026-Q1'],
    ['yearly', '2026'],
  ]) {
    const other = await budgetOf(alice, { period: kind });
    assert.equal((await alice.get(`${path}/${other.id}/summary`)).json.period, name);
    assert.equal((await alice.get(`${path}/${other.id}/summary?period=${name}`)).status, 200);
  }
});

test('a new limit counts for the thresholds at once', async () => {
  const carol = await app.person('carol');
  const { id } = await budgetOf(carol, { limit: 100, thresholds: [100] });
  await spend(carol, id, 60);
  const told = async () => {
    const { json } = await carol.get('/api/notifications');
    return json.filter(({ type }: { type: string }) => type === 'budget.threshold').length;
  };
  assert.equal(await told(), 0);
  await carol.put(`${path}/${id}`, { limit: 60 });
  assert.equal(await told(), 1);
  await carol.put(`${path}/${id}`, { limit: 50 });
  assert.equal(await told(), 1);
});
