import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type Person, startBudgets } from '../testing.ts';

const service = await startBudgets();
after(() => service[Symbol.asyncDispose]());
const alice = await service.person('alice');
const charlie = await service.person('charlie');

// biome-ignore lint/suspicious/noExplicitAny: a test inspects any result
async function run(who: Person, query: string, variables: object = {}): Promise<any> {
  const { status, json, text } = await who.post('/api/graphql', { query, variables });
  assert.equal(status, 200, text);
  return json;
}

const codesOf = ({ errors = [] }: { errors?: { extensions: { code: string } }[] }) =>
  errors.map(({ extensions }) => extensions.code);

describe('queries and mutations', () => {
  let id = '';
  before(async () => {
    const query =
      'mutation ($input: BudgetInput!) { createBudget(input: $input) { id name limit limitMinor currency period rollover spent remaining version } }';
    const input = { name: 'Groceries', limit: '600.50', period: 'MONTHLY', rollover: 'POSITIVE' };
    const { data } = await run(alice, query, { input });
    const { id: made, ...rest } = data.createBudget;
    id = made;
    assert.deepEqual(rest, {
      name: 'Groceries',
      limit: 600.5,
      limitMinor: '60050',
      currency: 'USD',
      period: 'MONTHLY',
      rollover: 'POSITIVE',
      spent: 0,
      remaining: 600.5,
      version: 1,
    });
  });

  test('the query of the specification', async () => {
    const { data } = await run(alice, '{ budgets { id name limit createdAt } }');
    assert.equal(data.budgets.length, 1);
    assert.deepEqual(Object.keys(data.budgets[0]), ['id', 'name', 'limit', 'createdAt']);
  });

  test('a list shows of a budget what it shows by itself, and in the type that the client wants', async () => {
    const dora = await service.person('dora');
    const fields =
      'id name limit limitMinor currency period rollover spent remaining createdAt updatedAt version';
    for (const currency of ['USD', 'JPY', 'KWD']) {
      const { id: made } = await dora.create('/api/budgets', { name: currency, limit: 7, currency });
      service.clock.advance(1_234);
      await dora.put(`/api/budgets/${made}`, { period: 'weekly' });
    }
    const { budgets } = (await run(dora, `{ budgets { ${fields} } }`)).data;
    const { budgets: pages } = (await run(dora, `{ budgets(first: 2) { ${fields} } }`)).data;
    const rest = `{ budgets(first: 2, after: "${pages[1].id}") { ${fields} } }`;
    assert.deepEqual([...pages, ...(await run(dora, rest)).data.budgets], budgets);
    const { id: gone } = pages[1];
    await dora.delete(`/api/budgets/${gone}`);
    assert.deepEqual((await run(dora, rest)).data.budgets, budgets.slice(2));
    budgets.splice(1, 1);
    for (const budget of budgets) {
      const own = await run(dora, `{ budget(id: "${budget.id}") { ${fields} } }`);
      assert.deepEqual(own.data.budget, budget);
      const { json } = await dora.get(`/api/budgets/${budget.id}`);
      const { limit, createdAt, updatedAt } = budget;
      assert.deepEqual([limit, createdAt, updatedAt], [json.limit, json.createdAt, json.updatedAt]);
    }
    const accept = 'application/graphql-response+json';
    const typed = await dora.post('/api/graphql', { query: '{ budgets { name } }' }, { accept });
    assert.equal(typed.headers.get('content-type'), `${accept}; charset=utf-8`);
    assert.deepEqual(
      typed.json.data.budgets.map(({ name }: { name: string }) => name),
      ['KWD', 'USD'],
    );
  });

  test('expenses are added, changed, listed, searched and deleted', async () => {
    const add = `mutation { addExpense(input: { budgetId: "${id}", description: "Café au lait", amount: 4.20, tags: ["out"] }) { id amountMinor spentOn budget { name } } }`;
    const { addExpense } = (await run(alice, add)).data;
    assert.deepEqual([addExpense.amountMinor, addExpense.budget.name], ['420', 'Groceries']);
    const change = `mutation { updateExpense(id: "${addExpense.id}", version: 1, input: { amount: "5" }) { amount version } }`;
    assert.deepEqual((await run(alice, change)).data.updateExpense, { amount: 5, version: 2 });
    assert.deepEqual(codesOf(await run(alice, change)), ['CONFLICT']);
    const read = `{ budget(id: "${id}") { spent earlier: spent(period: "2026-01") remaining(period: "2026-03") expenses(first: 1) { totalCount pageInfo { hasNextPage endCursor } edges { node { id } } } }
      expenses(budgetId: "${id}") { description } searchExpenses(query: "cafe") { total expenses { description } } }`;
    const { budget, expenses, searchExpenses } = (await run(alice, read)).data;
    assert.deepEqual([budget.spent, budget.earlier, budget.remaining], [5, 0, 595.5]);
    assert.equal(budget.expenses.totalCount, 1);
    assert.equal(budget.expenses.pageInfo.hasNextPage, false);
    assert.equal(expenses[0].description, 'Café au lait');
    assert.equal(searchExpenses.total, 1);
    assert.deepEqual(codesOf(await run(alice, `mutation { deleteBudget(id: "${id}") }`)), ['CONFLICT']);
    const { data } = await run(alice, `mutation { deleteExpense(id: "${addExpense.id}") }`);
    assert.equal(data.deleteExpense, addExpense.id);
  });

  test("another user's objects do not exist", async () => {
    for (const query of [
      `{ budget(id: "${id}") { name } }`,
      `mutation { updateBudget(id: "${id}", input: { name: "Mine" }) { id } }`,
      `mutation { deleteBudget(id: "${id}", cascade: true) }`,
      `mutation { addExpense(input: { budgetId: "${id}", description: "x", amount: 1 }) { id } }`,
      `{ expenses(budgetId: "${id}") { id } }`,
    ]) {
      assert.deepEqual(codesOf(await run(charlie, query)), ['NOT_FOUND'], query);
    }
  });

  test('bad input names the field', async () => {
    const query = 'mutation ($input: BudgetInput!) { createBudget(input: $input) { id } }';
    const { errors } = await run(alice, query, { input: { name: '', limit: -1 } });
    assert.equal(errors[0].extensions.code, 'VALIDATION_FAILED');
    assert.ok('name' in errors[0].extensions.fields);
    assert.deepEqual(codesOf(await run(alice, query, { input: { name: 'x', limit: '1,000' } })), [
      'VALIDATION_FAILED',
    ]);
    assert.deepEqual(codesOf(await run(alice, `{ budget(id: "${id}") { spent(period: "2026-Q1") } }`)), [
      'VALIDATION_FAILED',
    ]);
  });

  test('a list of expenses goes on after one that was deleted', async () => {
    const erin = await service.person('erin');
    const { id: budgetId } = await erin.create('/api/budgets', { name: 'Tea', limit: 1 });
    const ids: string[] = [];
    for (const description of ['one', 'two', 'three', 'four'])
      ids.unshift((await erin.create('/api/expenses', { budgetId, description, amount: 1 })).id);
    const after = async (id: string) => {
      const { data } = await run(erin, `{ expenses(after: "${id}") { id } }`);
      return data.expenses.map((row: { id: string }) => row.id);
    };
    for (const index of [1, 3]) await erin.delete(`/api/expenses/${ids[index]}`);
    assert.deepEqual(await after(ids[1] ?? ''), [ids[2]]);
    assert.deepEqual(await after(ids[3] ?? ''), []);
    assert.deepEqual(codesOf(await run(erin, '{ expenses(after: "nonsense") { id } }')), [
      'VALIDATION_FAILED',
    ]);
  });

  test('a second run of the same document, which is compiled then, gives the same', async () => {
    const query = '{ budgets(first: 1) { id spent(period: "2026-03") } }';
    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => run(alice, query)));
    for (const other of others) assert.deepEqual(other, first);
  });
});

describe('limits', () => {
  const many = (count: number, text: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => text(index)).join(' ');
  const deep =
    '{ budgets { expenses { edges { node { budget { expenses { edges { node { id } } } } } } } } }';
  const queries = {
    'too deep': deep,
    'too many aliases': `{ ${many(16, (index) => `a${index}: me { id }`)} }`,
    'too costly': '{ budgets(first: 500) { expenses(first: 100) { edges { node { id } } } } }',
    'too costly a search':
      '{ searchExpenses(query: "tea", size: 100) { expenses { budget { expenses(first: 50) { totalCount } } } } }',
    'too many tokens': `{ ${many(400, () => 'me { id }')} }`,
    'too long': `{ me { id } } # ${'x'.repeat(70_000)}`,
    'fragments that double': `${many(20, (index) => `fragment f${index} on Query { ...f${index + 1} ...f${index + 1} }`)} fragment f20 on Query { budgets { id } } { ...f0 }`,
  };
  for (const [name, query] of Object.entries(queries)) {
    test(`${name} is refused at once`, async () => {
      const result = await run(alice, query);
      assert.deepEqual(codesOf(result), ['QUERY_TOO_COMPLEX'], JSON.stringify(result));
      assert.equal(result.data, undefined);
    });
  }

  test('the size of a search counts once', async () => {
    const query =
      'query ($n: Int) { searchExpenses(query: "tea", size: $n) { total ...found } } fragment found on ExpenseSearch { expenses { id description amount tags } }';
    assert.equal((await run(alice, query, { n: 100 })).errors, undefined);
  });

  test('variables count, introspection does not', async () => {
    const query = 'query ($n: Int) { budgets(first: $n) { expenses(first: $n) { edges { node { id } } } } }';
    assert.deepEqual(codesOf(await run(alice, query, { n: 500 })), ['QUERY_TOO_COMPLEX']);
    const types =
      '{ __schema { types { fields { type { ofType { ofType { ofType { ofType { ofType { name } } } } } } } } } }';
    assert.equal((await run(alice, types)).errors, undefined);
  });

  test('batches are refused, and a token is needed', async () => {
    const batch = await alice.post('/api/graphql', [{ query: '{ me { id } }' }]);
    assert.equal(batch.status, 400);
    assert.deepEqual(codesOf(batch.json), ['VALIDATION_FAILED']);
    const unsigned = await service.send('/api/graphql', { body: { query: '{ me { id } }' } });
    assert.equal(unsigned.status, 401);
  });

  test('a mutation by GET is refused with a code', async () => {
    const query = encodeURIComponent('mutation { deleteExpense(id: "x") }');
    const { status, json, headers } = await alice.get(`/api/graphql?query=${query}`);
    assert.deepEqual([status, headers.get('allow')], [405, 'POST']);
    assert.deepEqual(codesOf(json), ['VALIDATION_FAILED']);
  });
});

describe('subscriptions', () => {
  const connect = (authorization: string) =>
    createClient({
      url: `${service.url.replace('http', 'ws')}/api/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization },
      retryAttempts: 0,
      lazy: true,
    });

  test('notifications come over WebSockets, those since a number first', async () => {
    const bob = await service.person('bob');
    await bob.create('/api/budgets', { name: 'one', limit: 1 });
    await bob.create('/api/budgets', { name: 'two', limit: 1 });
    const client = connect(`Bearer ${bob.token}`);
    const messages: unknown[] = [];
    const query = 'subscription { notificationAdded(afterSeq: 1) { seq message } }';
    for await (const { data } of client.iterate<{ notificationAdded: { message: string } }>({ query })) {
      messages.push(data?.notificationAdded.message);
      if (messages.length === 1) await bob.create('/api/budgets', { name: 'three', limit: 1 });
      if (messages.length === 2) break;
    }
    assert.deepEqual(messages, ['The budget two was created.', 'The budget three was created.']);
    await client.dispose();
  });

  test('a wrong token ends the connection with 4403', async () => {
    const client = connect('Bearer wrong');
    const iterator = client.iterate({ query: 'subscription { budgetChanged { id } }' });
    await assert.rejects(
      async () => iterator.next(),
      (event: { code?: number }) => event.code === 4403,
    );
    await client.dispose();
  });

  test('operations of a connection end with its session', async () => {
    const bob = await service.person('bob');
    let closed: { code?: number } = {};
    const client = createClient({
      url: `${service.url.replace('http', 'ws')}/api/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${bob.token}` },
      retryAttempts: 0,
      lazy: false,
      onNonLazyError: () => {},
      on: { closed: (event) => (closed = event as typeof closed) },
    });
    const first = await client.iterate({ query: '{ me { id } }' }).next();
    assert.deepEqual(first.value?.data, { me: { id: bob.id } });
    assert.equal((await bob.post('/api/auth/logout')).status, 200);
    const query = 'mutation { createBudget(input: { name: "late", limit: 1 }) { id } }';
    await assert.rejects(async () => client.iterate({ query }).next());
    assert.equal(closed.code, 4403);
    await client.dispose();
  });

  test('errors over server-sent events have their codes', async () => {
    const codes = {
      '{ budget(id: "x") { id } }': 'NOT_FOUND',
      'subscription { budgetChanged(id: "x") { id } }': 'NOT_FOUND',
      '{ nope }': 'VALIDATION_FAILED',
      '{ budgets(first: 500) { expenses(first: 100) { edges { cursor } } } }': 'QUERY_TOO_COMPLEX',
    };
    for (const [query, code] of Object.entries(codes)) {
      const { status, text, headers } = await alice.send('/api/graphql', {
        body: { query },
        headers: { accept: 'text/event-stream, */*;q=0.1' },
      });
      assert.equal(status, 200, text);
      assert.equal(headers.get('cache-control'), 'no-store, no-transform');
      const [, data = ''] = /^data: (\{.*)$/m.exec(text) ?? [];
      assert.deepEqual(codesOf(JSON.parse(data)), [code], text);
    }
  });

  test('a budget is told over server-sent events when an expense is added', async () => {
    const bob = await service.person('bob');
    const { id } = await bob.create('/api/budgets', { name: 'Trips', limit: 100 });
    const stopping = new AbortController();
    const response = await fetch(`${service.url}/api/graphql`, {
      method: 'POST',
      signal: stopping.signal,
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${bob.token}`,
      },
      body: JSON.stringify({ query: `subscription { budgetChanged(id: "${id}") { spent } }` }),
    });
    assert.equal(response.status, 200);
    const adding = setInterval(
      () =>
        void bob
          .post('/api/expenses', { budgetId: id, description: 'Ferry', amount: 1 })
          .catch(() => undefined),
      100,
    );
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes('"spent":')) break;
    }
    clearInterval(adding);
    stopping.abort();
    assert.match(text, /event: next/);
  });
});
