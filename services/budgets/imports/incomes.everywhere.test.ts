import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, finished, startBudgets } from '../testing.ts';
import { signedInClient } from '../testing-pages.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());
const alice = await app.person('alice');

type Row = Readonly<Record<string, unknown>>;

async function importOf(content: string, options: object = {}) {
  const task = await alice.create('/api/tasks', {
    type: 'import',
    content,
    sign: 'negative',
    incomes: 'keep',
    currency: 'EUR',
    ...options,
  });
  const { result } = await finished(alice, task);
  return { id: task.id as string, result };
}

const flow = async (query = '') => (await alice.get(`/api/reports/cash-flow${query}`)).json;
const credits = async () =>
  (await alice.get('/api/transactions')).json.filter(({ type }: Row) => type === 'credit');

const file = [
  'Date;Payee;Amount;Type',
  '2026-02-01;ACME Payroll;3000,00;Transfer',
  '2026-02-02;REWE;-20,00;Card payment',
  '2026-02-03;Unknown shop;5,00;Card refund',
  '2026-02-04;Rewe;4,00;Card payment',
  '2026-02-05;Tip;1,50;Transfer',
  '2026-02-05;Tip;1,50;Transfer',
].join('\n');

test('incomes of a file are credits without a budget, count in their month, and are told again', async () => {
  const { id, result } = await importOf(file);
  assert.deepEqual(
    [result.created, result.refunds, result.incomes, result.skipped, result.duplicates],
    [6, 2, 3, [], 0],
  );
  const [row, ...others] = await flow();
  assert.deepEqual(others, []);
  assert.deepEqual(
    [row.month, row.currency, row.income, row.expense, row.net],
    ['2026-02', 'EUR', 3003, 11, 2992],
  );
  const entries = (await credits()).filter(({ expenseId }: Row) => expenseId === null);
  assert.deepEqual(
    entries.map(({ description, budgetId, amount }: Row) => [description, budgetId, amount]).sort(),
    [
      ['ACME Payroll', null, 3000],
      ['Tip', null, 1.5],
      ['Tip', null, 1.5],
    ],
  );
  // Expenses are without them.
  assert.equal((await alice.get('/api/expenses')).json.length, 3);
  const again = await importOf(`${file}\n2026-02-05;Tip;1,50;Transfer`);
  assert.deepEqual([again.result.created, again.result.incomes, again.result.duplicates], [1, 1, 6]);
  await alice.post(`/api/tasks/${again.id}/undo`, {});
  const salary = entries.find(({ amount }: Row) => amount === 3000);
  const corrected = (await alice.put(`/api/transactions/${salary.id}`, { amount: 2900 })).json;
  assert.equal((await flow())[0].income, 2903);
  assert.equal((await importOf(file)).result.duplicates, 6);
  const undone = (await alice.post(`/api/tasks/${id}/undo`, {})).json;
  assert.deepEqual(undone, { undone: 5, kept: [{ id: corrected.id, reason: 'it was changed since' }] });
  assert.equal((await flow())[0].income, 2900);
  await alice.delete(`/api/transactions/${corrected.id}`);
  assert.deepEqual(await flow(), []);
  // One that was taken out of the ledger by hand does not come back.
  assert.deepEqual((await importOf(file)).result.duplicates, 1);
});

test('a credit of the ledger by hand is income, one of another kind is refused, and skipping is the default', async () => {
  const bob = await app.person('bob');
  await bob.create('/api/transactions', { type: 'credit', description: 'Gift', amount: 50 });
  await bob.create('/api/transactions', { type: 'debit', description: 'Fee', amount: 1 });
  const [{ income, net, currency }] = (await bob.get('/api/reports/cash-flow')).json;
  assert.deepEqual([income, net, currency], [50, 50, 'USD']);
  const csv = (await bob.get('/api/reports/cash-flow?format=csv')).text;
  assert.match(csv, /^month,currency,income,incomeMinor,expense,expenseMinor,net,netMinor\r?\n/);
  const wrong = { type: 'import', content: file, incomes: 'all' };
  assertError(await bob.post('/api/tasks', wrong), {
    status: 400,
    code: 'VALIDATION_FAILED',
    field: 'incomes',
  });
  const task = await bob.create('/api/tasks', { type: 'import', content: file, sign: 'negative' });
  const { result } = await finished(bob, task);
  assert.deepEqual([result.created, result.incomes, result.skipped.length], [3, 0, 3]);
});

test('the page keeps incomes, and shows what was earned, spent and is left', async () => {
  const carol = await app.person('carol');
  await carol.create('/api/budgets', { name: 'Food', limit: 10, currency: 'EUR' });
  const client = await signedInClient(app, carol);
  const content = 'Date;Payee;Amount\n2026-03-10;Salary;100,00\n2026-03-11;Shop;-30,00\n';
  await client.open('/import');
  const sent = await client.upload('/import', { name: 'b.csv', content }, { budget: '', currency: 'EUR' });
  const preview = (await client.open(sent.location)).html;
  assert.match(preview, /Of these, income/);
  const skipping = (await client.open(`${sent.location}&incomes=skip`)).html;
  assert.match(skipping, /money that came in/);
  const started = await client.send(sent.location.split('?')[0] ?? '', {
    do: 'import',
    currency: 'EUR',
    format: 'csv',
    incomes: 'keep',
    sign: 'negative',
  });
  const id = started.location.split('/').at(-1);
  await finished(carol, (await carol.get(`/api/tasks/${id}`)).json);
  const overview = (await client.open('/budgets')).html;
  for (const text of [/Earned this month/, /Spent this month/, /Left this month/, /€70\.00/])
    assert.match(overview, text);
});
