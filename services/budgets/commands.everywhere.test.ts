import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Person, password, startBudgets } from './testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());
const seqsOf = async (person: Person): Promise<number[]> => {
  const { json } = await person.get('/api/notifications?limit=100');
  return json.map(({ seq }: { seq: number }) => seq);
};

describe('commands of one account that come at once', () => {
  test('happen each as a whole or not at all, in one order', async () => {
    const alice = await app.person();
    const { id } = await alice.create('/api/budgets', { name: 'Food', limit: 10, thresholds: [50, 100] });
    const add = (body: object, key?: string) =>
      alice.post(
        '/api/expenses',
        { budgetId: id, description: 'Bread', amount: 1, ...body },
        key === undefined ? {} : { 'idempotency-key': key },
      );
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, (_, index) => add({ externalId: `bread ${index}` })),
      ...[1, 2, 3].map(() => add({ externalId: 'bread 0' })),
      ...[1, 2, 3].map(() => add({ description: 'Rolls' }, 'rolls')),
      add({ description: 'Cake' }, 'rolls'),
      ...[1, 2].map(() => add({ budgetId: '01900000-0000-7000-8000-000000000000' })),
      ...[1, 2, 3].map(() => add({ description: 'Salt' })),
    ]);
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 201).length, 12, statuses.join());
    assert.equal(statuses.slice(0, 9).filter((status) => status === 409).length, 3);
    const rolls = answers.slice(9, 13).filter(({ status }) => status === 201);
    assert.deepEqual([rolls.length, new Set(rolls.map(({ json }) => json.id)).size], [3, 1]);
    assert.deepEqual(statuses.slice(13, 15), [404, 404]);
    const { json: expenses } = await alice.get('/api/expenses?limit=100');
    assert.equal(expenses.length, 10);
    const { json: budget } = await alice.get(`/api/budgets/${id}`);
    assert.deepEqual([budget.spent, budget.remaining], [10, 0]);
    const { json: news } = await alice.get('/api/notifications?limit=100');
    const thresholds = news.filter(({ type }: { type: string }) => type === 'budget.threshold');
    assert.deepEqual(
      thresholds.map(({ data }: { data: { threshold: number } }) => data.threshold),
      [100, 50],
    );
    assert.deepEqual(
      await seqsOf(alice),
      Array.from({ length: 13 }, (_, index) => 13 - index),
    );
  });

  test('find no account once it is erased', async () => {
    const bob = await app.person('bob');
    const add = () => bob.post('/api/budgets', { name: 'Food', limit: 10 });
    const before = Array.from({ length: 10 }, add);
    const erased = bob.delete('/api/users/profile', { password });
    const answers = await Promise.all([...before, ...Array.from({ length: 10 }, add)]);
    assert.equal((await erased).status, 200);
    for (const { status, text } of answers) assert.ok([201, 401, 404].includes(status), text);
    assert.equal((await bob.get('/api/budgets')).status, 401);
  });
});
