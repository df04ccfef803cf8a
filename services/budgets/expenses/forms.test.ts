import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startBudgets } from '../testing.ts';
import { signedInClient } from '../testing-pages.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

test('a form that names a budget which is gone keeps what was typed, and asks for another one', async () => {
  const alice = await app.person('alice');
  const client = await signedInClient(app, alice);
  const [gone, there] = [
    await alice.create('/api/budgets', { name: 'Gone', limit: 10 }),
    await alice.create('/api/budgets', { name: 'There', limit: 10 }),
  ];
  const expense = await alice.create('/api/expenses', { description: 'Old', amount: 1, budgetId: there.id });
  await alice.delete(`/api/budgets/${gone.id}`);
  const typed = { description: 'Döner', amount: '8', budgetId: gone.id, back: `/budgets/${gone.id}` };
  for (const path of ['/expenses', `/expenses/${expense.id}/edit`]) {
    const { status, html } = await client.send(path, typed);
    assert.equal(status, 422);
    assert.match(html, /Budget does not exist anymore\. Choose another one/);
    assert.match(html, /value="Döner"[\s\S]*<option value="" selected>Unassigned/);
    assert.match(html, /name="back" value="\/expenses"/);
  }
  const rent = { description: 'Rent', amount: '5', budgetId: gone.id, freq: 'monthly', start: '2026-04-01' };
  const recurring = await client.send('/recurring', { ...rent, timezone: 'UTC', interval: '1' });
  assert.equal(recurring.status, 422);
  assert.match(recurring.html, /<option value="" selected>Choose a budget[\s\S]*There/);
  assert.equal((await client.send('/expenses/none/edit', typed)).status, 404);
});

test('what was saved elsewhere is shown beside what was typed', async () => {
  const bob = await app.person('bob');
  const client = await signedInClient(app, bob);
  const { id: food } = await bob.create('/api/budgets', { name: 'Food', limit: 10, currency: 'EUR' });
  const { id: trips } = await bob.create('/api/budgets', { name: 'Trips', limit: 10, currency: 'EUR' });
  const first = { description: 'Döner', amount: 8, budgetId: food, spentOn: '2026-03-10' };
  const { id } = await bob.create('/api/expenses', first);
  await bob.put(`/api/expenses/${id}`, { amount: 7.5, budgetId: trips, category: 'Lunch' });
  const typed = { description: 'Döner', amount: '9', budgetId: food, kind: 'expense', spentOn: '2026-03-10' };
  const { status, html } = await client.send(`/expenses/${id}/edit`, { ...typed, version: '1' });
  assert.equal(status, 412);
  const shown = [...html.matchAll(/Saved elsewhere: ([^<]*)\./g)].map(([, text]) => text);
  assert.deepEqual(shown, ['“7.50”', '“Trips (EUR)”', '“Lunch”']);
  const budget = { name: 'Eating', limit: '10', currency: 'EUR', period: 'none', periodDay: '1' };
  await bob.put(`/api/budgets/${food}`, { period: 'monthly' });
  const stale = { ...budget, rollover: 'none', startDate: '2026-03-15', thresholds: '80, 100', version: '1' };
  const form = (await client.send(`/budgets/${food}/edit`, stale)).html;
  assert.match(form, /Saved elsewhere: “Food”\.[\s\S]*Saved elsewhere: “Monthly”\./);
});

test('a negative amount leads to refunds, and a day in an unusual year is asked for once', async () => {
  const carol = await app.person('carol');
  const client = await signedInClient(app, carol);
  await client.open('/expenses/new');
  const typed = { description: 'Tea', amount: '-3', spentOn: '2026-03-10' };
  const negative = await client.send('/expenses', typed);
  assert.match(negative.html, /must be more than 0\. For money that comes back, choose Refund/);
  for (const [spentOn, year] of [
    ['1026-03-10', 1026],
    ['2062-03-10', 2062],
  ] as const) {
    const asked = await client.send('/expenses', { ...typed, amount: '3', spentOn });
    assert.equal(asked.status, 422, spentOn);
    assert.match(asked.html, new RegExp(`is in the year ${year}\\. Save again if that is right`));
    assert.match(asked.html, new RegExp(`name="confirmedDay" value="${spentOn}"`));
    const sent = await client.send('/expenses', { ...typed, amount: '3', spentOn, confirmedDay: spentOn });
    assert.equal(sent.status, 303);
  }
  assert.equal((await carol.get('/api/expenses')).json.length, 2);
});

test('new budgets, imports and expenses without a budget begin with the currency of the account', async () => {
  const dan = await app.person('dan');
  const client = await signedInClient(app, dan);
  const chosen = async (path: string) =>
    /name="currency"[\s\S]*?<option value="(\w+)" selected/.exec((await client.open(path)).html)?.[1];
  assert.deepEqual([await chosen('/budgets/new'), await chosen('/import')], ['USD', 'USD']);
  await dan.create('/api/expenses', { description: 'Tea', amount: 3, currency: 'CHF' });
  assert.deepEqual([await chosen('/budgets/new'), await chosen('/import')], ['CHF', 'CHF']);
  await dan.create('/api/budgets', { name: 'Food', limit: 3, currency: 'EUR' });
  assert.deepEqual([await chosen('/budgets/new'), await chosen('/import')], ['EUR', 'EUR']);
  await client.send('/expenses', { description: 'Cake', amount: '2', budgetId: '' });
  assert.equal((await dan.get('/api/expenses?limit=1')).json[0].currency, 'EUR');
});

test('the form of an expense offers a transfer between own accounts, which counts in no report', async () => {
  const erin = await app.person('erin');
  const client = await signedInClient(app, erin);
  await client.open('/expenses/new');
  const typed = { description: 'To savings', amount: '40', budgetId: 'transfer', tags: 'a' };
  const sent = await client.send('/expenses', typed);
  assert.match((await client.open(sent.location ?? '')).html, /added to transfers between your own accounts/);
  const [{ id, tags }] = (await erin.get('/api/expenses')).json;
  assert.deepEqual(tags, ['a', 'transfer']);
  const form = (await client.open(`/expenses/${id}/edit`)).html;
  assert.match(
    form,
    /<option value="transfer" selected>Between my own accounts[\s\S]*name="tags"[^>]*value="a"|value="a"[^>]*name="tags"/,
  );
  assert.equal((await client.open('/expenses/amount?amount=4&budgetId=transfer')).status, 200);
  const change = async (budgetId: string, more: string) => {
    await client.send(`/expenses/${id}/edit`, { ...typed, budgetId, tags: more });
    return (await erin.get(`/api/expenses/item/${id}`)).json.tags;
  };
  assert.deepEqual(await change('transfer', 'a'), ['a', 'transfer']);
  assert.deepEqual(await change('', 'a'), ['a']);
  assert.deepEqual(await change('transfer', 'a, b'), ['a', 'b', 'transfer']);
  assert.deepEqual((await erin.get('/api/reports/by-category')).json, []);
});
