import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, finished, startBudgets } from '../../testing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());
const alice = await app.person('alice');
const bob = await app.person('bob');

type Row = Readonly<Record<string, unknown>>;
const path = '/api/expenses/bulk';

const spend = (description: string, more: object = {}) =>
  alice.create('/api/expenses', { description, amount: 10, spentOn: '2026-03-10', ...more });

const spent = async (id: string) => (await alice.get(`/api/budgets/${id}`)).json.spent;

test('many expenses get a budget, a category and tags, and the change is taken back once', async () => {
  const { id: budgetId } = await alice.create('/api/budgets', { name: 'Food', limit: 15, period: 'monthly' });
  const rewe = await spend('REWE', { tags: ['old', 'keep'] });
  const back = await spend('REWE again', { kind: 'refund', amount: 4 });
  const euro = await spend('Paris', { currency: 'EUR' });
  const change = { budgetId, category: 'Groceries', addTags: ['new'], removeTags: ['old'] };
  const { json } = await alice.post(path, { ids: [rewe.id, back.id, euro.id], change });
  assert.deepEqual([json.changed, json.kept.map(({ id }: Row) => id)], [2, [euro.id]]);
  assert.match(json.kept[0].reason, /^rate is required/);
  assert.equal(await spent(budgetId), 6);
  const changed = (await alice.get(`/api/expenses/item/${rewe.id}`)).json;
  assert.deepEqual(
    [changed.budgetId, changed.category, changed.tags],
    [budgetId, 'Groceries', ['keep', 'new']],
  );
  assert.deepEqual((await alice.post(path, { ids: [rewe.id], change: { category: 'Groceries' } })).json, {
    changed: 0,
    kept: [],
    undo: null,
  });
  await alice.put(`/api/expenses/${back.id}`, { notes: 'mine' });
  const foreign = await bob.post(`${path}/undo`, { undo: json.undo });
  assertError(foreign, { status: 404, code: 'NOT_FOUND' });
  const undone = await alice.post(`${path}/undo`, { undo: json.undo });
  assert.deepEqual(undone.json, { undone: 1, kept: [{ id: back.id, reason: 'it was changed since' }] });
  const before = (await alice.get(`/api/expenses/item/${rewe.id}`)).json;
  assert.deepEqual([before.budgetId, before.category, before.tags], [null, null, ['old', 'keep']]);
  assert.equal(await spent(budgetId), -4);
  assertError(await alice.post(`${path}/undo`, { undo: json.undo }), { status: 409, code: 'CONFLICT' });
});

test('those of a filter are deleted, and are there again with their ids', async () => {
  const { id: budgetId } = await alice.create('/api/budgets', { name: 'Trips', limit: 100 });
  const made = [
    await spend('Train', { budgetId, tags: ['a'] }),
    await spend('Hotel', { budgetId, amount: 7 }),
  ];
  const { json } = await alice.post(path, { filter: { budgetId }, delete: true });
  assert.equal(json.changed, 2);
  assert.deepEqual([await spent(budgetId), (await alice.get(`/api/expenses/${budgetId}`)).json], [0, []]);
  await alice.post(`${path}/undo`, { undo: json.undo });
  assert.equal(await spent(budgetId), 17);
  const there = (await alice.get(`/api/expenses/${budgetId}?tag=a`)).json;
  assert.deepEqual(
    there.map(({ id, version }: Row) => [id, version]),
    [[made[0].id, 1]],
  );
  const found = await alice.post('/api/search/expenses', { query: 'hotel' });
  assert.equal(found.json.total, 1);
});

test('a request that names nothing, both, or what is not there is refused', async () => {
  const mine = await spend('Mine');
  const ids = [mine.id];
  const cases: [object, string][] = [
    [{ change: { category: 'x' } }, 'ids'],
    [{ ids, filter: {}, change: { category: 'x' } }, 'ids'],
    [{ ids }, 'change'],
    [{ ids, change: { category: 'x' }, delete: true }, 'change'],
    [{ ids, change: {} }, 'change'],
    [{ ids: [], delete: true }, 'ids'],
  ];
  for (const [body, field] of cases)
    assertError(await alice.post(path, body), { status: 400, code: 'VALIDATION_FAILED', field });
  assertError(await bob.post(path, { ids, delete: true }), { status: 404, code: 'NOT_FOUND' });
  const { id: budgetId } = await bob.create('/api/budgets', { name: 'His', limit: 1 });
  const moved = await alice.post(path, { ids, change: { budgetId } });
  assertError(moved, { status: 404, code: 'NOT_FOUND' });
  assert.equal((await bob.post(path, { filter: {}, delete: true })).json.changed, 0);
});

test('over 1,000 expenses are changed by a task, which is taken back once', async () => {
  const carol = await app.person('carol');
  const lines = Array.from({ length: 1_001 }, (_, index) => `2026-01-02,Kiosk ${index},1.00`);
  const content = ['date,description,amount', ...lines].join('\n');
  await finished(carol, await carol.create('/api/tasks', { type: 'import', content }));
  await carol.create('/api/expenses', { description: 'Kiosk', amount: 1, spentOn: '2026-03-01' });
  const key = { 'idempotency-key': 'kiosks' };
  const body = { filter: { q: 'kiosk', to: '2026-02-28' }, change: { category: 'Snacks' } };
  const sent = await carol.post(path, body, key);
  assert.deepEqual([sent.status, sent.json.type], [202, 'bulk']);
  assert.equal((await carol.post(path, body, key)).json.id, sent.json.id);
  assert.equal(sent.headers.get('location'), `/api/tasks/${sent.json.id}`);
  const task = await finished(carol, sent.json);
  assert.equal(task.status, 'completed', JSON.stringify(task));
  assert.deepEqual(task.result, { changed: 1_001, kept: [] });
  const snacks = async () =>
    (await carol.get('/api/expenses?category=snacks&limit=1')).headers.get('x-total-count');
  assert.equal(await snacks(), '1001');
  const [changed] = (await carol.get('/api/expenses?category=snacks&limit=1')).json;
  await carol.put(`/api/expenses/${changed.id}`, { notes: 'mine' });
  assert.equal((await bob.post(`/api/tasks/${task.id}/undo`)).status, 404);
  const kept = [{ id: changed.id, reason: 'it was changed since' }];
  assert.deepEqual((await carol.post(`/api/tasks/${task.id}/undo`)).json, { undone: 1_000, kept });
  assert.equal(await snacks(), '1');
  assertError(await carol.post(`/api/tasks/${task.id}/undo`), { status: 409, code: 'CONFLICT' });
});

test('a task of a bulk change leaves what it cannot change, and is refused as the request is', async () => {
  const dave = await app.person('dave');
  const { id: budgetId } = await dave.create('/api/budgets', { name: 'Trips', limit: 100 });
  const made = [];
  for (const currency of ['USD', 'EUR'])
    made.push(await dave.create('/api/expenses', { description: 'Train', amount: 5, currency }));
  const run = async (bulk: object) => finished(dave, await dave.create('/api/tasks', { type: 'bulk', bulk }));
  const moved = await run({ filter: { budgetId: 'none' }, change: { budgetId } });
  assert.deepEqual([moved.result.changed, moved.result.kept.map(({ id }: Row) => id)], [1, [made[1].id]]);
  const deleted = await run({ filter: { q: 'train' }, delete: true });
  assert.deepEqual([deleted.result.changed, (await dave.get('/api/expenses')).json], [2, []]);
  assert.equal((await dave.post(`/api/tasks/${deleted.id}/undo`)).json.undone, 2);
  assert.equal((await dave.get(`/api/budgets/${budgetId}`)).json.spent, 5);
  const nothing = await run({ filter: { q: 'nothing' }, delete: true });
  assertError(await dave.post(`/api/tasks/${nothing.id}/undo`), { status: 409, code: 'CONFLICT' });
  const filter = { budgetId };
  const cases: [object, string][] = [
    [{}, 'ids'],
    [{ ids: [made[0].id], delete: true }, 'filter'],
    [{ filter }, 'change'],
    [{ filter: { from: '2026-02-01', to: '2026-01-01' }, delete: true }, 'to'],
  ];
  for (const [bulk, field] of cases)
    assert.ok(field in (await dave.post('/api/tasks', { type: 'bulk', bulk })).json.error.fields, field);
  for (const bulk of [
    { filter: { budgetId: alice.id }, delete: true },
    { filter, change: { budgetId: alice.id } },
  ]) {
    const { status, error } = await dave
      .post('/api/tasks', { type: 'bulk', bulk })
      .then((sent) => (sent.status === 202 ? finished(dave, sent.json) : sent.json));
    assert.ok(error && status !== 'completed');
  }
});
