import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BudgetServiceDefinition } from '@octavo/protocols/budget/v1/budget_service';
import { createChannel, createClient, Metadata, Status } from 'nice-grpc';
import { type Person, startBudgets } from '../testing.ts';
import { share, verifiedPerson } from '../testing-sharing.ts';
import { SocketClient } from '../testing-sockets.ts';

const app = await startBudgets();
const channel = createChannel(`127.0.0.1:${app.grpcPort}`);
const grpc = createClient(BudgetServiceDefinition, channel);
after(async () => {
  channel.close();
  await app[Symbol.asyncDispose]();
});

type Name = 'alice' | 'bob' | 'vera' | 'lea' | 'charlie';
const people = {} as Record<Name, Person>;
let budgetId = '';
let privateBudget = '';
let expenseId = '';

before(async () => {
  const names = ['alice', 'bob', 'vera', 'lea', 'charlie'] as const;
  const all = await Promise.all(names.map((name) => verifiedPerson(app, name)));
  for (const [index, name] of names.entries()) people[name] = all[index] as Person;
  const { alice, bob, vera, lea } = people;
  budgetId = (await alice.create('/api/budgets', { name: 'Home', limit: 500, period: 'monthly' })).id;
  privateBudget = (await alice.create('/api/budgets', { name: 'Secret', limit: 9 })).id;
  expenseId = (await alice.create('/api/expenses', { budgetId, description: 'Rent', amount: 100 })).id;
  await share(alice, budgetId, { person: bob, role: 'editor' });
  await share(alice, budgetId, { person: vera, role: 'viewer' });
  const left = await share(alice, budgetId, { person: lea, role: 'editor' });
  await lea.delete(`/api/budgets/${budgetId}/members/${left}`);
});

type Outcomes<T> = Readonly<Record<Name, T>>;

test('GraphQL answers as REST does', async () => {
  const ok = undefined;
  const missing = 'NOT_FOUND';
  const read: Outcomes<string | undefined> = { alice: ok, bob: ok, vera: ok, lea: missing, charlie: missing };
  const write = { ...read, vera: 'FORBIDDEN' };
  const own = { ...write, bob: 'FORBIDDEN' };
  const ownerOnly = { ...read, bob: missing, vera: missing };
  const table: [query: string, expected: Outcomes<string | undefined>][] = [
    [
      `{ budget(id: "${budgetId}") { name role spent expenses { totalCount edges { node { addedBy { id } } } } } }`,
      read,
    ],
    [`{ budget(id: "${budgetId}") { spent(period: "2026-02") } }`, read],
    [`{ expenses(budgetId: "${budgetId}") { description budget { name } } }`, read],
    [
      `mutation { addExpense(input: { budgetId: "${budgetId}", description: "Tea", amount: 1 }) { id } }`,
      write,
    ],
    [`mutation { updateExpense(id: "${expenseId}", input: { category: "Flat" }) { id } }`, write],
    [`mutation { updateBudget(id: "${budgetId}", input: { limit: 501 }) { id } }`, own],
    [`mutation { deleteBudget(id: "${budgetId}") }`, { ...own, alice: 'CONFLICT' }],
    [`{ budget(id: "${privateBudget}") { name } }`, ownerOnly],
    [`{ expenses(budgetId: "${privateBudget}") { id } }`, ownerOnly],
    [
      `mutation { addExpense(input: { budgetId: "${privateBudget}", description: "x", amount: 1 }) { id } }`,
      ownerOnly,
    ],
  ];
  for (const [query, expected] of table)
    for (const [name, code] of Object.entries(expected)) {
      const { json } = await people[name as Name].post('/api/graphql', { query });
      assert.equal(json.errors?.[0].extensions.code, code, `${name}: ${query} ${JSON.stringify(json)}`);
    }
  const query = '{ budgets { id role sharedBy { id } spent } }';
  const { json } = await people.vera.post('/api/graphql', { query });
  const spent = (await people.alice.get(`/api/budgets/${budgetId}`)).json.spent;
  const sharedBy = { id: people.alice.id };
  assert.deepEqual(json.data.budgets, [{ id: budgetId, role: 'VIEWER', sharedBy, spent }]);
});

test('gRPC answers as REST does', async () => {
  const missing = Status.NOT_FOUND;
  const read = { alice: Status.OK, bob: Status.OK, vera: Status.OK, lea: missing, charlie: missing };
  const write = { ...read, vera: Status.PERMISSION_DENIED };
  const own = { ...write, bob: Status.PERMISSION_DENIED };
  const ownerOnly = { ...read, bob: missing, vera: missing };
  const money = { currencyCode: 'USD', units: 2, nanos: 0 };
  type Call = (options: { metadata: Metadata }) => Promise<unknown>;
  const table: [what: string, expected: Outcomes<Status>, call: Call][] = [
    ['GetBudget', read, (options) => grpc.getBudget({ id: budgetId }, options)],
    [
      'AddExpense',
      write,
      (options) => grpc.addExpense({ expense: { budgetId, description: 'Tea', amount: money } }, options),
    ],
    [
      'UpdateBudget',
      own,
      (options) =>
        grpc.updateBudget({ budget: { id: budgetId, name: 'Home' }, updateMask: ['name'] }, options),
    ],
    [
      'DeleteBudget',
      { ...own, alice: Status.FAILED_PRECONDITION },
      (options) => grpc.deleteBudget({ id: budgetId }, options),
    ],
    [
      'WatchBudget',
      read,
      async (options) => {
        const watch = grpc.watchBudget({ id: budgetId }, options)[Symbol.asyncIterator]();
        await watch.next();
        await watch.return?.();
      },
    ],
    ['GetBudget of another', ownerOnly, (options) => grpc.getBudget({ id: privateBudget }, options)],
    [
      'AddExpense to another',
      ownerOnly,
      (options) =>
        grpc.addExpense({ expense: { budgetId: privateBudget, description: 'x', amount: money } }, options),
    ],
  ];
  for (const [what, expected, call] of table)
    for (const [name, status] of Object.entries(expected)) {
      const metadata = Metadata({ authorization: `Bearer ${people[name as Name].token}` });
      const outcome = await call({ metadata }).then(
        () => Status.OK,
        ({ code }: { code: Status }) => code,
      );
      assert.equal(outcome, status, `${name}: ${what}`);
    }
  const expense = { budgetId, description: 'Lamp', amount: money };
  const ofBob = Metadata({ authorization: `Bearer ${people.bob.token}` });
  const added = await grpc.addExpense({ expense }, { metadata: ofBob });
  assert.equal(added.expense?.addedBy?.id, people.bob.id);
  const metadata = Metadata({ authorization: `Bearer ${people.vera.token}` });
  const { budgets, totalSize } = await grpc.listBudgets({}, { metadata });
  assert.deepEqual([budgets.map(({ id }) => id), totalSize], [[budgetId], 1]);
});

test('each event goes to all members, numbered in each account without holes', async () => {
  const { alice, bob, vera, charlie } = people;
  const { id } = await alice.create('/api/budgets', { name: 'Events', limit: 10, thresholds: [50] });
  const mine = await bob.create('/api/budgets', { name: 'Mine', limit: 10 });
  const left = await share(alice, id, { person: bob, role: 'editor' });
  await share(alice, id, { person: vera, role: 'viewer' });
  const seqOf = async (person: Person) => (await person.get('/api/notifications')).json[0]?.seq ?? 0;
  const before = { alice: await seqOf(alice), bob: await seqOf(bob), vera: await seqOf(vera) };
  const strangers = await seqOf(charlie);
  const tea = await bob.create('/api/expenses', { budgetId: id, description: 'Tea', amount: 6 });
  await bob.create('/api/expenses', { budgetId: mine.id, description: 'Own', amount: 1 });
  await alice.put(`/api/budgets/${id}`, { name: 'Renamed' });
  await bob.delete(`/api/expenses/${tea.id}`);
  const shared = ['expense.created', 'budget.threshold', 'budget.updated', 'expense.deleted'];
  const eventsOf = async (person: Person, after: number) =>
    (await person.get('/api/notifications')).json.filter(({ seq }: { seq: number }) => seq > after).reverse();
  const typesOf = (events: { type: string }[]) => events.map(({ type }) => type);
  const [toAlice, toBob, toVera] = [
    await eventsOf(alice, before.alice),
    await eventsOf(bob, before.bob),
    await eventsOf(vera, before.vera),
  ];
  assert.deepEqual(typesOf(toAlice), shared);
  assert.deepEqual(typesOf(toVera), shared);
  assert.deepEqual(typesOf(toBob), [...shared.slice(0, 2), 'expense.created', ...shared.slice(2)]);
  for (const [events, start] of [
    [toAlice, before.alice],
    [toBob, before.bob],
    [toVera, before.vera],
  ] as const)
    assert.deepEqual(
      events.map(({ seq }: { seq: number }) => seq - start),
      [...events.keys()].map((index) => index + 1),
    );
  assert.equal(await seqOf(charlie), strangers);
  assert.deepEqual(toVera[0].data, tea);
  assert.deepEqual([toAlice[2].data.role, toVera[2].data.role], ['owner', 'viewer']);
  assert.equal(toVera[2].data.sharedBy.id, alice.id);
  // An expense that the owner moves to a private budget is gone for the members.
  const moved = await alice.create('/api/expenses', { budgetId: id, description: 'Gift', amount: 1 });
  await alice.put(`/api/expenses/${moved.id}`, { budgetId: privateBudget });
  const [gone] = (await vera.get('/api/notifications')).json;
  assert.deepEqual([gone.type, gone.data], ['expense.deleted', moved]);
  assert.equal((await alice.get('/api/notifications')).json[0].type, 'expense.updated');
  // Bob leaves, and gets no replay of the budget's events.
  await bob.delete(`/api/budgets/${id}/members/${left}`);
  const live = new SocketClient(`${app.url}/ws`, { headers: { authorization: `Bearer ${bob.token}` } });
  assert.equal((await live.next()).type, 'ready');
  live.send({ type: 'resume', lastSeq: before.bob });
  const from = before.bob + 1;
  assert.deepEqual(await live.next(), { type: 'gap', from, to: from + 1 });
  const own = await live.next();
  assert.deepEqual([own.seq, own.event, own.data.budgetId], [from + 2, 'expense.created', mine.id]);
  assert.deepEqual(await live.next(), { type: 'gap', from: from + 3, to: from + 6 });
  await alice.create('/api/expenses', { budgetId: id, description: 'Later', amount: 1 });
  await bob.create('/api/expenses', { budgetId: mine.id, description: 'Next', amount: 1 });
  const next = await live.next();
  assert.deepEqual([next.seq, next.data.description], [from + 7, 'Next']);
  live.socket.close();
  await alice.delete(`/api/budgets/${id}?cascade=true`);
  assert.equal((await vera.get('/api/notifications')).json[0].type, 'budget.deleted');
});
