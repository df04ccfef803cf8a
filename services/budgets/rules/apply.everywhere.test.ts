import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, finished, startBudgets } from '../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());
const alice = await app.person('alice');
const bob = await app.person('bob');

type Row = Readonly<Record<string, unknown>>;
const path = '/api/rules';
const containing = (value: string) => [{ field: 'description', op: 'contains', value }];

const spend = (description: string, more: object = {}) =>
  alice.create('/api/expenses', { description, amount: 10, spentOn: '2026-03-10', ...more });
const read = async (id: string) => (await alice.get(`/api/expenses/item/${id}`)).json;

test('a rule sorts the rows of an import into budgets, and the rest waits', async () => {
  const { id: food } = await alice.create('/api/budgets', { name: 'Food', limit: 500, currency: 'EUR' });
  const { id: rent } = await alice.create('/api/budgets', { name: 'Rent', limit: 900, currency: 'EUR' });
  await alice.create(path, { conditions: containing('rewe'), set: { budgetId: food, addTags: ['weekly'] } });
  await alice.create(path, {
    match: 'any',
    conditions: [
      { field: 'payee', op: 'is', value: 'Vermieter' },
      { field: 'day', op: 'is', value: 1 },
    ],
    set: { budgetId: rent, category: 'Home', description: 'Rent' },
  });
  await alice.create(path, { conditions: containing('savings'), transfer: true });
  const off = { conditions: containing('hotel'), set: { category: 'Never' }, enabled: false };
  await alice.create(path, off);
  const content = [
    'Date;Payee;Amount;Currency',
    '2026-02-02;REWE 4711 Berlin;-20,00;EUR',
    '2026-02-01;Haus & Grund;-700,00;EUR',
    '2026-02-05;To my savings;-100,00;EUR',
    '2026-02-06;From my savings;50,00;EUR',
    '2026-02-07;REWE Zurich;-9,00;CHF',
    '2026-02-08;Hotel;-80,00;EUR',
  ].join('\n');
  const task = await alice.create('/api/tasks', { type: 'import', content, sign: 'negative' });
  const { result } = await finished(alice, task);
  assert.deepEqual(
    [result.created, result.skipped],
    [5, [{ line: 5, reason: 'a transfer between your accounts' }]],
  );
  const { json } = await alice.get('/api/expenses?sort=spentOn');
  assert.deepEqual(
    json.map(({ description, budgetId, category, tags }: Row) => [description, budgetId, category, tags]),
    [
      ['Rent', rent, 'Home', []],
      ['REWE 4711 Berlin', food, null, ['weekly']],
      ['To my savings', null, null, ['transfer']],
      // Without a rate it cannot be in a budget in EUR.
      ['REWE Zurich', null, null, ['weekly']],
      ['Hotel', null, null, []],
    ],
  );
  const waiting = (await alice.get('/api/expenses?budgetId=none')).json;
  assert.deepEqual(
    waiting.map(({ description }: Row) => description),
    ['Hotel', 'REWE Zurich'],
  );
  // A transfer counts in no report.
  const months = (await alice.get('/api/reports/by-month')).json;
  assert.deepEqual(
    months.map(({ currency, amount }: Row) => [currency, amount]),
    [
      ['CHF', 9],
      ['EUR', 800],
    ],
  );
  const { json: top } = await alice.get('/api/reports/top');
  assert.ok(top.every(({ description }: Row) => description !== 'To my savings'));
  // Without its tag it is spending.
  const [{ id: moved }] = (await alice.get('/api/expenses?tag=transfer')).json;
  await alice.put(`/api/expenses/${moved}`, { tags: [] });
  assert.equal((await alice.get('/api/expenses?budgetId=none')).json.length, 3);
  assert.equal((await alice.get('/api/reports/by-month')).json[1].amount, 900);
  const duplicates = await finished(
    alice,
    await alice.create('/api/tasks', { type: 'import', content, sign: 'negative' }),
  );
  assert.deepEqual([duplicates.result.created, duplicates.result.duplicates], [0, 5]);
});

test('a rule is tried and applied to what is there, keeps what was chosen, and is taken back', async () => {
  const { id: budgetId } = await alice.create('/api/budgets', { name: 'Shoes', limit: 100 });
  const { id: other } = await alice.create('/api/budgets', { name: 'Gifts', limit: 100 });
  const made = [
    await spend('Zalando 1'),
    await spend('Zalando 2', { category: 'Clothes' }),
    await spend('Zalando 3', { budgetId: other, category: 'Gifts' }),
    await spend('Zalando 4', { currency: 'EUR' }),
  ];
  await bob.create('/api/expenses', { description: 'Zalando', amount: 1 });
  const set = { budgetId, category: 'Shoes' };
  const rule = await alice.create(path, { conditions: containing('zalando'), set });
  const apply = (body: object) => alice.post(`${path}/${rule.id}/apply`, body);
  assert.deepEqual((await apply({ dryRun: true })).json, { matched: 4, changed: 3, undo: null });
  assert.equal((await read(made[0].id)).budgetId, null);
  const key = { 'idempotency-key': 'apply-shoes' };
  const first = await alice.post(`${path}/${rule.id}/apply`, {}, key);
  assert.deepEqual([first.status, first.json.matched, first.json.changed], [200, 4, 3]);
  const again = await alice.post(`${path}/${rule.id}/apply`, {}, key);
  assert.equal(again.json.undo, first.json.undo);
  const places = async () => {
    const all = [];
    for (const { id } of made) all.push(await read(id));
    return all.map((each) => [each.budgetId, each.category]);
  };
  assert.deepEqual(await places(), [
    [budgetId, 'Shoes'],
    [budgetId, 'Clothes'],
    [other, 'Gifts'],
    [null, 'Shoes'],
  ]);
  assert.equal((await alice.get(`/api/budgets/${budgetId}`)).json.spent, 20);
  const undone = await alice.post('/api/expenses/bulk/undo', { undo: first.json.undo });
  assert.deepEqual(undone.json, { undone: 3, kept: [] });
  assert.deepEqual((await places())[0], [null, null]);
  assertError(await bob.post(`${path}/${rule.id}/apply`, {}), { status: 404, code: 'NOT_FOUND' });
  await alice.delete(`/api/budgets/${budgetId}?cascade=true`);
  assertError(await apply({}), { status: 409, code: 'CONFLICT' });
});

test('over 1,000 expenses are changed by a task', async () => {
  const carol = await app.person('carol');
  const lines = Array.from({ length: 1_001 }, (_, index) => `2026-01-02,Kiosk ${index},1.00`);
  const content = ['date,description,amount', ...lines].join('\n');
  await finished(carol, await carol.create('/api/tasks', { type: 'import', content }));
  const rule = await carol.create(path, { contains: 'kiosk', category: 'Snacks' });
  const apply = (body: object) => carol.post(`${path}/${rule.id}/apply`, body);
  assert.deepEqual((await apply({ dryRun: true })).json, { matched: 1_001, changed: 1_001, undo: null });
  const sent = await apply({});
  assert.deepEqual([sent.status, sent.json.type], [202, 'rule']);
  const task = await finished(carol, sent.json);
  assert.deepEqual(task.result, { matched: 1_001, changed: 1_001 });
  const [row] = (await carol.get('/api/reports/by-category')).json;
  assert.deepEqual([row.category, row.expenses], ['Snacks', 1_001]);
  const [changed] = (await carol.get('/api/expenses?limit=1')).json;
  await carol.put(`/api/expenses/${changed.id}`, { notes: 'mine' });
  const kept = [{ id: changed.id, reason: 'it was changed since' }];
  assert.deepEqual((await carol.post(`/api/tasks/${task.id}/undo`)).json, { undone: 1_000, kept });
  assert.equal((await carol.get('/api/reports/by-category')).json[0].category, null);
  assertError(await carol.post('/api/tasks', { type: 'rule' }), {
    status: 400,
    code: 'VALIDATION_FAILED',
    field: 'ruleId',
  });
});

test('a rule that is none is refused, with the field', async () => {
  const conditions = containing('x');
  const { id: foreign } = await bob.create('/api/budgets', { name: 'His', limit: 1 });
  const cases: [object, string][] = [
    [{ conditions }, 'set'],
    [{ conditions, set: {} }, 'set'],
    [{ conditions: [], set: { category: 'x' } }, 'conditions'],
    [{ conditions, contains: 'x', category: 'x' }, 'contains'],
    [{ conditions, set: { budgetId: foreign }, transfer: true }, 'transfer'],
    [{ conditions: [{ field: 'price', op: 'is', value: 1 }], transfer: true }, 'conditions[0].field'],
    [{ conditions: [{ field: 'payee', op: 'matches', value: '(' }], transfer: true }, 'conditions[0].value'],
    [{ conditions, set: { addTags: [''] } }, 'set.addTags[0]'],
  ];
  for (const [body, field] of cases)
    assertError(await alice.post(path, body), { status: 400, code: 'VALIDATION_FAILED', field });
  const given = { conditions, set: { budgetId: foreign } };
  assertError(await alice.post(path, given), { status: 404, code: 'NOT_FOUND' });
  const { id } = await alice.create(path, { conditions, set: { category: 'x' } });
  assertError(await alice.put(`${path}/${id}`, { set: { budgetId: foreign } }), {
    status: 404,
    code: 'NOT_FOUND',
  });
  const changed = await alice.put(`${path}/${id}`, { match: 'any', enabled: false, set: { category: 'y' } });
  assert.deepEqual(
    [changed.json.match, changed.json.enabled, changed.json.set],
    ['any', false, { category: 'y' }],
  );
});
