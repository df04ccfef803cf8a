import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startBudgets } from './testing.ts';
import { signedInClient } from './testing-pages.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());
const person = await app.person();
const client = await signedInClient(app, person);

test('forms take amounts as people type them, and ask where one could mean two things', async () => {
  const { location } = await client.send('/budgets', { name: 'Food', limit: '$1,234.50', currency: 'USD' });
  const budgetId = location.slice('/budgets/'.length);
  assert.equal((await person.get(`/api/budgets/${budgetId}`)).json.limit, 1234.5);
  await client.send(`/budgets/${budgetId}/edit`, { name: 'Food', limit: '4,20', version: '1' });
  assert.equal((await person.get(`/api/budgets/${budgetId}`)).json.limit, 4.2);
  const expense = { budgetId, description: 'Tea', spentOn: '2026-03-15', back: '/budgets' };
  for (const [amount, expected] of [
    ['4,20', 4.2],
    ['1,234.50', 1234.5],
    ['1.234,50', 1234.5],
    ['$12', 12],
    ['12 USD', 12],
  ] as const) {
    assert.match(
      (await client.send('/expenses', { ...expense, amount })).location,
      /^\/budgets#expense-/,
      amount,
    );
    assert.equal((await person.get('/api/expenses?limit=1')).json[0].amount, expected);
  }
  const asked = await client.send('/expenses', { ...expense, amount: '1,234' });
  assert.equal(asked.status, 422);
  assert.match(asked.html, /Amount could mean 1234 or 1\.234/);
  assert.match(asked.html, /value="1,234"/);
  const other = await client.send('/expenses', { ...expense, amount: '€5' });
  assert.match(other.html, /Amount must be in USD, not €/);
  assert.match(
    (await client.send('/expenses', { ...expense, amount: 'ten' })).html,
    /must be a number such as/,
  );
  const [{ id }] = (await person.get('/api/expenses?limit=1')).json;
  await client.send(`/expenses/${id}/edit`, {
    ...expense,
    amount: '7,5',
    currency: 'EUR',
    rate: '1,5',
    version: '1',
  });
  assert.equal((await person.get(`/api/expenses/item/${id}`)).json.amount, 11.25);
});

test('forms add up sums, and say what was understood', async () => {
  const { id: budgetId } = await person.create('/api/budgets', { name: 'Sums', limit: 100 });
  const expense = { budgetId, description: 'Lunch', spentOn: '2026-03-15', back: '/budgets' };
  await client.send('/expenses', { ...expense, amount: '3*4.50 + 1' });
  assert.match((await client.open('/budgets')).html, /Lunch, \$14\.50, was added to Sums/);
  const refused = await client.send('/expenses', { ...expense, amount: '10/0' });
  assert.match(refused.html, /Amount must not be divided by 0/);
  const api = await person.post('/api/expenses', { budgetId, description: 'Lunch', amount: '12+3' });
  assert.equal(api.status, 400);
});

test('while an amount is typed, its form can ask how it is understood, by the rule of saving', async () => {
  const { id: budgetId } = await person.create('/api/budgets', { name: 'Yen', limit: 100, currency: 'JPY' });
  const read = async (query: Record<string, string>, headers = {}) => {
    const { status, html } = await client.open(`/expenses/amount?${new URLSearchParams(query)}`, { headers });
    assert.equal(status, 200);
    return JSON.parse(html);
  };
  for (const [amount, text] of [
    ['4,20', '$4.20'],
    ['1,234.50', '$1,234.50'],
    ['$12', '$12.00'],
    ['12+3', '$15.00'],
    [' 3*4.50 + 1 ', '$14.50'],
  ] as const)
    assert.deepEqual(await read({ amount, currency: 'USD' }), { text }, amount);
  assert.deepEqual(await read({ amount: '1,234', budgetId }), { text: '¥1,234' });
  assert.deepEqual(await read({ amount: '5', budgetId, currency: 'EUR' }), { text: '€5.00' });
  assert.deepEqual(await read({ amount: '1.234,5', currency: 'EUR' }, { 'accept-language': 'de' }), {
    text: '1.234,50\u00a0€',
  });
  assert.match(
    (await read({ amount: '1,234', currency: 'USD' })).problem,
    /Amount could mean 1234 or 1\.234: .*\.$/,
  );
  assert.match((await read({ amount: '1.999', currency: 'USD' })).problem, /could mean|at most 2 digits/);
  assert.match((await read({ amount: '12.5', budgetId })).problem, /Amount must be a whole number in JPY\./);
  assert.match((await read({ amount: '1'.repeat(300) })).problem, /at most 200 characters/);
  assert.equal((await client.open('/expenses/amount?amount=1&budgetId=of-nobody')).status, 404);
  const stranger = await signedInClient(app, await app.person());
  assert.equal((await stranger.open(`/expenses/amount?amount=1&budgetId=${budgetId}`)).status, 404);
});

test('pages write and read numbers and days as the reader’s locale does', async () => {
  const german = { 'accept-language': 'xx, de-DE;q=0.9, en;q=0.5' };
  const { id: budgetId } = await person.create('/api/budgets', { name: 'Reise', limit: 1, currency: 'EUR' });
  const expense = { budgetId, description: 'Zug', spentOn: '2026-03-05', amount: '1.234', back: '/budgets' };
  const sent = await client.send('/expenses', expense, german);
  assert.equal(sent.status, 303, sent.html);
  const page = await client.open(`/budgets/${budgetId}`, { headers: german });
  assert.match(page.html, /Zug, 1\.234,00\s€, was added/);
  assert.match(page.html, /<time datetime="2026-03-05" data-day>5 Mar 2026/);
  const [{ id }] = (await person.get(`/api/expenses/${budgetId}`)).json;
  const form = await client.open(`/expenses/${id}/edit`, { headers: german });
  assert.ok(form.html.includes('value="1234,00"'));
  const error = await client.send(`/expenses/${id}/edit`, { ...expense, amount: 'x', version: '1' }, german);
  assert.match(error.html, /Amount must be a number such as 12,50/);
  await client.send(`/expenses/${id}/edit`, { ...expense, amount: '1234,00', version: '1' }, german);
  assert.equal((await person.get(`/api/expenses/item/${id}`)).json.amount, 1_234);
  // Digits that no form reads are not shown either.
  const arabic = await client.open('/budgets', { headers: { 'accept-language': 'ar-EG' } });
  assert.doesNotMatch(arabic.html, /[\u0660-\u0669]/);
  for (const header of ['*', '', 'q=1', `${'a-'.repeat(5_000)}`, 'de;q=0', 'en-\u00FC', 'x-klingon'])
    assert.match(
      (await client.open('/budgets', { headers: { 'accept-language': header } })).html,
      /€1,234\.00/,
    );
});

test('prices of orders and amounts of recurring expenses are typed the same way', async () => {
  const { id: customerId } = await person.create('/api/customers', { name: 'Ada' });
  const order = { customerId, description: 'Chair', quantity: '2', unitAmount: '49,50 €', currency: 'EUR' };
  assert.equal((await client.send('/orders', order)).status, 303);
  assert.equal((await person.get('/api/orders')).json[0].amount, 99);
  assert.match((await client.send('/orders', { ...order, unitAmount: '1.234' })).html, /could mean/);
  const { id: budgetId } = await person.create('/api/budgets', { name: 'Home', limit: 1 });
  const rent = { budgetId, description: 'Rent', amount: '1,100.00', freq: 'monthly', start: '2026-03-20' };
  assert.equal((await client.send('/recurring', rent)).status, 303);
  assert.equal((await person.get('/api/recurring')).json[0].amount, 1_100);
});

test('an earlier first day of a recurring expense says what it adds before it is saved', async () => {
  const { id: budgetId } = await person.create('/api/budgets', { name: 'Home', limit: 1 });
  const rent = { budgetId, description: 'Rent', amount: '10', freq: 'monthly' };
  const { id } = await person.create('/api/recurring', { ...rent, start: '2026-03-10' });
  const count = async () => (await person.get(`/api/expenses/${budgetId}`)).json.length;
  const address = `/recurring/${id}/edit`;
  const page = await client.open(address);
  assert.match(page.html, /All other changes apply from tomorrow/);
  const edited = { ...rent, interval: '1', start: '2026-01-10', timezone: 'UTC', version: '1' };
  const asked = await client.send(address, edited);
  assert.equal(asked.status, 422);
  assert.match(asked.html, /This day adds 2 missed expenses from Jan 10, 2026 on/);
  assert.equal(await count(), 1);
  const confirmedStart = /name="confirmedStart" value="([^"]*)"/.exec(asked.html)?.[1] ?? '';
  // Another day than the one that was shown is asked again.
  assert.equal((await client.send(address, { ...edited, start: '2026-02-10', confirmedStart })).status, 422);
  assert.equal((await client.send(address, { ...edited, confirmedStart })).status, 303);
  assert.equal(await count(), 3);
});

test('a period whose end is before its beginning is a problem of the form, in its words', async () => {
  for (const path of ['/expenses', '/reports']) {
    const { status, html } = await client.open(`${path}?from=2026-03-05&to=2026-03-01`);
    assert.equal(status, 400);
    assert.match(html, /To must not be before Mar 5, 2026/);
    assert.match(html, /name="from"[^>]*value="2026-03-05"|value="2026-03-05"[^>]*name="from"/);
  }
});

test('a problem with an item of a list is shown at its field, with the words of its label', async () => {
  const thresholds = '50, 80, 5000';
  const budget = await client.send('/budgets', { name: 'Books', limit: '10', currency: 'USD', thresholds });
  assert.equal(budget.status, 422);
  assert.match(budget.html, /href="#field-thresholds"/);
  assert.match(budget.html, /id="field-thresholds"[^>]*aria-invalid="true"/);
  assert.ok(!budget.html.includes('thresholds['), 'no index is shown');
  const { id: budgetId } = await person.create('/api/budgets', { name: 'Tagged', limit: 100 });
  const tags = `tea, ${'x'.repeat(200)}`;
  const expense = { budgetId, description: 'Tea', amount: '1', spentOn: '2026-03-15', tags };
  const refused = await client.send('/expenses', { ...expense, back: '/budgets' });
  assert.equal(refused.status, 422);
  assert.match(refused.html, /href="#field-tags"/);
  assert.ok(!refused.html.includes('tags['), 'no index is shown');
});
