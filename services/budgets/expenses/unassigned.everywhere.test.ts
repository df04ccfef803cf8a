import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());
const alice = await app.person('alice');
const bob = await app.person('bob');

const lunch = { description: 'Lunch', amount: 12, spentOn: '2026-03-10' };

test('an expense without a budget counts in reports and in no budget', async () => {
  const added = await alice.create('/api/expenses', { ...lunch, currency: 'EUR' });
  assert.deepEqual([added.budgetId, added.currency], [null, 'EUR']);
  await alice.create('/api/expenses', { ...lunch, budgetId: null, amount: 3 });
  assert.deepEqual((await alice.get('/api/budgets')).json, []);
  assert.equal((await alice.get('/api/budgets')).headers.get('x-total-count'), '0');
  const months = (await alice.get('/api/reports/by-month')).json;
  assert.deepEqual(
    months.map((row: Record<string, unknown>) => [row.currency, row.amount]),
    [
      ['EUR', 12],
      ['USD', 3],
    ],
  );
  assert.equal((await alice.get('/api/reports/top?budgetId=none')).json[0].budgetId, null);
  const [debit] = (await alice.get('/api/transactions')).json;
  assert.deepEqual([debit.budgetId, debit.entries[0].account], [null, 'expenses:unassigned']);
  assert.match((await alice.get('/api/export?budgetId=none')).text, /Lunch,12\.00,EUR,,,,,,expense/);
});

test('unassigned expenses are listed alone, and only for their owner', async () => {
  const { id: budgetId } = await alice.create('/api/budgets', { name: 'Food', limit: 100 });
  await alice.create('/api/expenses', { ...lunch, budgetId, amount: 1 });
  const listed = await alice.get('/api/expenses?budgetId=none&sort=amount');
  assert.deepEqual(
    listed.json.map(({ amount }: { amount: number }) => amount),
    [3, 12],
  );
  assert.equal(listed.headers.get('x-total-count'), '2');
  assert.equal((await alice.get('/api/expenses')).headers.get('x-total-count'), '3');
  const found = await alice.post('/api/search/expenses', { query: 'lunch', budgetId: 'none' });
  assert.equal(found.json.total, 2);
  for (const path of ['/api/expenses', '/api/reports/by-category', '/api/reports/by-month'])
    assert.deepEqual((await bob.get(`${path}?budgetId=none`)).json, [], path);
  assert.match((await bob.get('/api/export?budgetId=none&format=json')).text, /^\[\]/);
});

test('an expense moves to a budget and out of it again, with its money', async () => {
  const { id: budgetId } = await alice.create('/api/budgets', { name: 'Trips', limit: 100 });
  const spent = async () => (await alice.get(`/api/budgets/${budgetId}`)).json.spent;
  const { id } = await alice.create('/api/expenses', { ...lunch, currency: 'EUR', kind: 'refund' });
  const refused = await alice.put(`/api/expenses/${id}`, { budgetId });
  assertError(refused, { status: 400, code: 'VALIDATION_FAILED', field: 'rate' });
  const moved = (await alice.put(`/api/expenses/${id}`, { budgetId, rate: '1.5' })).json;
  assert.deepEqual(
    [moved.budgetId, moved.amount, moved.currency, moved.kind],
    [budgetId, 18, 'USD', 'refund'],
  );
  assert.equal(await spent(), -18);
  const back = (await alice.put(`/api/expenses/${id}`, { budgetId: null })).json;
  assert.deepEqual([back.budgetId, back.amount, back.currency, back.rate], [null, 12, 'EUR', null]);
  assert.equal(await spent(), 0);
  const other = (await alice.put(`/api/expenses/${id}`, { currency: 'JPY', amount: 500 })).json;
  assert.deepEqual([other.budgetId, other.amount, other.currency], [null, 500, 'JPY']);
  const wrong = await alice.put(`/api/expenses/${id}`, { currency: 'XYZ' });
  assertError(wrong, { status: 400, code: 'VALIDATION_FAILED', field: 'currency' });
  await alice.delete(`/api/expenses/${id}`);
  const theirs = await bob.post('/api/expenses', { ...lunch, budgetId });
  assertError(theirs, { status: 404, code: 'NOT_FOUND' });
});

test('GraphQL has refunds and unassigned expenses too', async () => {
  const run = async (query: string) => (await alice.post('/api/graphql', { query })).json;
  const fields = '{ id budgetId budget { id } kind amount currency }';
  const added = await run(
    `mutation { addExpense(input: { description: "Back", amount: 5, kind: REFUND, currency: "GBP" }) ${fields} }`,
  );
  const { id, ...rest } = added.data.addExpense;
  assert.deepEqual(rest, { budgetId: null, budget: null, kind: 'REFUND', amount: 5, currency: 'GBP' });
  const listed = await run('{ expenses(budgetId: "none", first: 1) { id } }');
  assert.deepEqual(listed.data.expenses, [{ id }]);
  const { id: budgetId } = await alice.create('/api/budgets', { name: 'Tea', limit: 1, currency: 'GBP' });
  const move = (to: string) =>
    run(`mutation { updateExpense(id: "${id}", input: { budgetId: ${to} }) ${fields} }`);
  assert.equal((await move(`"${budgetId}"`)).data.updateExpense.budget.id, budgetId);
  assert.equal((await move('null')).data.updateExpense.budgetId, null);
});
