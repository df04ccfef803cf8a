import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, finished, startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());
const alice = await app.person('alice');

type Row = Readonly<Record<string, unknown>>;

const file = [
  'Date;Payee;Amount;Currency',
  '2026-02-01;REWE 4711 Berlin;-20,00;EUR',
  '2026-02-03;ACME Payroll;3000,00;EUR',
  '2026-02-05;Rewe 12 Hamburg;5,50;EUR',
  '2026-02-06;Hotel Zurich;-90,00;CHF',
].join('\n');

async function importOf(content: string, options: object = {}) {
  const task = await alice.create('/api/tasks', { type: 'import', content, sign: 'negative', ...options });
  return { id: task.id, result: (await finished(alice, task)).result };
}

test('rows without a budget are unassigned, in their currency; refunds are told from incomes by their payees', async () => {
  const { id, result } = await importOf(file, { currency: 'EUR' });
  assert.deepEqual([result.created, result.refunds, result.failed], [3, 1, 0]);
  assert.deepEqual(result.skipped, [{ line: 3, reason: 'money that came in' }]);
  const listed = (await alice.get('/api/expenses?budgetId=none&sort=spentOn')).json;
  assert.deepEqual(
    listed.map(({ kind, amount, currency, budgetId }: Row) => [kind, amount, currency, budgetId]),
    [
      ['expense', 20, 'EUR', null],
      ['refund', 5.5, 'EUR', null],
      ['expense', 90, 'CHF', null],
    ],
  );
  const again = await importOf(file, { currency: 'EUR' });
  assert.deepEqual([again.result.created, again.result.duplicates], [0, 3]);
  const undone = (await alice.post(`/api/tasks/${id}/undo`, {})).json;
  assert.deepEqual(undone, { undone: 3, kept: [] });
  assert.deepEqual((await alice.get('/api/expenses')).json, []);
  assert.deepEqual((await alice.get('/api/reports/by-month')).json, []);
});

test('a payee that was paid in an earlier file is known, and a later payment makes no refund', async () => {
  const head = 'Date;Payee;Amount';
  await importOf(`${head}\n2026-03-01;Zalando 1;-40,00`);
  const { result } = await importOf(
    `${head}\n2026-03-04;Zalando 2;12,00\n2026-03-05;Shop;9,00\n2026-03-06;Shop;-9,00`,
  );
  assert.deepEqual([result.created, result.refunds], [2, 1]);
  assert.deepEqual(result.skipped, [{ line: 3, reason: 'money that came in' }]);
});

test('a dry run shows refunds, and the currency of an import must be one', async () => {
  const { result } = await importOf('Date;Payee;Amount\n2026-04-01;Zalando 3;7,00', { dryRun: true });
  const [{ kind, amount, budgetId, currency }] = result.preview;
  assert.deepEqual([kind, amount, budgetId, currency], ['refund', 7, null, 'USD']);
  const wrong = await alice.post('/api/tasks', { type: 'import', content: file, currency: 'XYZ' });
  assertError(wrong, { status: 400, code: 'VALIDATION_FAILED', field: 'currency' });
});
