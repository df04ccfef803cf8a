import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, type Person, password, startBudgets } from '../testing.ts';
import { share, verifiedPerson } from '../testing-sharing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const erase = async (person: Person) =>
  assert.equal((await person.delete('/api/users/profile', { password })).status, 200);
const gone = { status: 404, code: 'NOT_FOUND' };

test('a budget passes to the editor of longest standing, with all that belongs to it', async () => {
  const [alice, vera, bob, carl] = (await Promise.all(
    ['alice', 'vera', 'bob', 'carl'].map((name) => verifiedPerson(app, name)),
  )) as [Person, Person, Person, Person];
  const budget = { name: 'Home', limit: 100, period: 'monthly', rollover: 'full', startDate: '2026-01-01' };
  const { id } = await alice.create('/api/budgets', budget);
  const secret = await alice.create('/api/budgets', { name: 'Secret', limit: 1 });
  await share(alice, id, { person: vera, role: 'viewer' });
  await share(alice, id, { person: bob, role: 'editor' });
  app.clock.advance(1_000);
  const membership = await share(alice, id, { person: carl, role: 'editor' });
  const rent = {
    budgetId: id,
    description: 'Rent',
    amount: 130,
    tags: ['flat', 'must'],
    spentOn: '2026-02-02',
  };
  const old = await alice.create('/api/expenses', { ...rent, externalId: 'offline:home-1' });
  const lamp = await bob.create('/api/expenses', { budgetId: id, description: 'Lamp', amount: 30 });
  await alice.put(`/api/expenses/${old.id}`, { amount: 120 });
  await alice.put(`/api/budgets/${id}`, { limit: 150 });
  await alice.create('/api/expenses', { budgetId: secret.id, description: 'Rent', amount: 1 });
  await bob.create('/api/expenses', { description: 'Mine', amount: 5 });
  const before = (await bob.get(`/api/budgets/${id}`)).json;
  const history = (await bob.get(`/api/budgets/${id}/history`)).json;
  await erase(alice);
  const { json: now } = await bob.get(`/api/budgets/${id}`);
  assert.deepEqual(now, { ...before, role: 'owner', sharedBy: null });
  assert.deepEqual((await bob.get(`/api/budgets/${id}/history`)).json, history);
  const { json: seen } = await carl.get(`/api/budgets/${id}`);
  assert.deepEqual([seen.role, seen.sharedBy.id], ['editor', bob.id]);
  assert.equal((await vera.get(`/api/budgets/${id}`)).json.role, 'viewer');
  assert.equal((await bob.get(`/api/budgets/${id}/members`)).json.length, 2);
  assert.equal((await bob.get(`/api/budgets/${id}/members/${membership}`)).json.user.id, carl.id);
  const [{ addedBy: byBob }, { addedBy: byNobody }] = (await carl.get(`/api/expenses/${id}`)).json;
  assert.deepEqual([byBob.id, byNobody], [bob.id, null]);
  const found = await bob.post('/api/search/expenses', { query: 'rent' });
  assert.deepEqual(
    found.json.expenses.map((one: { id: string }) => one.id),
    [old.id],
  );
  const tagged = await bob.get('/api/expenses?tag=must');
  assert.equal(tagged.json.length, 1);
  assertError(await carl.post('/api/expenses', { ...rent, externalId: 'offline:home-1' }), {
    status: 409,
    code: 'CONFLICT',
  });
  // The ledger goes on: a change reverses the transaction that is in force.
  const ledger = (await bob.get('/api/transactions')).json.length;
  assert.equal((await carl.put(`/api/expenses/${old.id}`, { amount: 90 })).status, 200);
  assert.equal((await bob.get('/api/transactions')).json.length, ledger + 2);
  assert.equal((await bob.delete(`/api/expenses/${lamp.id}`)).status, 200);
  assert.equal((await bob.get(`/api/budgets/${id}`)).json.remainingMinor, before.remainingMinor + 6_000);
  for (const member of [vera, carl, bob]) assertError(await member.get(`/api/budgets/${secret.id}`), gone);
  assert.equal((await bob.delete(`/api/budgets/${id}?cascade=true`)).status, 200);
});

test('a budget without an editor is erased, and so is a membership', async () => {
  const [alice, vera] = (await Promise.all(['alice', 'vera'].map((name) => verifiedPerson(app, name)))) as [
    Person,
    Person,
  ];
  const seen = await alice.create('/api/budgets', { name: 'Seen', limit: 1 });
  await share(alice, seen.id, { person: vera, role: 'viewer' });
  const edited = await vera.create('/api/budgets', { name: 'Edited', limit: 1 });
  await share(vera, edited.id, { person: alice, role: 'editor' });
  const tea = await alice.create('/api/expenses', { budgetId: edited.id, description: 'Tea', amount: 1 });
  await alice.create(`/api/budgets/${seen.id}/members`, { email: 'later@example.com', role: 'viewer' });
  await erase(alice);
  assertError(await vera.get(`/api/budgets/${seen.id}`), gone);
  assert.deepEqual((await vera.get(`/api/budgets/${edited.id}/members`)).json, []);
  assert.equal((await vera.get(`/api/expenses/item/${tea.id}`)).json.addedBy, null);
  assert.equal(
    (await vera.post('/api/expenses', { budgetId: edited.id, description: 'x', amount: 1 })).status,
    201,
  );
});
