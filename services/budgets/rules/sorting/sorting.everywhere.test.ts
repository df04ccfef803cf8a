import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { finished, startBudgets } from '../../testing.ts';
import { signedInClient } from '../../testing-pages.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

type Row = Readonly<Record<string, unknown>>;
const path = '/rules/sort';

const payees = [
  ['REWE 4711 Berlin', -31.2],
  ['Lidl 12', -20],
  ['Landlord', -700],
  ['BVG 7', -9],
  ['Cinema', -12],
] as const;

/** Three months of a bank. */
function statement(): string {
  const lines = ['01', '02', '03'].flatMap((month) =>
    payees.map(([payee, amount], index) => `2026-${month}-0${index + 1};${payee};${amount};EUR`),
  );
  return ['Date;Payee;Amount;Currency', ...lines].join('\n');
}

test('payees of an import go into old and new budgets by one form, and later imports follow', async () => {
  const alice = await app.person('alice');
  const client = await signedInClient(app, alice);
  const run = (content: string) =>
    alice
      .create('/api/tasks', { type: 'import', content, sign: 'negative' })
      .then((task) => finished(alice, task));
  await run(statement());
  const old = await alice.create('/api/budgets', {
    name: 'Rent',
    limit: 800,
    currency: 'EUR',
    period: 'monthly',
  });
  const { html } = await client.open(path);
  const names = [...html.matchAll(/name="payee-(\d+)" value="([^"]*)"/g)].map(([, , name]) => name);
  assert.deepEqual(names.toSorted(), ['BVG', 'Cinema', 'Landlord', 'Lidl', 'REWE']);
  const places: Readonly<Record<string, string>> = {
    REWE: 'Groceries',
    Lidl: 'groceries',
    Landlord: 'rent',
    BVG: 'Travel',
  };
  const form = Object.fromEntries(
    names.flatMap((name = '', index) => [
      [`payee-${index}`, name],
      [`currency-${index}`, 'EUR'],
      [`budget-${index}`, places[name] ?? ''],
    ]),
  );
  const sent = await client.send(path, form);
  assert.equal(sent.status, 303);
  const budgets = async () =>
    (await alice.get('/api/budgets')).json
      .map(({ name, limit, period, spent }: Row) => [name, limit, period, spent])
      .toSorted();
  // Of one month of 51.20 and 9: rounded up to tens.
  const expected = [
    ['Groceries', 60, 'monthly', 51.2],
    ['Rent', 800, 'monthly', 700],
    ['Travel', 10, 'monthly', 9],
  ];
  assert.deepEqual(await budgets(), expected);
  await client.send(path, form);
  assert.equal((await alice.get('/api/rules')).json.length, 3);
  assert.deepEqual(await budgets(), expected);
  await run('Date;Payee;Amount;Currency\n2026-03-20;LIDL 99;-5,00;EUR\n2026-03-21;Landlord;-1,00;EUR');
  assert.equal((await alice.get(`/api/budgets/${old.id}`)).json.spent, 701);
  assert.deepEqual(
    (await alice.get('/api/expenses?budgetId=none')).json.map(({ description }: Row) => description),
    ['Cinema', 'Cinema', 'Cinema'],
  );
  const undo = new URL(sent.location ?? '', app.url).searchParams.get('undo');
  const [travel] = (await alice.get('/api/rules')).json.filter(({ conditions }: { conditions: Row[] }) =>
    JSON.stringify(conditions).includes('BVG'),
  );
  await alice.put(`/api/rules/${travel.id}`, { enabled: false });
  const { json: undone } = await alice.post('/api/expenses/bulk/undo', { undo });
  assert.equal(undone.undone, 12);
  assert.deepEqual(undone.made.map(({ kind, name, kept }: Row) => `${kind} ${name} ${kept}`).toSorted(), [
    'budget Groceries it has other expenses',
    'budget Travel another rule uses it',
    'rule Payee is one of BVG it was changed since',
    'rule Payee is one of Landlord null',
    'rule Payee is one of REWE, Lidl null',
  ]);
  assert.deepEqual(
    (await alice.get('/api/rules')).json.map(({ id, position }: Row) => [id, position]),
    [[travel.id, 1]],
  );
});

test('an undone sorting leaves neither budgets nor rules, and the import can be undone whole', async () => {
  const carol = await app.person('carol');
  const client = await signedInClient(app, carol);
  const task = await carol
    .create('/api/tasks', { type: 'import', content: statement(), sign: 'negative' })
    .then((sent) => finished(carol, sent));
  const fields = { 'payee-0': 'REWE', 'currency-0': 'EUR', 'budget-0': 'Food' };
  const sent = await client.send(path, fields);
  const undo = new URL(sent.location ?? '', app.url).searchParams.get('undo') ?? '';
  // Another change on top, which is taken back first.
  const { json: later } = await carol.post('/api/expenses/bulk', {
    filter: {},
    change: { addTags: ['x'] },
  });
  assert.equal((await carol.post('/api/expenses/bulk/undo', { undo: later.undo })).json.undone, 15);
  const undone = await client.send('/expenses/bulk/undo', { undo, back: '/rules' });
  const { html } = await client.open(undone.location ?? '');
  assert.match(html, /3 expenses are as before\. 1 budget and 1 rule that it made were deleted\./);
  assert.deepEqual([(await carol.get('/api/budgets')).json, (await carol.get('/api/rules')).json], [[], []]);
  assert.deepEqual((await carol.post(`/api/tasks/${task.id}/undo`)).json, { undone: 15, kept: [] });
});

test('budgets and rules that tasks sorted into go with the undo of their tasks', async () => {
  const dan = await app.person('dan');
  const lines = Array.from({ length: 1_000 }, (_, index) => `2026-01-02;Kiosk ${index};-1.00;EUR`);
  const content = ['Date;Payee;Amount;Currency', ...lines, '2026-01-02;Cinema;-9.00;EUR'].join('\n');
  await dan
    .create('/api/tasks', { type: 'import', content, sign: 'negative' })
    .then((sent) => finished(dan, sent));
  const client = await signedInClient(app, dan);
  await client.send(path, { 'payee-0': 'Cinema', 'currency-0': 'EUR', 'budget-0': 'Fun' });
  const [task] = (await dan.get('/api/tasks')).json;
  assert.equal((await finished(dan, task)).result.changed, 1);
  const { json } = await dan.post(`/api/tasks/${task.id}/undo`);
  assert.deepEqual([json.undone, json.made.map(({ kept }: Row) => kept)], [1, [null, null]]);
  assert.deepEqual([(await dan.get('/api/budgets')).json, (await dan.get('/api/rules')).json], [[], []]);
});

test('an account without unassigned expenses, and a form without budgets or with bad ones', async () => {
  const bob = await app.person('bob');
  const client = await signedInClient(app, bob);
  assert.match((await client.open(path)).html, /Nothing is unassigned/);
  await bob.create('/api/expenses', { description: 'Kiosk 5', amount: 3, category: 'Snacks' });
  assert.match((await client.open(path)).html, /name="budget-0" value="Snacks"/);
  const row = { 'payee-0': 'Kiosk', 'currency-0': 'USD' };
  for (const [form, problem] of [
    [{}, /at least one payee/],
    [{ ...row, 'budget-0': 'x'.repeat(121) }, /120/],
    [{ ...row, 'currency-0': 'XYZ', 'budget-0': 'Food' }, /currency/],
    [{ ...row, 'payee-0': '', 'budget-0': 'Food' }, /character/],
  ] as const) {
    const { status, html } = await client.send(path, form);
    assert.equal(status, 422);
    assert.match(html, problem);
  }
  assert.deepEqual((await bob.get('/api/budgets')).json, []);
  const foreign = await client.send(path, { ...row, 'payee-0': 'Nobody', 'budget-0': 'Other' });
  assert.equal(foreign.status, 303);
  assert.equal((await bob.get('/api/expenses?budgetId=none')).json.length, 1);
});

test('a payee is sorted as a transfer between own accounts, with a rule, and back by the undo', async () => {
  const erin = await app.person('erin');
  const client = await signedInClient(app, erin);
  await erin.create('/api/expenses', { description: 'Savings 1', amount: 50, currency: 'EUR', tags: ['a'] });
  assert.match((await client.open(path)).html, /<option value="Between my own accounts">/);
  const choice = { 'payee-0': 'Savings', 'currency-0': 'EUR', 'budget-0': 'between my own accounts' };
  const sent = await client.send(path, choice);
  const open = async () => (await erin.get('/api/expenses?budgetId=none')).json.length;
  const tags = async () => (await erin.get('/api/expenses')).json[0].tags;
  const spentInAll = async () => (await erin.get('/api/reports/by-category')).json.length;
  assert.deepEqual([await open(), await tags(), await spentInAll()], [0, ['a', 'transfer'], 0]);
  assert.deepEqual((await erin.get('/api/budgets')).json, []);
  assert.equal((await erin.get('/api/rules')).json[0].transfer, true);
  const undo = new URL(sent.location ?? '', app.url).searchParams.get('undo');
  await erin.post('/api/expenses/bulk/undo', { undo });
  assert.deepEqual([await open(), await tags(), (await erin.get('/api/rules')).json], [1, ['a'], []]);
});
