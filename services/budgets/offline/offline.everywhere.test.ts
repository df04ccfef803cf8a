import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { assertError, type Person, startBudgets } from '../testing.ts';
import { signedInClient } from '../testing-pages.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const idOf = (number: number) => `01932c07-8a3b-4c55-9d0e-${String(number).padStart(12, '0')}`;
const amounts = async (person: Person) =>
  (await person.get('/api/expenses')).json.map(({ amount }: { amount: number }) => amount);

describe('an expense that was typed without a network', () => {
  test('has an id that is unique for its owner for good, in any budget', async () => {
    const [alice, bob] = [await app.person(), await app.person('bob')];
    const { id: budgetId } = await alice.create('/api/budgets', { name: 'Food', limit: 100 });
    const externalId = `offline:${idOf(1)}`;
    const given = { description: 'Coffee', amount: 3, externalId };
    const added = await alice.create('/api/expenses', { ...given, budgetId });
    assert.equal(added.externalId, externalId);
    const taken = { status: 409, code: 'CONFLICT', field: 'externalId' };
    assertError(await alice.post('/api/expenses', given), taken);
    const other = await alice.create('/api/expenses', { description: 'Tea', amount: 2, budgetId });
    assertError(await alice.put(`/api/expenses/${other.id}`, { externalId }), taken);
    // It can be saved and moved as it is.
    assert.equal((await alice.put(`/api/expenses/${added.id}`, { externalId, budgetId: null })).status, 200);
    assert.equal((await alice.delete(`/api/expenses/${added.id}`)).status, 200);
    assertError(await alice.post('/api/expenses', given), taken);
    await bob.create('/api/expenses', given);
    const many = await Promise.all(
      Array.from({ length: 8 }, () =>
        alice.post('/api/expenses', { ...given, externalId: `offline:${idOf(2)}` }),
      ),
    );
    assert.deepEqual(many.map(({ status }) => status).sort(), [201, ...Array(7).fill(409)]);
  });

  test('is added once by the page, with the amount as the reader writes it', async () => {
    const alice = await app.person();
    const { id: budgetId } = await alice.create('/api/budgets', {
      name: 'Food',
      limit: 100,
      currency: 'EUR',
    });
    const client = await signedInClient(app, alice);
    const send = (body: object, token = client.token) =>
      client.open('/expenses/offline', {
        method: 'POST',
        body: JSON.stringify(body),
        headers: {
          accept: 'application/json',
          'accept-language': 'de',
          'content-type': 'application/json',
          'x-csrf-token': token,
        },
      });
    const fields = { description: 'Brot', amount: '4,20', budgetId, spentOn: '2026-03-01', tags: 'a, b' };
    const whole = { id: idOf(3), account: alice.id, fields };
    const [first, again] = [await send(whole), await send(whole)];
    assert.deepEqual([first.status, again.status], [200, 200], first.html);
    app.clock.advance(3 * 24 * 3_600_000);
    assert.deepEqual(JSON.parse((await send(whole)).html), { id: idOf(3), isNew: false });
    assert.deepEqual(await amounts(await app.signIn(alice)), [4.2]);

    const refused = await send({ ...whole, id: idOf(4), fields: { ...fields, amount: 'viel' } });
    assert.equal(refused.status, 422);
    assert.match(JSON.parse(refused.html).error.message, /amount must be a number such as 12,50/);
    assert.equal((await send({ ...whole, id: 'x' })).status, 422);
    assert.equal((await send({ ...whole, id: idOf(5) }, 'x')).status, 403);
    const { id: account } = await app.person('bob');
    assert.equal((await send({ ...whole, id: idOf(6), account })).status, 403);
    const gone = { ...fields, budgetId: idOf(7) };
    assert.equal((await send({ ...whole, id: idOf(8), fields: gone })).status, 404);
  });
});

test('the pages can be installed, and the worker is never cached', async () => {
  const alice = await app.person();
  const client = await signedInClient(app, alice);
  const { html } = await client.open('/expenses/new');
  assert.match(html, /<link rel="manifest" href="\/manifest\.webmanifest">/);
  const { headers, json } = await app.send('/manifest.webmanifest');
  assert.equal(headers.get('content-type'), 'application/manifest+json; charset=utf-8');
  assert.deepEqual([json.start_url, json.display], ['/expenses/new', 'standalone']);
  for (const { src } of json.icons)
    assert.equal((await app.send(src)).headers.get('content-type'), 'image/png');
  const worker = await app.send('/sw.js');
  assert.equal(worker.headers.get('content-type'), 'text/javascript; charset=utf-8');
  assert.equal(worker.headers.get('cache-control'), 'no-store');
  const { files } = JSON.parse(/const options = (.*);/.exec(worker.text)?.[1] ?? '');
  assert.ok(files.length > 4);
  for (const path of files) assert.equal((await app.send(path)).status, 200, path);
});
