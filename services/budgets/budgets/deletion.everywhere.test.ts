import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { writesDuring } from '@octavo/testing';
import pg from 'pg';
import { assertError, finished, type Person, password, startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());
const bob = await app.person('bob');
const { id: bobsBudget } = await bob.create('/api/budgets', { name: 'Own', limit: 1 });
const rows = 6_000;

async function withManyExpenses(person: Person): Promise<string> {
  const { id: budgetId } = await person.create('/api/budgets', { name: 'Bank', limit: 1 });
  const lines = Array.from(
    { length: rows },
    (_, index) => `2026-01-0${(index % 9) + 1},Row ${index},1.00,a;b`,
  );
  const content = `spentOn,description,amount,tags\n${lines.join('\n')}\n`;
  const task = await person.create('/api/tasks', { type: 'import', format: 'csv', budgetId, content });
  assert.equal((await finished(person, task)).result.created, rows);
  return budgetId;
}

/** Adds an expense of another user. */
const bobSpends = () => bob.create('/api/expenses', { budgetId: bobsBudget, description: 'Tea', amount: 1 });

const totalOf = async (person: Person, path: string) =>
  Number((await person.get(path)).headers.get('x-total-count'));

test('a large budget is deleted while others write, and all of its expenses are reversed', async () => {
  const alice = await app.person('alice');
  const kept = await alice.create('/api/budgets', { name: 'Kept', limit: 1 });
  await alice.create('/api/expenses', { budgetId: kept.id, description: 'Tea', amount: 2 });
  const budgetId = await withManyExpenses(alice);
  const [{ id: reversedByHand }] = (await alice.get('/api/transactions?limit=1')).json;
  await alice.delete(`/api/transactions/${reversedByHand}`);
  assertError(await alice.delete(`/api/budgets/${budgetId}`), { status: 409, code: 'CONFLICT' });
  const deletion = alice.delete(`/api/budgets/${budgetId}?cascade=true`);
  const writes = await writesDuring(deletion, bobSpends);
  assert.ok(writes >= 8, `${writes} writes of another user`);
  assert.equal((await deletion).status, 200);
  assertError(await alice.get(`/api/budgets/${budgetId}`), { status: 404, code: 'NOT_FOUND' });
  assert.equal(await totalOf(alice, '/api/expenses'), 1);
  assert.equal(await totalOf(alice, '/api/transactions'), 2 * rows + 1);
  const search = await alice.post('/api/search/expenses', { query: 'row' });
  assert.equal(search.json.total, 0);
  let balance = 0;
  for (let next: string | undefined = '/api/transactions?limit=500'; next; ) {
    const page = await alice.get(next);
    for (const { entries } of page.json)
      for (const { account, side, amountMinor } of entries)
        if (account === `expenses:${budgetId}`) balance += side === 'debit' ? amountMinor : -amountMinor;
    next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  assert.equal(balance, 0);
  const [deleted] = (await alice.get('/api/notifications?limit=1')).json;
  assert.deepEqual([deleted.type, deleted.data.spentMinor], ['budget.deleted', rows * 100]);
});

test('on PostgreSQL, few transactions delete a large budget, and its owner can write in between', {
  skip: !app.databaseUrl,
}, async () => {
  const dave = await app.person('dave');
  const kept = await dave.create('/api/budgets', { name: 'Kept', limit: 1 });
  const budgetId = await withManyExpenses(dave);
  const deletion = dave.delete(`/api/budgets/${budgetId}?cascade=true`);
  const daveSpends = () => dave.create('/api/expenses', { budgetId: kept.id, description: 'Tea', amount: 1 });
  const writes = await writesDuring(deletion, daveSpends);
  assert.equal((await deletion).status, 200);
  assert.ok(writes >= 4, `${writes} writes of the owner`);
  const transactions = await transactionsWithReversals();
  assert.ok(transactions <= rows / 400 + 1, `${transactions} transactions`);
});

/** Number of transactions of PostgreSQL that reversed the expenses of the newest account that has any. */
async function transactionsWithReversals(): Promise<number> {
  const client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
  const counted = await client.query<{ total: string }>(
    `SELECT count(DISTINCT xmin::text) AS total FROM budgets.ledger_transaction
     WHERE type = 'reversal' AND owner = (SELECT max(owner) FROM budgets.ledger_transaction)`,
  );
  await client.end();
  return Number(counted.rows[0]?.total);
}

test('an account with many expenses is erased while others write, and its address is free', async () => {
  const carol = await app.person('carol');
  await withManyExpenses(carol);
  const erasure = carol.delete('/api/users/profile', { password });
  const writes = await writesDuring(erasure, bobSpends);
  assert.ok(writes >= 8, `${writes} writes of another user`);
  assert.equal((await erasure).status, 200);
  assertError(await carol.get('/api/budgets'), { status: 401, code: 'UNAUTHORIZED' });
  const again = await app.send('/api/auth/register', { body: { email: carol.email, password } });
  assert.equal(again.status, 201);
});
