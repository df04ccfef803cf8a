import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Person, startBudgets } from '../testing.ts';
import { share, verifiedPerson } from '../testing-sharing.ts';

const app = await startBudgets();
const replica = await startBudgets({ beside: app });
after(async () => {
  await replica[Symbol.asyncDispose]();
  await app[Symbol.asyncDispose]();
});

/** Two people who share a budget with each other, one the other way around. */
async function pair() {
  const [alice, bob] = (await Promise.all(['alice', 'bob'].map((name) => verifiedPerson(app, name)))) as [
    Person,
    Person,
  ];
  const home = (await alice.create('/api/budgets', { name: 'Home', limit: 10_000, thresholds: [] })).id;
  const car = (await bob.create('/api/budgets', { name: 'Car', limit: 10_000, thresholds: [] })).id;
  const member = await share(alice, home, { person: bob, role: 'editor' });
  await share(bob, car, { person: alice, role: 'editor' });
  return { alice, bob, home, car, member };
}

const add = (person: Pick<Person, 'send'>, budgetId: string) =>
  person.send('/api/expenses', { body: { budgetId, description: 'Tea', amount: 1 } });

test('members of each other write at once, on two replicas, and each event is numbered once', async () => {
  const { alice, bob, home, car } = await pair();
  const elsewhere = (person: Person) => ({
    ...person,
    send: (path: string, options = {}) =>
      replica.send(path, { ...options, headers: { authorization: `Bearer ${person.token}` } }),
  });
  const before = await Promise.all(
    [alice, bob].map(async (one) => (await one.get('/api/notifications')).json[0].seq),
  );
  const writes = Array.from({ length: 6 }, () => [
    add(alice, home),
    add(elsewhere(bob), home),
    add(elsewhere(alice), car),
    add(bob, car),
  ]).flat();
  for (const { status, text } of await Promise.all(writes)) assert.equal(status, 201, text);
  for (const [index, person] of [alice, bob].entries()) {
    const { json } = await person.get('/api/notifications?limit=500');
    const seqs = json.map(({ seq }: { seq: number }) => seq);
    assert.deepEqual(
      seqs,
      Array.from({ length: seqs.length }, (_, place) => seqs.length - place),
    );
    assert.equal(seqs[0], before[index] + 24);
    for (const id of [home, car])
      assert.equal((await person.get(`/api/budgets/${id}`)).json.spentMinor, 1_200);
  }
});

test('who was removed does not write, whenever the command came', async () => {
  const { alice, bob, home, member } = await pair();
  const writes = Array.from({ length: 6 }, () => add(bob, home));
  const removed = alice.delete(`/api/budgets/${home}/members/${member}`);
  const late = Array.from({ length: 6 }, () => add(bob, home));
  const answers = await Promise.all([...writes, ...late]);
  assert.equal((await removed).status, 200);
  assert.equal((await add(bob, home)).status, 404);
  const added = answers.filter(({ status }) => status === 201).length;
  assert.equal(added + answers.filter(({ status }) => status === 404).length, 12);
  const { json } = await alice.get(`/api/budgets/${home}`);
  assert.equal(json.spentMinor, added * 100);
  const { json: events } = await bob.get('/api/notifications?limit=500');
  assert.deepEqual(
    events.filter(({ data }: { data: { budgetId?: string } }) => data.budgetId === home),
    [],
  );
});

test('a role that is taken back holds for the next command', async () => {
  const { alice, bob, home, member } = await pair();
  const [, ...answers] = await Promise.all([
    alice.put(`/api/budgets/${home}/members/${member}`, { role: 'viewer' }),
    ...Array.from({ length: 4 }, () => add(bob, home)),
  ]);
  for (const { status } of answers) assert.ok(status === 201 || status === 403, String(status));
  assert.equal((await add(bob, home)).status, 403);
});

test('an owner is erased while an editor writes', async () => {
  const { alice, bob, home } = await pair();
  const writes = Array.from({ length: 5 }, () => add(bob, home));
  const erased = alice.delete('/api/users/profile', { password: 'ferries wait in fog' });
  const late = Array.from({ length: 5 }, () => add(bob, home));
  assert.equal((await erased).status, 200);
  const answers = await Promise.all([...writes, ...late]);
  for (const { status, text } of answers) assert.equal(status, 201, text);
  const { json } = await bob.get(`/api/budgets/${home}`);
  assert.deepEqual([json.role, json.spentMinor], ['owner', 1_000]);
});
