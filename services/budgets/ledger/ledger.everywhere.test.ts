import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { assertError, type Person, startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const alice = await app.person('alice');
const bob = await app.person('bob');
const path = '/api/transactions';

interface Entry {
  account: string;
  side: 'debit' | 'credit';
  amountMinor: number;
}
interface Transaction {
  id: string;
  type: string;
  currency: string;
  description: string;
  amount: number;
  reverses: string | null;
  expenseId: string | null;
  orderId: string | null;
  entries: Entry[];
}

async function ledgerOf(person: Person): Promise<Transaction[]> {
  const all: Transaction[] = [];
  for (let next: string | undefined = `${path}?limit=500`; next; ) {
    const page = await person.get(next);
    all.push(...page.json);
    next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
  }
  return all.reverse();
}

/** The sum of each account, debits minus credits. Each transaction must add up to nothing. */
function balancesOf(ledger: readonly Transaction[]): Record<string, number> {
  const balances: Record<string, number> = {};
  for (const { entries, currency } of ledger) {
    let sum = 0;
    for (const { account, side, amountMinor } of entries) {
      const signed = side === 'debit' ? amountMinor : -amountMinor;
      const key = `${account} ${currency}`;
      balances[key] = (balances[key] ?? 0) + signed;
      sum += signed;
    }
    assert.equal(sum, 0);
  }
  return balances;
}

test('an expense is a debit, its deletion the reversal, a change of its amount both', async () => {
  const { id: budgetId } = await alice.create('/api/budgets', { name: 'Food', limit: 10 });
  const { id } = await alice.create('/api/expenses', { budgetId, description: 'Tea', amount: 4.2 });
  await alice.put(`/api/expenses/${id}`, { description: 'Green tea' });
  await alice.put(`/api/expenses/${id}`, { amount: 5 });
  await alice.delete(`/api/expenses/${id}`);
  const own = (await ledgerOf(alice)).filter(({ expenseId }) => expenseId === id);
  assert.deepEqual(
    own.map(({ type, amount, reverses }) => [
      type,
      amount,
      reverses === null ? -1 : own.findIndex((each) => each.id === reverses),
    ]),
    [
      ['debit', 4.2, -1],
      ['reversal', 4.2, 0],
      ['debit', 5, -1],
      ['reversal', 5, 2],
    ],
  );
  assert.deepEqual(own[0]?.entries, [
    { account: `expenses:${budgetId}`, side: 'debit', amountMinor: 420 },
    { account: 'cash', side: 'credit', amountMinor: 420 },
  ]);
  assert.deepEqual(own[1]?.entries, [
    { account: `expenses:${budgetId}`, side: 'credit', amountMinor: 420 },
    { account: 'cash', side: 'debit', amountMinor: 420 },
  ]);
});

test('a transaction is added, corrected and reversed by hand, each once', async () => {
  const created = await alice.post(path, { type: 'credit', description: 'Refund', amount: '12.50' });
  assert.equal(created.status, 201, created.text);
  const { id } = created.json;
  assert.equal(created.headers.get('location'), `${path}/${id}`);
  assert.deepEqual(created.json.entries, [
    { account: 'cash', side: 'debit', amountMinor: 1_250 },
    { account: 'expenses:unassigned', side: 'credit', amountMinor: 1_250 },
  ]);
  assert.deepEqual((await alice.get(`${path}/${id}`)).json, created.json);
  const corrected = await alice.put(`${path}/${id}`, { amount: 13 });
  assert.deepEqual(
    [corrected.status, corrected.json.type, corrected.json.amount, corrected.json.description],
    [200, 'credit', 13, 'Refund'],
  );
  assert.notEqual(corrected.json.id, id);
  assertError(await alice.put(`${path}/${id}`, { amount: 14 }), { status: 409, code: 'CONFLICT' });
  assertError(await alice.delete(`${path}/${id}`), { status: 409, code: 'CONFLICT' });
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => alice.delete(`${path}/${corrected.json.id}`)),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
  const reversal = answers.find(({ status }) => status === 200)?.json;
  assert.deepEqual([reversal.type, reversal.reverses], ['reversal', corrected.json.id]);
  assertError(await alice.delete(`${path}/${reversal.id}`), { status: 409, code: 'CONFLICT' });
});

test('the debit of an expense may be reversed or corrected by hand, and the expense deleted after that', async () => {
  const { id: budgetId } = await alice.create('/api/budgets', { name: 'Food', limit: 10 });
  const debitOf = async (id: string) => (await ledgerOf(alice)).find(({ expenseId }) => expenseId === id)?.id;
  const one = await alice.create('/api/expenses', { budgetId, description: 'One', amount: 1 });
  const two = await alice.create('/api/expenses', { budgetId, description: 'Two', amount: 2 });
  assert.equal((await alice.delete(`${path}/${await debitOf(one.id)}`)).status, 200);
  assert.equal((await alice.put(`${path}/${await debitOf(two.id)}`, { amount: 3 })).status, 200);
  for (const { id } of [one, two]) assert.equal((await alice.delete(`/api/expenses/${id}`)).status, 200);
  assert.equal(balancesOf(await ledgerOf(alice))[`expenses:${budgetId} USD`], 0);
});

test('transactions of another user do not exist, and what is invalid is refused', async () => {
  const { id: budgetId } = await alice.create('/api/budgets', { name: 'Food', limit: 10, currency: 'EUR' });
  const { id } = await alice.create(path, { type: 'debit', description: 'x', amount: 1, budgetId });
  for (const answer of [
    await bob.get(`${path}/${id}`),
    await bob.put(`${path}/${id}`, { amount: 2 }),
    await bob.delete(`${path}/${id}`),
    await bob.get(`${path}/user/${alice.id}`),
    await bob.post(path, { type: 'debit', description: 'x', amount: 1, budgetId }),
  ])
    assertError(answer, { status: 404, code: 'NOT_FOUND' });
  assert.deepEqual((await bob.get(path)).json, []);
  assert.equal((await alice.get(`${path}/user/${alice.id}?limit=1`)).json[0].id, id);
  const good = { type: 'debit', description: 'x', amount: 1 };
  for (const [body, field] of [
    [{ ...good, type: 'reversal' }, 'type'],
    [{ ...good, amount: 0 }, 'amount'],
    [{ ...good, description: '' }, 'description'],
    [{ ...good, currency: 'XYZ' }, 'currency'],
    [{ ...good, budgetId, currency: 'USD' }, 'currency'],
  ] as const)
    assertError(await alice.post(path, body), { status: 400, code: 'VALIDATION_FAILED', field });
});

test('an idempotency key adds a transaction once', async () => {
  const send = () =>
    alice.post(path, { type: 'debit', description: 'Once', amount: 1 }, { 'idempotency-key': 'once' });
  const [first, second] = [await send(), await send()];
  assert.equal(first.json.id, second.json.id);
  assert.equal(second.headers.get('idempotent-replayed'), 'true');
});

test('whatever happens, the ledger balances and agrees with the sums of the budgets', async () => {
  const steps = fc.array(
    fc.record({
      what: fc.constantFrom('add', 'add', 'add', 'change', 'move', 'delete', 'drop'),
      pick: fc.nat(99),
      minor: fc.integer({ min: 1, max: 999_999 }),
    }),
    { minLength: 5, maxLength: 25 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const carol = await app.person('carol');
      const budgets: string[] = [];
      const addBudget = async () => {
        budgets.push((await carol.create('/api/budgets', { name: 'B', limit: 100, thresholds: [] })).id);
      };
      await addBudget();
      await addBudget();
      const expenses = new Map<string, { budgetId: string; minor: number }>();
      const drop = async (index: number) => {
        const [budgetId = ''] = budgets.splice(index, 1);
        await carol.delete(`/api/budgets/${budgetId}?cascade=true`);
        for (const [id, each] of expenses) if (each.budgetId === budgetId) expenses.delete(id);
        await addBudget();
      };
      for (const { what, pick, minor } of history) {
        const budgetId = budgets[pick % budgets.length] ?? '';
        const id = [...expenses.keys()][pick % Math.max(1, expenses.size)];
        if (what === 'add') {
          const added = await carol.create('/api/expenses', {
            budgetId,
            description: 'x',
            amount: minor / 100,
          });
          expenses.set(added.id, { budgetId, minor });
        } else if (what === 'drop') await drop(pick % budgets.length);
        else if (id === undefined) continue;
        else if (what === 'delete') {
          await carol.delete(`/api/expenses/${id}`);
          expenses.delete(id);
        } else {
          const before = expenses.get(id) ?? { budgetId, minor };
          const after = what === 'change' ? { ...before, minor } : { ...before, budgetId };
          await carol.put(`/api/expenses/${id}`, { amount: after.minor / 100, budgetId: after.budgetId });
          expenses.set(id, after);
        }
      }
      const balances = balancesOf(await ledgerOf(carol));
      for (const budgetId of budgets) {
        const sum = [...expenses.values()]
          .filter((each) => each.budgetId === budgetId)
          .reduce((all, { minor }) => all + minor, 0);
        assert.equal(balances[`expenses:${budgetId} USD`] ?? 0, sum);
        assert.equal((await carol.get(`/api/budgets/${budgetId}`)).json.spentMinor, sum);
      }
      const total = [...expenses.values()].reduce((all, { minor }) => all + minor, 0);
      assert.equal(balances['cash USD'] ?? 0, total === 0 ? 0 : -total);
    }),
    { numRuns: 8 },
  );
});
