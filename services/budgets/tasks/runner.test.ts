import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { assertError, finished, startBudgets } from '../testing.ts';

const idle = await startBudgets({ environment: { BUDGETS_WORKER: 'off' } });
after(() => idle[Symbol.asyncDispose]());
const path = '/api/tasks';

test('a task that was canceled does not run, and one whose worker was down runs later', async () => {
  const alice = await idle.person('alice');
  const canceled = await alice.create(path, { type: 'report' });
  const waiting = await alice.create(path, { type: 'report' });
  assertError(await alice.delete(`${path}/${canceled.id}`), { status: 409, code: 'CONFLICT' });
  const put = await alice.put(`${path}/${canceled.id}`, { status: 'canceled' });
  assert.deepEqual([put.status, put.json.status], [200, 'canceled']);
  assert.equal((await alice.put(`${path}/${canceled.id}`, { status: 'canceled' })).status, 200);
  await using working = await startBudgets({ folder: idle.folder });
  assert.equal((await finished(alice, waiting)).status, 'completed');
  assert.equal((await alice.get(`${path}/${canceled.id}`)).json.status, 'canceled');
  assert.equal((await alice.post(`${path}/${canceled.id}/retry`)).status, 202);
  assert.equal((await finished(alice, canceled)).status, 'completed');
  assert.ok(working.url);
});

test('a task whose worker died five times goes on', async () => {
  const alice = await idle.person('alice');
  const task = await alice.create(path, { type: 'report' });
  // Each attempt counts when it begins; one that is killed leaves no more than that.
  using database = new DatabaseSync(join(idle.folder, 'budgets.sqlite'));
  database.exec('UPDATE job SET attempts = 5');
  await using working = await startBudgets({ folder: idle.folder });
  assert.equal((await finished(alice, task)).status, 'completed');
  assert.ok(working.url);
});

test('an account has at most 20 tasks that are not finished', async () => {
  const bob = await idle.person('bob');
  const answers = await Promise.all(Array.from({ length: 25 }, () => bob.post(path, { type: 'report' })));
  assert.equal(answers.filter(({ status }) => status === 202).length, 20);
  const refused = answers.filter(({ status }) => status === 429);
  assert.equal(refused.length, 5);
  assert.ok(refused.every(({ headers }) => headers.has('retry-after')));
});
