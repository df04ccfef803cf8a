import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startBudgets } from './testing.ts';
import { signedInClient } from './testing-pages.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

test('rows that wait for a first budget are said on the page of budgets, and no more once they have one', async () => {
  const alice = await app.person();
  const client = await signedInClient(app, alice);
  assert.match((await client.open('/budgets')).html, /No budgets yet/);
  assert.match((await client.open('/expenses?budget=none')).html, /All expenses have a budget/);
  assert.match((await client.open('/expenses?budget=none&q=tea')).html, /No matching expenses/);
  for (const description of ['Tea', 'Milk']) await alice.create('/api/expenses', { description, amount: 2 });
  const { html } = await client.open('/budgets');
  assert.match(html, /2 expenses wait for a budget.*href="\/rules\/sort"/s);
  assert.doesNotMatch(html, /No budgets yet/);
});

test('budgets from a day of the month show its days, and the newest days come first', async () => {
  const alice = await app.person();
  const { id: budgetId } = await alice.create('/api/budgets', {
    name: 'Pocket',
    limit: 10,
    period: 'monthly',
    periodDay: 25,
  });
  for (const spentOn of ['2026-03-09', '2026-03-02'])
    await alice.create('/api/expenses', { budgetId, description: spentOn, amount: 4, spentOn });
  const client = await signedInClient(app, alice);
  const { html } = await client.open('/budgets', { headers: { 'accept-language': 'de-DE' } });
  assert.match(html, /25 Feb\s–\s24 Mar 2026/);
  assert.match(html, /2026-03-09.*2026-03-02/s);
  // Four fifths are spent, and less than that of the time is left.
  assert.match(html, /class="meter warn"/);
  app.clock.advance(8 * 24 * 3_600_000);
  const later = await signedInClient(app, alice);
  assert.match((await later.open('/budgets')).html, /class="meter good"[^>]*80% spent, 96% of the time/);
});

test('a file without expenses has no button that imports, and one that is no text is refused', async () => {
  const client = await signedInClient(app, await app.person());
  await client.open('/import');
  const content = 'Date,Description,Amount\n2026-03-01,Tea,much\n';
  const sent = await client.upload('/import', { name: 'a.csv', content });
  const { html } = await client.open(sent.location);
  assert.match(html, /There is nothing to import: no row is an expense/);
  assert.match(html, /<details open><summary><b>How it is read/);
  assert.doesNotMatch(html, /value="import"/);
  await client.open('/import');
  const controls = Array.from({ length: 300 }, (_, index) => String.fromCharCode(1 + (index % 90))).join('');
  const refused = await client.upload('/import', { name: 'b.csv', content: controls });
  assert.equal(refused.status, 422);
  assert.match(refused.html, /is no table: much of it is not text/);
});
