import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, startBudgets } from '../testing.ts';
import { signedInClient } from '../testing-pages.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const alice = await app.person('alice');
const bob = await app.person('bob');
const path = '/api/notifications';

test('a message to oneself is a notification, numbered without holes', async () => {
  const sent = await alice.post(path, { message: 'Buy milk' });
  assert.equal(sent.status, 201, sent.text);
  const { seq, type, title, message, readAt } = sent.json;
  assert.deepEqual(
    { seq, type, title, message, readAt },
    { seq: 1, type: 'message', title: 'Message', message: 'Buy milk', readAt: null },
  );
  const own = await alice.get(sent.headers.get('location') ?? '');
  assert.deepEqual([own.status, own.json], [200, sent.json]);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => alice.post(path, { title: 'Hello', message: 'x' })),
  );
  assert.deepEqual(
    answers.map(({ json }) => json.seq).sort((one, other) => one - other),
    Array.from({ length: 20 }, (_, index) => index + 2),
  );
  assert.equal((await bob.post(path, { message: 'First' })).json.seq, 1);
});

test('a failed command leaves no hole', async () => {
  assertError(await alice.post('/api/expenses', { budgetId: 'x', description: 'x', amount: 1 }), {
    status: 404,
    code: 'NOT_FOUND',
  });
  assert.equal((await alice.post(path, { message: 'x' })).json.seq, 22);
});

test('notifications are listed newest first, and marked as read', async () => {
  const page = await alice.get(`${path}?limit=2`);
  assert.deepEqual(
    page.json.map(({ seq }: { seq: number }) => seq),
    [22, 21],
  );
  assert.equal(page.headers.get('x-total-count'), '22');
  const next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  assert.equal((await alice.get(next)).json[0].seq, 20);
  const [{ id }] = page.json;
  const read = await alice.put(`${path}/${id}/read`);
  assert.equal(read.json.readAt, '2026-03-15T12:00:00.000Z');
  app.clock.advance(1_000);
  assert.equal((await alice.put(`${path}/${id}/read`)).json.readAt, '2026-03-15T12:00:00.000Z');
  const unread = await alice.get(`${path}?unread=true`);
  assert.deepEqual([unread.json[0].seq, unread.headers.get('x-total-count')], [21, '21']);
  assert.equal((await alice.put(`${path}/read-all`)).json.read, 21);
  assert.deepEqual((await alice.get(`${path}?unread=true`)).json, []);
});

test('notifications of another user do not exist, and what is invalid is refused', async () => {
  const [{ id }] = (await alice.get(path)).json;
  assertError(await bob.put(`${path}/${id}/read`), { status: 404, code: 'NOT_FOUND' });
  assertError(await bob.get(`${path}/${id}`), { status: 404, code: 'NOT_FOUND' });
  assertError(await bob.put(`${path}/x/read`), { status: 404, code: 'NOT_FOUND' });
  assert.equal((await bob.get(path)).json.length, 1);
  for (const [body, field] of [
    [{}, 'message'],
    [{ message: '' }, 'message'],
    [{ message: 'a'.repeat(2_001) }, 'message'],
    [{ message: 'x', title: 7 }, 'title'],
  ] as const)
    assertError(await alice.post(path, body), { status: 400, code: 'VALIDATION_FAILED', field });
  assertError(await alice.get(`${path}?unread=maybe`), {
    status: 400,
    code: 'INVALID_INPUT',
    field: 'unread',
  });
  assertError(await app.send(path), { status: 401, code: 'UNAUTHORIZED' });
});

test('pages count and show the chosen kinds, and every event stays for programs', async () => {
  const carol = await app.person('carol');
  const client = await signedInClient(app, carol);
  const { id: budgetId } = await carol.create('/api/budgets', { name: 'Food', limit: 10 });
  await carol.create('/api/expenses', { budgetId, description: 'Feast', amount: 9 });
  const unread = async () => /data-unread="(\d+)"/.exec((await client.open('/notifications')).html)?.[1];
  // Of the budget, the expense and the threshold, only the last.
  assert.equal(await unread(), '1');
  const shown = (await client.open('/notifications')).html;
  assert.match(shown, /90% of Food/);
  assert.doesNotMatch(shown, /Feast/);
  assert.match(
    (await client.open('/notifications?show=all')).html,
    /Feast[\s\S]*Food was created|Food was created/,
  );
  assert.match((await client.open('/notifications/choice')).html, /value="budget.threshold" checked/);
  assert.equal((await carol.get(`${path}?unread=true`)).json.length, 3);

  await client.send('/notifications/choice', { kind: ['expense.created', 'nonsense'] });
  assert.equal(await unread(), '1');
  assert.match((await client.open('/notifications')).html, /Feast/);
  // None at all is a choice too.
  await client.send('/notifications/choice', {});
  assert.equal(await unread(), '0');
  assert.match((await client.open('/notifications')).html, /No notifications yet/);
  assert.equal((await carol.get(`${path}?unread=true`)).json.length, 3);
  assert.deepEqual(
    (await carol.get(path)).json.map(({ seq }: { seq: number }) => seq),
    [3, 2, 1],
  );
  const dave = await app.person('dave');
  await dave.post(path, { message: 'Mine' });
  assert.match((await (await signedInClient(app, dave)).open('/notifications')).html, /Mine/);
});

test('a change of many tells the highest threshold of a period that goes on, and pages write its amounts as the reader does', async () => {
  const erin = await app.person('erin');
  const budget = { name: 'Car & train', limit: 1_000, currency: 'EUR', period: 'monthly' };
  const { id: budgetId } = await erin.create('/api/budgets', budget);
  for (const spentOn of ['2026-02-10', '2026-03-10'])
    await erin.create('/api/expenses', { description: 'Rail', amount: 1_450.5, currency: 'EUR', spentOn });
  const { json } = await erin.post('/api/expenses/bulk', {
    filter: { budgetId: 'none' },
    change: { budgetId },
  });
  const told = async () =>
    (await erin.get(path)).json
      .filter(({ type }: { type: string }) => type === 'budget.threshold')
      .map(({ title, data }: { title: string; data: { period: string; threshold: number } }) => [
        title,
        data.period,
        data.threshold,
      ]);
  assert.deepEqual(await told(), [['145% of Car & train', '2026-03', 100]]);
  await erin.post('/api/expenses/bulk/undo', { undo: json.undo });
  assert.equal((await told()).length, 1);
  // An expense in a period that is over tells each threshold, as before.
  const late = { budgetId, description: 'Rail', amount: 1_000, currency: 'EUR', spentOn: '2026-01-10' };
  await erin.create('/api/expenses', late);
  assert.equal((await told()).length, 3);
  const client = await signedInClient(app, erin);
  const { html } = await client.open('/notifications', { headers: { 'accept-language': 'de-DE' } });
  assert.match(html, /145% of Car &amp; train<div>You have spent 1\.450,50\s€ of 1\.000,00\s€ for Car/);
});
