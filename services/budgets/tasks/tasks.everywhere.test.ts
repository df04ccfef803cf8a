import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, finished, startBudgets } from '../testing.ts';
import { linkTokenOf, nextMail } from '../testing-mails.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const alice = await app.person('alice');
const bob = await app.person('bob');
const path = '/api/tasks';
const { id: budgetId } = await alice.create('/api/budgets', { name: 'Food', limit: 100 });
await alice.create('/api/expenses', { budgetId, description: 'Tea', amount: 4.2, category: 'Food' });

test('a task is queued, runs, and tells its result', async () => {
  const queued = await alice.post(path, { type: 'report', description: 'My report', report: 'by-category' });
  assert.equal(queued.status, 202, queued.text);
  assert.equal(queued.headers.get('location'), `${path}/${queued.json.id}`);
  const { status, progress, result, description } = queued.json;
  assert.deepEqual(
    { status, progress, result, description },
    { status: 'pending', progress: 0, result: null, description: 'My report' },
  );
  const task = await finished(alice, queued.json);
  assert.deepEqual([task.status, task.progress, task.attempts, task.error], ['completed', 100, 1, null]);
  assert.deepEqual(task.result.rows, [
    { category: 'Food', currency: 'USD', amount: 4.2, amountMinor: 420, expenses: 1 },
  ]);
  assert.ok(task.startedAt && task.finishedAt);
  const [{ type, data }] = (await alice.get('/api/notifications')).json;
  assert.deepEqual([type, data.id, data.status], ['task.finished', task.id, 'completed']);
  assert.equal((await alice.get(path)).json[0].id, task.id);
});

test('an export writes a file that can be fetched', async () => {
  const task = await finished(alice, await alice.create(path, { type: 'export', format: 'csv' }));
  assert.deepEqual([task.result.expenses, task.result.format], [1, 'csv']);
  const file = await alice.get(`${path}/${task.id}/file`);
  assert.equal(file.status, 200);
  assert.match(file.headers.get('content-disposition') ?? '', /filename="expenses-2026-03-15.csv"/);
  assert.match(file.text, /2026-03-15,Tea,4.20,USD,Food/);
  assertError(await bob.get(`${path}/${task.id}/file`), { status: 404, code: 'NOT_FOUND' });
  const report = await finished(alice, await alice.create(path, { type: 'report' }));
  assertError(await alice.get(`${path}/${report.id}/file`), { status: 404, code: 'NOT_FOUND' });
});

test('a task mails its owner only, at an address that was verified; a failed one can run again', async () => {
  const failed = await finished(alice, await alice.create(path, { type: 'email' }));
  assert.deepEqual([failed.status, failed.error], ['failed', 'Verify your e-mail address first.']);
  assert.match((await app.send('/metrics')).text, /^budgets_tasks_failed(?:\{[^}]*\})? 1$/m);
  const token = linkTokenOf(await nextMail(app, alice.email));
  await app.send('/api/auth/verify-email', { body: { token } });
  const again = await alice.post(`${path}/${failed.id}/retry`);
  assert.equal(again.status, 202, again.text);
  assert.equal((await finished(alice, failed)).status, 'completed');
  assert.match(await nextMail(app, alice.email, 2), /Food: 4.20 USD/);
  assertError(await alice.post(`${path}/${failed.id}/retry`), { status: 409, code: 'CONFLICT' });
});

test('a description changes; what is finished cannot be canceled, what is not cannot be deleted', async () => {
  const { id } = await finished(alice, await alice.create(path, { type: 'reindex' }));
  assert.equal((await alice.put(`${path}/${id}`, { description: 'New' })).json.description, 'New');
  assertError(await alice.put(`${path}/${id}`, { status: 'canceled' }), { status: 409, code: 'CONFLICT' });
  assertError(await alice.put(`${path}/${id}`, { status: 'completed' }), {
    status: 400,
    code: 'VALIDATION_FAILED',
    field: 'status',
  });
  assert.equal((await alice.delete(`${path}/${id}`)).json.id, id);
  assertError(await alice.get(`${path}/${id}`), { status: 404, code: 'NOT_FOUND' });
});

test('tasks of another user do not exist, and what is invalid is refused', async () => {
  const { id } = await alice.create(path, { type: 'report' });
  for (const answer of [
    await bob.get(`${path}/${id}`),
    await bob.put(`${path}/${id}`, { status: 'canceled' }),
    await bob.delete(`${path}/${id}`),
    await bob.post(`${path}/${id}/retry`),
    await bob.post(path, {
      type: 'import',
      format: 'csv',
      budgetId,
      content: 'spentOn,description,amount\n',
    }),
  ])
    assertError(answer, { status: 404, code: 'NOT_FOUND' });
  for (const [body, field] of [
    [{}, 'type'],
    [{ type: 'dance' }, 'type'],
    [{ type: 'report', report: 'x' }, 'report'],
    [{ type: 'export', format: 'xls' }, 'format'],
    [{ type: 'export', from: 'x' }, 'from'],
    [{ type: 'import' }, 'content'],
  ] as const)
    assertError(await alice.post(path, body), { status: 400, code: 'VALIDATION_FAILED', field });
  await finished(alice, { id });
});

test('an idempotency key makes one task', async () => {
  const send = () => alice.post(path, { type: 'report' }, { 'idempotency-key': 'task-1' });
  const answers = await Promise.all([send(), send(), send()]);
  assert.equal(new Set(answers.map(({ json }) => json.id)).size, 1);
  await finished(alice, answers[0]?.json);
});
