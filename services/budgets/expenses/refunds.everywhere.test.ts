import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { assertError, startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());
const alice = await app.person('alice');

const march = { description: 'Shoes', spentOn: '2026-03-10' };

test('a refund lowers what was spent, is a credit in the ledger, and arms thresholds again', async () => {
  const budget = await alice.create('/api/budgets', { name: 'Clothes', limit: 100, period: 'monthly' });
  await alice.create('/api/expenses', { ...march, budgetId: budget.id, amount: 90, category: 'Shoes' });
  const refund = await alice.create('/api/expenses', {
    ...march,
    budgetId: budget.id,
    kind: 'refund',
    amount: 40.5,
    category: 'Shoes',
  });
  assert.deepEqual([refund.kind, refund.amount, refund.amountMinor], ['refund', 40.5, 4_050]);
  const { json } = await alice.get(`/api/budgets/${budget.id}`);
  assert.deepEqual([json.spent, json.remaining], [49.5, 50.5]);
  const summary = (await alice.get(`/api/budgets/${budget.id}/summary?period=2026-03`)).json;
  assert.deepEqual(summary.byCategory, [{ category: 'Shoes', amount: 49.5, amountMinor: 4_950 }]);
  const [credit] = (await alice.get('/api/transactions')).json;
  assert.deepEqual([credit.type, credit.amount, credit.expenseId], ['credit', 40.5, refund.id]);
  const told = async () =>
    (await alice.get('/api/notifications')).json.filter(
      ({ type }: { type: string }) => type === 'budget.threshold',
    ).length;
  assert.equal(await told(), 1);
  await alice.create('/api/expenses', { ...march, budgetId: budget.id, amount: 31 });
  assert.equal(await told(), 2);
  const top = (await alice.get(`/api/reports/top?budgetId=${budget.id}`)).json;
  assert.deepEqual(
    top.map(({ amount }: { amount: number }) => amount),
    [90, 31],
  );
  const changed = await alice.put(`/api/expenses/${refund.id}`, { kind: 'expense' });
  assert.equal(changed.json.kind, 'expense');
  assert.equal((await alice.get(`/api/budgets/${budget.id}`)).json.spent, 161.5);
  await alice.delete(`/api/expenses/${refund.id}`);
  assert.equal((await alice.get(`/api/budgets/${budget.id}`)).json.spent, 121);
  const wrong = await alice.post('/api/expenses', { ...march, budgetId: budget.id, kind: 'x', amount: 1 });
  assertError(wrong, { status: 400, code: 'VALIDATION_FAILED', field: 'kind' });
});

test('whatever is spent and refunded, every sum is that of its rows', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          isRefund: fc.boolean(),
          minor: fc.integer({ min: 1, max: 999_999_999_999_999 }),
          day: fc.integer({ min: 1, max: 9 }),
          rate: fc.constantFrom(undefined, '0.3335', '1.5'),
        }),
        { maxLength: 6 },
      ),
      async (rows) => {
        const { id: budgetId } = await alice.create('/api/budgets', { name: 'Sums', limit: 1 });
        let expected = 0n;
        for (const { isRefund, minor, day, rate } of rows) {
          const cents = rate ? (minor % 1_000_000) + 1 : minor;
          const expense = await alice.create('/api/expenses', {
            budgetId,
            kind: isRefund ? 'refund' : 'expense',
            description: 'x',
            amount: `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`,
            spentOn: `2026-02-0${day}`,
            ...(rate && { currency: 'EUR', rate }),
          });
          const sign = isRefund ? -1n : 1n;
          expected += sign * BigInt(expense.amountMinor);
          if (rate) {
            const scaled = BigInt(cents) * BigInt(Number(rate) * 10_000);
            const [whole, rest] = [scaled / 10_000n, scaled % 10_000n];
            const up = rest > 5_000n || (rest === 5_000n && whole % 2n === 1n) ? 1n : 0n;
            assert.equal(BigInt(expense.amountMinor), whole + up);
          }
        }
        const minorOf = async (path: string, name: string) =>
          BigInt(new RegExp(`"${name}":(-?\\d+)`).exec((await alice.get(path)).text)?.[1] ?? '0');
        assert.equal(await minorOf(`/api/budgets/${budgetId}`, 'spentMinor'), expected);
        const summary = `/api/budgets/${budgetId}/summary`;
        assert.equal(await minorOf(summary, 'spentMinor'), expected);
        for (const report of ['by-category', 'by-month'])
          assert.equal(await minorOf(`/api/reports/${report}?budgetId=${budgetId}`, 'amountMinor'), expected);
        await alice.delete(`/api/budgets/${budgetId}?cascade=true`);
      },
    ),
    { numRuns: 12 },
  );
});

test('exports keep refunds apart, and what they write adds nothing when it is read again', async () => {
  const { id: budgetId } = await alice.create('/api/budgets', { name: 'File', limit: 1, currency: 'CHF' });
  const tea = { budgetId, description: 'Tea', spentOn: '2026-01-05' };
  await alice.create('/api/expenses', { ...tea, amount: 7 });
  await alice.create('/api/expenses', { ...tea, amount: 5, kind: 'refund' });
  const text = async (format: string) =>
    (await alice.get(`/api/export?format=${format}&budgetId=${budgetId}`)).text;
  assert.match(await text('csv'), /Tea,-5\.00,CHF,.*,File,refund/);
  assert.match(await text('ofx'), /<TRNTYPE>CREDIT<\/TRNTYPE>.*<TRNAMT>5\.00</);
  assert.match(await text('ofx'), /<BALAMT>-2\.00</);
  assert.match(await text('qif'), /\nT5\.00\n/);
  assert.equal(JSON.parse(await text('json'))[1].kind, 'refund');
});
