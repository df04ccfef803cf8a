import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { finished, startBudgets } from '../testing.ts';
import { signedInClient } from '../testing-pages.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const alice = await app.person('alice');
let imported = '';

test('the undo of an import asks with the numbers, and what it leaves is deleted as a whole', async () => {
  const client = await signedInClient(app, alice);
  const rows = ['Tea', 'Rent', 'Cake'].map((name, index) => `2026-03-0${index + 1},${name},${index + 1}`);
  const content = ['spentOn,description,amount', ...rows].join('\n');
  const task = await alice
    .create('/api/tasks', { type: 'import', content })
    .then((sent) => finished(alice, sent));
  const changed = (await alice.get('/api/expenses?q=tea')).json;
  const ids = changed.map(({ id }: { id: string }) => id);
  await alice.post('/api/expenses/bulk', { ids, change: { category: 'Food' } });
  imported = task.id;
  const path = `/tasks/${task.id}/undo`;
  const asked = (await client.open(path)).html;
  assert.match(asked, /2 rows that it added are removed[\s\S]*1 expense changed since/);
  assert.equal((await alice.get('/api/expenses')).json.length, 3);
  await client.send(path, {});
  const shown = (await client.open(`/tasks/${task.id}`)).html;
  assert.match(shown, /1 expense stayed\./);
  const list = `/expenses?import=${task.id}`;
  assert.match(shown, new RegExp(`href="${list.replace('?', '\\?')}"`));
  await alice.create('/api/expenses', { description: 'Typed', amount: 1 });
  const left = (await client.open(list)).html;
  assert.match(left, /Delete this 1 expense/);
  assert.doesNotMatch(left, /Typed|Rent/);
  const deletion = { 'filter-import': task.id, all: 'true', do: 'delete' };
  assert.match((await client.send('/expenses/bulk', deletion)).html, /Delete 1 expense\?/);
  await client.send('/expenses/bulk', { ...deletion, confirmed: 'true' });
  const descriptions = async () =>
    (await alice.get('/api/expenses')).json.map(({ description }: { description: string }) => description);
  assert.deepEqual(await descriptions(), ['Typed']);
  const undo = /name="undo" value="([^"]+)"/.exec((await client.open('/expenses')).html)?.[1] ?? '';
  await client.send('/expenses/bulk/undo', { undo, back: '/expenses' });
  assert.deepEqual((await descriptions()).toSorted(), ['Tea', 'Typed']);
});

test('no page counts or lists what the import of another account left', async () => {
  const bob = await app.person('bob');
  const client = await signedInClient(app, bob);
  assert.equal((await client.open(`/tasks/${imported}/undo`)).status, 404);
  assert.doesNotMatch((await client.open(`/expenses?import=${imported}`)).html, /Tea/);
});
