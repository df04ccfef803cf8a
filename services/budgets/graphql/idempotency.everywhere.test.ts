import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertGraphqlError, type Person, startBudgets } from '../testing.ts';

const service = await startBudgets();
after(() => service[Symbol.asyncDispose]());

const path = '/api/graphql';
const create = (name: string) => `createBudget(input: { name: "${name}", limit: 1 }) { id name spent }`;
const send = (who: Person, query: string, key: string, headers = {}) =>
  who.post(path, { query }, { 'idempotency-key': key, ...headers });
const names = async (who: Person) =>
  (await who.get('/api/budgets')).json.map(({ name }: { name: string }) => name);

test('the mutations of a request happen once, also those of the same field', async () => {
  const alice = await service.person('alice');
  const query = `mutation { one: ${create('One')} two: ${create('Two')} }`;
  const [first, atOnce] = await Promise.all([send(alice, query, 'k'), send(alice, query, 'k')]);
  assert.deepEqual(first.json.data.one.name, 'One', first.text);
  assert.equal(atOnce.text, first.text);
  // The document is compiled by now.
  const again = await send(alice, query, 'k');
  assert.equal(again.text, first.text);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual(await names(alice), ['Two', 'One']);
});

test('another request with the key is a conflict in every response format', async () => {
  const alice = await service.person('alice');
  await send(alice, `mutation { ${create('One')} }`, 'k');
  const other = `mutation { ${create('Other')} }`;
  const refused = await send(alice, other, 'k');
  assertGraphqlError(refused, { status: 409, code: 'CONFLICT' });
  const { status, text } = await send(alice, other, 'k', { accept: 'text/event-stream' });
  assert.equal(status, 200);
  assert.match(text, /"code":"CONFLICT"/);
  assert.equal((await send(alice, '{ me { id } }', 'k')).status, 200);
  assert.deepEqual(await names(alice), ['One']);
  const bob = await service.person('bob');
  assert.equal((await send(bob, other, 'k')).json.data.createBudget.name, 'Other');
  const key = await send(alice, other, 'a b');
  assertGraphqlError(key, { status: 400, code: 'VALIDATION_FAILED' });
});

test('what failed is tried again, and what was done is not', async () => {
  const alice = await service.person('alice');
  const { id } = await alice.create('/api/budgets', { name: 'Food', limit: 1 });
  await alice.create('/api/expenses', { budgetId: id, description: 'Tea', amount: 1 });
  const query = `mutation { ${create('New')} deleteBudget(id: "${id}") }`;
  const first = await send(alice, query, 'k', { accept: 'text/event-stream' });
  assert.match(first.text, /"code":"CONFLICT"/);
  const [{ id: expense }] = (await alice.get(`/api/expenses/${id}`)).json;
  await alice.delete(`/api/expenses/${expense}`);
  const again = await send(alice, query, 'k', { accept: 'text/event-stream' });
  assert.match(again.text, new RegExp(`"deleteBudget":"${id}"`), again.text);
  assert.deepEqual(await names(alice), ['New']);
});
