import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, finished, startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const alice = await app.person('alice');
const bob = await app.person('bob');
const path = '/api/search/expenses';
const { id: budgetId } = await alice.create('/api/budgets', { name: 'Food', limit: 100 });
const other = await alice.create('/api/budgets', { name: 'Fun', limit: 100 });

const add = (given: object) => alice.create('/api/expenses', { budgetId, amount: 1, ...given });
await add({ description: 'Café crème', category: 'Breakfast', spentOn: '2026-01-01' });
await add({ description: 'Morning coffee', notes: 'with Müller & Söhne', spentOn: '2026-01-02' });
await add({ description: 'Coffee beans for the office', tags: ['coffee supplies'], spentOn: '2026-01-03' });
await add({ description: 'Tea', category: 'Coffee house', spentOn: '2026-01-04' });
await add({ description: 'Bus ticket', budgetId: other.id, spentOn: '2026-01-05' });
const bobs = await bob.create('/api/budgets', { name: 'Food', limit: 100 });
await bob.create('/api/expenses', { budgetId: bobs.id, description: 'Coffee of Bob', amount: 1 });

const find = async (query: string, given: object = {}) => {
  const { status, text, json } = await alice.post(path, { query, ...given });
  assert.equal(status, 200, text);
  return json.expenses.map(({ description }: { description: string }) => description.slice(0, 7)) as string[];
};

test('expenses are found by words, prefixes and phrases, without regard to accents and case', async () => {
  const cases: [string, string[]][] = [
    ['coffee', ['Coffee ', 'Morning', 'Tea']],
    ['COFFEES', ['Coffee ', 'Morning', 'Tea']],
    ['cafe', ['Café cr']],
    ['creme cafe', ['Café cr']],
    ['coffee off', ['Coffee ']],
    ['coffee morning', ['Morning']],
    ['mor', ['Morning']],
    ['mor coffee', []],
    ['"coffee beans"', ['Coffee ']],
    ['"beans coffee"', []],
    ['muller sohne', ['Morning']],
    ['coffee -beans', ['Morning', 'Tea']],
    ['breakfast', ['Café cr']],
    ['supplies', ['Coffee ']],
    ['!!!', []],
  ];
  for (const [query, expected] of cases)
    assert.deepEqual((await find(query)).sort(), [...expected].sort(), query);
});

test('the best match comes first, or the newest', async () => {
  assert.equal((await find('coffee')).at(-1), 'Tea');
  assert.deepEqual(await find('coffee', { sort: 'date' }), ['Tea', 'Coffee ', 'Morning']);
});

test('pages, ranges and budgets', async () => {
  const { json } = await alice.post(path, { query: 'coffee', page: 2, size: 2, sort: 'date' });
  assert.deepEqual([json.total, json.page, json.size, json.expenses.length], [3, 2, 2, 1]);
  assert.equal(typeof json.took, 'number');
  assert.deepEqual(await find('coffee', { from: '2026-01-03', sort: 'date' }), ['Tea', 'Coffee ']);
  assert.deepEqual(await find('coffee', { to: '2026-01-02' }), ['Morning']);
  assert.deepEqual(await find('ticket', { budgetId: other.id }), ['Bus tic']);
  assert.deepEqual(await find('coffee', { budgetId: other.id }), []);
  assert.deepEqual(await find('coffee', { page: 9 }), []);
});

test('matches are marked, as HTML', async () => {
  await add({ description: '<b>Cheese</b> & wine' });
  const { json } = await alice.post(path, { query: 'cheese' });
  assert.deepEqual(json.expenses[0].highlight, {
    description: '&lt;b&gt;<mark>Cheese</mark>&lt;/b&gt; &amp; wine',
  });
});

test('only one’s own expenses are found', async () => {
  const { json } = await bob.post(path, { query: 'coffee' });
  assert.deepEqual(
    json.expenses.map(({ description }: { description: string }) => description),
    ['Coffee of Bob'],
  );
  assert.equal(json.total, 1);
  assertError(await bob.post(path, { query: 'coffee', budgetId }), { status: 404, code: 'NOT_FOUND' });
  assertError(await app.send(path, { body: { query: 'coffee' } }), { status: 401, code: 'UNAUTHORIZED' });
});

test('an invalid search is refused, with the field', async () => {
  for (const [body, field] of [
    [{}, 'query'],
    [{ query: '' }, 'query'],
    [{ query: 'a'.repeat(257) }, 'query'],
    [{ query: 'a', page: 0 }, 'page'],
    [{ query: 'a', size: 101 }, 'size'],
    [{ query: 'a', sort: 'best' }, 'sort'],
    [{ query: 'a', from: 'x' }, 'from'],
  ] as const)
    assertError(await alice.post(path, body), { status: 400, code: 'VALIDATION_FAILED', field });
});

test('what is written is found when it is answered, and what is deleted is not', async () => {
  for (let round = 0; round < 5; round++) {
    const { id } = await add({ description: `Zeppelin ${round}` });
    assert.equal((await find('zeppelin')).length, 1);
    await alice.put(`/api/expenses/${id}`, { description: 'Airship' });
    assert.deepEqual(await find('zeppelin'), []);
    assert.equal((await find('airship')).length, 1);
    await alice.delete(`/api/expenses/${id}`);
    assert.deepEqual(await find('airship'), []);
  }
});

test('the index is made again by a task, and finds the same', async () => {
  const before = await find('coffee', { sort: 'date' });
  const task = await finished(alice, await alice.create('/api/tasks', { type: 'reindex' }));
  assert.equal(task.status, 'completed');
  assert.equal(task.result.indexed, 6);
  assert.deepEqual(await find('coffee', { sort: 'date' }), before);
});
