import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { assertError, type Person, startBudgets } from '../testing.ts';
import { mailsTo, nextMail } from '../testing-mails.ts';
import { share, verifiedPerson } from '../testing-sharing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

// Alice owns the budget, Bob edits it, Vera views it, Lea has left it, and Charlie is a stranger.
type Name = 'alice' | 'bob' | 'vera' | 'lea' | 'charlie';
const people = {} as Record<Name, Person>;
let budgetId = '';
let privateBudget = '';
let expenseId = '';
let privateExpense = '';
let looseExpense = '';
const members = {} as Record<'bob' | 'vera' | 'lea', string>;

before(async () => {
  for (const name of ['alice', 'bob', 'vera', 'lea', 'charlie'] as const)
    people[name] = await verifiedPerson(app, name);
  const { alice, bob, vera, lea } = people;
  budgetId = (await alice.create('/api/budgets', { name: 'Home', limit: 500, period: 'monthly' })).id;
  privateBudget = (await alice.create('/api/budgets', { name: 'Secret', limit: 9 })).id;
  const rent = { description: 'Rent', amount: 100, category: 'Flat', spentOn: '2026-03-02' };
  expenseId = (await alice.create('/api/expenses', { ...rent, budgetId })).id;
  privateExpense = (await alice.create('/api/expenses', { ...rent, budgetId: privateBudget })).id;
  looseExpense = (await alice.create('/api/expenses', rent)).id;
  members.bob = await share(alice, budgetId, { person: bob, role: 'editor' });
  members.vera = await share(alice, budgetId, { person: vera, role: 'viewer' });
  members.lea = await share(alice, budgetId, { person: lea, role: 'editor' });
  assert.equal((await lea.delete(`/api/budgets/${budgetId}/members/${members.lea}`)).status, 200);
});

describe('who may do what', () => {
  type Statuses = Readonly<Record<Name, number>>;
  const read: Statuses = { alice: 200, bob: 200, vera: 200, lea: 404, charlie: 404 };
  const write: Statuses = { alice: 200, bob: 200, vera: 403, lea: 404, charlie: 404 };
  const add: Statuses = { ...write, alice: 201, bob: 201 };
  const own: Statuses = { alice: 200, bob: 403, vera: 403, lea: 404, charlie: 404 };
  const ownerOnly: Statuses = { alice: 200, bob: 404, vera: 404, lea: 404, charlie: 404 };
  const tea = { description: 'Tea', amount: 2 };
  const table: [what: string, expected: Statuses, send: (person: Person) => ReturnType<Person['get']>][] = [
    ['GET budget', read, (one) => one.get(`/api/budgets/${budgetId}`)],
    ['GET summary', read, (one) => one.get(`/api/budgets/${budgetId}/summary`)],
    ['GET history', read, (one) => one.get(`/api/budgets/${budgetId}/history`)],
    ['GET expenses', read, (one) => one.get(`/api/expenses/${budgetId}`)],
    ['GET filtered expenses', read, (one) => one.get(`/api/expenses?budgetId=${budgetId}&q=rent`)],
    ['GET expense', read, (one) => one.get(`/api/expenses/item/${expenseId}`)],
    ['search', read, (one) => one.post('/api/search/expenses', { query: 'rent', budgetId })],
    ['report', read, (one) => one.get(`/api/reports/by-category?budgetId=${budgetId}`)],
    ['compare', read, (one) => one.get(`/api/reports/compare?budgetId=${budgetId}`)],
    ['top', read, (one) => one.get(`/api/reports/top?budgetId=${budgetId}`)],
    ['export', read, (one) => one.get(`/api/export?format=json&budgetId=${budgetId}`)],
    ['members', read, (one) => one.get(`/api/budgets/${budgetId}/members`)],
    ['POST expense', add, (one) => one.post('/api/expenses', { ...tea, budgetId })],
    ['PUT expense', write, (one) => one.put(`/api/expenses/${expenseId}`, { notes: 'Paid' })],
    [
      'bulk',
      write,
      (one) => one.post('/api/expenses/bulk', { ids: [expenseId], change: { addTags: ['x'] } }),
    ],
    [
      'bulk by filter',
      write,
      (one) => one.post('/api/expenses/bulk', { filter: { budgetId }, change: { removeTags: ['x'] } }),
    ],
    ['PUT budget', own, (one) => one.put(`/api/budgets/${budgetId}`, { limit: 501 })],
    [
      'invite',
      { ...own, alice: 400 },
      (one) => one.post(`/api/budgets/${budgetId}/members`, { email: people.alice.email, role: 'viewer' }),
    ],
    [
      'PUT member',
      own,
      (one) => one.put(`/api/budgets/${budgetId}/members/${members.vera}`, { role: 'viewer' }),
    ],
    [
      'GET member',
      { ...ownerOnly, vera: 200 },
      (one) => one.get(`/api/budgets/${budgetId}/members/${members.vera}`),
    ],
    ['other budget', ownerOnly, (one) => one.get(`/api/budgets/${privateBudget}`)],
    ['other summary', ownerOnly, (one) => one.get(`/api/budgets/${privateBudget}/summary`)],
    ['other expenses', ownerOnly, (one) => one.get(`/api/expenses/${privateBudget}`)],
    ['other expense', ownerOnly, (one) => one.get(`/api/expenses/item/${privateExpense}`)],
    ['unassigned expense', ownerOnly, (one) => one.get(`/api/expenses/item/${looseExpense}`)],
    ['change other expense', ownerOnly, (one) => one.put(`/api/expenses/${privateExpense}`, { notes: '' })],
    [
      'bulk of other',
      ownerOnly,
      (one) => one.post('/api/expenses/bulk', { ids: [looseExpense], change: { category: 'Flat' } }),
    ],
    [
      'search other',
      ownerOnly,
      (one) => one.post('/api/search/expenses', { query: 'rent', budgetId: privateBudget }),
    ],
    ['report of other', ownerOnly, (one) => one.get(`/api/reports/by-month?budgetId=${privateBudget}`)],
    ['export of other', ownerOnly, (one) => one.get(`/api/export?budgetId=${privateBudget}`)],
    [
      'rule',
      { ...ownerOnly, alice: 201 },
      (one) =>
        one.post('/api/rules', {
          conditions: [{ field: 'description', op: 'contains', value: 'never seen' }],
          set: { budgetId },
        }),
    ],
    [
      'recurring',
      { ...ownerOnly, alice: 201 },
      (one) =>
        one.post('/api/recurring', {
          budgetId,
          description: 'Gas',
          amount: 1,
          freq: 'yearly',
          start: '2027-01-01',
        }),
    ],
    [
      'transaction',
      { ...ownerOnly, alice: 201 },
      (one) =>
        one.post('/api/transactions', {
          type: 'debit',
          description: 'x',
          amount: 1,
          currency: 'USD',
          budgetId,
        }),
    ],
    [
      'export task',
      { ...read, alice: 202, bob: 202, vera: 202 },
      (one) => one.post('/api/tasks', { type: 'export', budgetId }),
    ],
    [
      'bulk task',
      { ...write, alice: 202, bob: 202 },
      (one) =>
        one.post('/api/tasks', {
          type: 'bulk',
          bulk: { filter: { budgetId, q: 'nothing' }, change: { addTags: ['y'] } },
        }),
    ],
    [
      'export task of other',
      { ...ownerOnly, alice: 202 },
      (one) => one.post('/api/tasks', { type: 'export', budgetId: privateBudget }),
    ],
  ];
  for (const [what, expected, send] of table)
    test(what, async () => {
      for (const [name, status] of Object.entries(expected)) {
        const response = await send(people[name as Name]);
        assert.equal(response.status, status, `${name}: ${response.text}`);
      }
    });

  test('DELETE of a budget is for its owner', async () => {
    for (const [name, status] of [
      ['bob', 403],
      ['vera', 403],
      ['lea', 404],
      ['charlie', 404],
    ] as const)
      assert.equal((await people[name].delete(`/api/budgets/${budgetId}?cascade=true`)).status, status, name);
  });
});

test('a member sees the budget in the list, and in nothing else', async () => {
  const { alice, bob } = people;
  const own = await bob.create('/api/budgets', { name: 'Own', limit: 5 });
  const { json, headers } = await bob.get('/api/budgets');
  assert.deepEqual(
    json.map((one: { id: string; role: string }) => [one.id, one.role]),
    [
      [own.id, 'owner'],
      [budgetId, 'editor'],
    ],
  );
  assert.equal(headers.get('x-total-count'), '2');
  const [, name = ''] = /^(.*)@/.exec(alice.email) ?? [];
  assert.deepEqual(json[1].sharedBy, { id: alice.id, username: name });
  const page = await bob.get('/api/budgets?limit=1');
  assert.equal(page.json[0].id, own.id);
  const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  assert.equal((await bob.get(next.replace(/^https?:\/\/[^/]+/, ''))).json[0].id, budgetId);
  for (const path of ['/api/expenses', '/api/transactions', '/api/reports/by-month', '/api/rules'])
    assert.deepEqual((await bob.get(path)).json, [], path);
  assert.equal((await bob.post('/api/search/expenses', { query: 'rent' })).json.total, 0);
  await bob.delete(`/api/budgets/${own.id}`);
});

test('an expense says who added it, and counts in the ledger of the owner', async () => {
  const { alice, bob, vera } = people;
  const spent = (await alice.get(`/api/budgets/${budgetId}`)).json.spentMinor;
  const body = { budgetId, description: 'Lamp', amount: 30, externalId: 'offline:1' };
  const lamp = await bob.create('/api/expenses', body);
  assert.equal(lamp.addedBy.id, bob.id);
  for (const person of [alice, bob, vera]) {
    const { json } = await person.get(`/api/expenses/item/${lamp.id}`);
    assert.deepEqual(json, lamp);
    assert.equal((await person.get(`/api/budgets/${budgetId}`)).json.spentMinor, spent + 3_000);
  }
  assert.equal((await alice.get(`/api/expenses/item/${expenseId}`)).json.addedBy.id, alice.id);
  assert.equal((await alice.get('/api/transactions')).json[0].expenseId, lamp.id);
  assert.deepEqual((await bob.get('/api/transactions')).json, []);
  assertError(await alice.post('/api/expenses', body), {
    status: 409,
    code: 'CONFLICT',
    field: 'externalId',
  });
  const changed = await alice.put(`/api/expenses/${lamp.id}`, { amount: 31 });
  assert.equal(changed.json.addedBy.id, bob.id);
  assert.equal((await bob.delete(`/api/expenses/${lamp.id}`)).status, 200);
  assert.equal((await alice.get(`/api/budgets/${budgetId}`)).json.spentMinor, spent);
});

test('an expense does not leave the account of its budget', async () => {
  const { alice, bob } = people;
  const own = await bob.create('/api/budgets', { name: 'Mine', limit: 5 });
  const mine = await bob.create('/api/expenses', { budgetId: own.id, description: 'Mine', amount: 1 });
  const invalid = { status: 400, code: 'VALIDATION_FAILED', field: 'budgetId' };
  assertError(await bob.put(`/api/expenses/${expenseId}`, { budgetId: own.id }), invalid);
  assertError(await bob.put(`/api/expenses/${expenseId}`, { budgetId: null }), invalid);
  assertError(await bob.put(`/api/expenses/${mine.id}`, { budgetId }), invalid);
  const gone = { status: 404, code: 'NOT_FOUND' };
  assertError(await bob.put(`/api/expenses/${expenseId}`, { budgetId: privateBudget }), gone);
  const bulk = (body: object) => bob.post('/api/expenses/bulk', body);
  assertError(await bulk({ ids: [mine.id, expenseId], change: { category: 'x' } }), invalid);
  assertError(await bulk({ ids: [mine.id], change: { budgetId } }), invalid);
  assertError(await bulk({ filter: {}, change: { budgetId } }), invalid);
  assertError(await bulk({ filter: { budgetId }, change: { budgetId: own.id } }), invalid);
  assertError(await bulk({ filter: { budgetId }, change: { budgetId: privateBudget } }), gone);
  const { json } = await bulk({ ids: [expenseId], change: { budgetId: null } });
  assert.deepEqual([json.changed, json.kept.length], [0, 1]);
  assert.equal((await alice.get(`/api/expenses/item/${expenseId}`)).json.budgetId, budgetId);
  await bob.delete(`/api/budgets/${own.id}?cascade=true`);
});

test('an editor of two budgets of one owner moves an expense between them, once with a key', async () => {
  const { alice, bob } = people;
  const car = await alice.create('/api/budgets', { name: 'Car', limit: 5, currency: 'USD' });
  await share(alice, car.id, { person: bob, role: 'editor' });
  const headers = { 'idempotency-key': 'fuel-1' };
  const body = { budgetId, description: 'Fuel', amount: 20 };
  const answers = await Promise.all([1, 2, 3].map(() => bob.post('/api/expenses', body, headers)));
  assert.deepEqual(new Set(answers.map(({ status, json }) => `${status} ${json.id}`)).size, 1);
  const fuel = answers[0]?.json as { id: string };
  assertError(await bob.post('/api/expenses', { ...body, amount: 21 }, headers), {
    status: 409,
    code: 'CONFLICT',
  });
  const moved = await bob.put(`/api/expenses/${fuel.id}`, { budgetId: car.id });
  assert.deepEqual([moved.json.budgetId, moved.json.addedBy.id], [car.id, bob.id]);
  assert.equal((await alice.get(`/api/budgets/${car.id}`)).json.spentMinor, 2_000);
  assertError(await people.vera.get(`/api/expenses/item/${fuel.id}`), { status: 404, code: 'NOT_FOUND' });
  await alice.delete(`/api/budgets/${car.id}?cascade=true`);
});

test('a change of many is undone by who made it, while the budget is shared', async () => {
  const { alice, bob } = people;
  const lea = people.lea;
  const member = await share(alice, budgetId, { person: lea, role: 'editor' });
  const change = async (person: Person) =>
    (await person.post('/api/expenses/bulk', { ids: [expenseId], change: { category: 'Moved' } })).json.undo;
  const undo = await change(bob);
  for (const other of [alice, lea])
    assertError(await other.post('/api/expenses/bulk/undo', { undo }), { status: 404, code: 'NOT_FOUND' });
  assert.equal((await bob.post('/api/expenses/bulk/undo', { undo })).json.undone, 1);
  assert.equal((await alice.get(`/api/expenses/item/${expenseId}`)).json.category, 'Flat');
  const late = await change(lea);
  await alice.delete(`/api/budgets/${budgetId}/members/${member}`);
  assertError(await lea.post('/api/expenses/bulk/undo', { undo: late }), { status: 404, code: 'NOT_FOUND' });
});

test('invitations are the same for every address, and wait for a verified one', async () => {
  const { alice, charlie } = people;
  const invite = (email: string, role = 'editor') =>
    alice.post(`/api/budgets/${budgetId}/members`, { email, role });
  const stranger = await invite('nowhere@example.com');
  const known = await invite(charlie.email.toUpperCase());
  const without = ({ id: _id, email: _email, ...rest }: Record<string, unknown>) => rest;
  assert.deepEqual(without(known.json), without(stranger.json));
  assert.equal(known.headers.get('location'), `/api/budgets/${budgetId}/members/${known.json.id}`);
  assert.match(await nextMail(app, 'nowhere@example.com'), /“Home”/);
  const [invitation, ...others] = (await charlie.get('/api/invitations')).json;
  assert.deepEqual(others, []);
  assert.deepEqual([invitation.budgetName, invitation.role], ['Home', 'editor']);
  assert.equal(invitation.invitedBy.id, alice.id);
  const again = await invite(charlie.email, 'viewer');
  assertError(await charlie.post(`/api/invitations/${invitation.id}/accept`), {
    status: 404,
    code: 'NOT_FOUND',
  });
  assertError(await people.bob.post(`/api/invitations/${again.json.id}/accept`), {
    status: 404,
    code: 'NOT_FOUND',
  });
  assert.equal((await charlie.post(`/api/invitations/${again.json.id}/decline`)).status, 200);
  assertError(await charlie.post(`/api/invitations/${again.json.id}/accept`), {
    status: 409,
    code: 'CONFLICT',
  });
  assert.deepEqual((await charlie.get('/api/invitations')).json, []);
  const unverified = await app.person('una');
  await invite(unverified.email);
  assert.deepEqual((await unverified.get('/api/invitations')).json, []);
  assertError(await invite(alice.email), { status: 400, code: 'VALIDATION_FAILED', field: 'email' });
  assertError(await invite(people.bob.email), { status: 409, code: 'CONFLICT', field: 'email' });
  const { json: listed } = await alice.get(`/api/budgets/${budgetId}/members`);
  for (const { id, state } of listed)
    if (state === 'pending')
      assert.equal((await alice.delete(`/api/budgets/${budgetId}/members/${id}`)).status, 200);
  assert.equal((await mailsTo(app, charlie.email)).length, 3);
});

test('a budget has 20 members and invitations, and an account invites 20 people a day', async () => {
  const owner = await verifiedPerson(app, 'olga');
  const invite = (id: string, index: number) =>
    owner.post(`/api/budgets/${id}/members`, { email: `guest-${index}@example.com`, role: 'viewer' });
  const one = await owner.create('/api/budgets', { name: 'One', limit: 5 });
  const other = await owner.create('/api/budgets', { name: 'Other', limit: 5 });
  for (let index = 0; index < 20; index++) assert.equal((await invite(one.id, index)).status, 201);
  const page = await owner.get(`/api/budgets/${one.id}/members?limit=5`);
  assert.deepEqual([page.json.length, page.headers.get('x-total-count')], [5, '20']);
  assertError(await invite(one.id, 20), { status: 409, code: 'CONFLICT' });
  assertError(await invite(other.id, 20), { status: 429, code: 'RATE_LIMIT_EXCEEDED' });
  await owner.delete(`/api/budgets/${one.id}`);
  assertError(await invite(other.id, 20), { status: 429, code: 'RATE_LIMIT_EXCEEDED' });
});

test('an invitation ends after seven days, with its budget, and when it was accepted once', async () => {
  let { alice, charlie } = people;
  const short = await alice.create('/api/budgets', { name: 'Short', limit: 5 });
  const invited = () =>
    alice.create(`/api/budgets/${short.id}/members`, { email: charlie.email, role: 'viewer' });
  const { id } = await invited();
  const accept = () => charlie.post(`/api/invitations/${id}/accept`);
  const answers = await Promise.all([accept(), accept(), accept()]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
  const { json } = await alice.get(`/api/budgets/${short.id}/members`);
  assert.deepEqual(
    json.map((one: { id: string; state: string; user: { id: string } }) => [one.id, one.state, one.user.id]),
    [[id, 'accepted', charlie.id]],
  );
  await charlie.delete(`/api/budgets/${short.id}/members/${id}`);
  const early = await invited();
  app.clock.advance(7 * 86_400_000);
  [alice, charlie] = [await app.signIn(alice), await app.signIn(charlie)];
  assert.deepEqual((await charlie.get('/api/invitations')).json, []);
  const gone = { status: 404, code: 'NOT_FOUND' };
  assertError(await charlie.post(`/api/invitations/${early.id}/accept`), gone);
  const later = await invited();
  await alice.delete(`/api/budgets/${short.id}`);
  assertError(await charlie.post(`/api/invitations/${later.id}/accept`), gone);
});

test('the owner gets a message when a member joins or leaves, and others get none', async () => {
  const [alice, bob, vera] = [
    await verifiedPerson(app, 'alice'),
    await verifiedPerson(app, 'bob'),
    await verifiedPerson(app, 'vera'),
  ];
  const budget = await alice.create('/api/budgets', { name: 'Home', limit: 100 });
  const left = await share(alice, budget.id, { person: bob, role: 'viewer' });
  const removed = await share(alice, budget.id, { person: vera, role: 'editor' });
  await bob.delete(`/api/budgets/${budget.id}/members/${left}`);
  await alice.delete(`/api/budgets/${budget.id}/members/${removed}`);
  const messagesOf = async (person: Person) => {
    const { json } = await person.get('/api/notifications');
    return json
      .filter(({ type }: { type: string }) => type === 'message')
      .map(({ message }: { message: string }) => message.replace(/-\d+/, ''));
  };
  assert.deepEqual(await messagesOf(alice), ['bob left Home.', 'vera joined Home.', 'bob joined Home.']);
  for (const person of [bob, vera]) assert.deepEqual(await messagesOf(person), []);
});
