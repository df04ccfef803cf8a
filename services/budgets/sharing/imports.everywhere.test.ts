import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, finished, type Person, startBudgets } from '../testing.ts';
import { share, verifiedPerson } from '../testing-sharing.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const csv = (...rows: string[]) => `spentOn,description,amount\n${rows.join('\n')}\n`;
const month = csv('2026-03-03,Tea,7.20', '2026-03-04,Rent,70', '2026-03-04,Cake,3');
const send = (person: Person, budgetId: string | undefined, content: string, fields = {}) => {
  const form = new FormData();
  form.append('file', new Blob([content]), 'file.csv');
  for (const [name, value] of Object.entries({ ...(budgetId && { budgetId }), ...fields }))
    form.append(name, String(value));
  return person.send('/api/import', { method: 'POST', body: form });
};
const importInto = async (person: Person, budgetId: string | undefined, content: string, fields = {}) => {
  const answer = await send(person, budgetId, content, fields);
  assert.equal(answer.status, 202, answer.text);
  const task = await finished(person, answer.json);
  assert.equal(task.status, 'completed', task.error);
  return task;
};
const counts = ({ result }: { result: Record<string, number> }) => [
  result.created,
  result.duplicates,
  result.matched,
];

test('an editor imports into the budget, and sees nothing else of its owner', async () => {
  const [alice, bob, vera, charlie] = (await Promise.all(
    ['alice', 'bob', 'vera', 'charlie'].map((name) => verifiedPerson(app, name)),
  )) as [Person, Person, Person, Person];
  const { id } = await alice.create('/api/budgets', { name: 'Home', limit: 500 });
  const secret = await alice.create('/api/budgets', { name: 'Secret', limit: 9 });
  const member = await share(alice, id, { person: bob, role: 'editor' });
  await share(alice, id, { person: vera, role: 'viewer' });
  assertError(await send(vera, id, month), { status: 403, code: 'FORBIDDEN' });
  assertError(await send(charlie, id, month), { status: 404, code: 'NOT_FOUND' });
  assertError(await send(bob, secret.id, month), { status: 404, code: 'NOT_FOUND' });
  // Rows that the owner has elsewhere are no duplicates for a member.
  await importInto(alice, secret.id, month);
  await alice.create('/api/expenses', { description: 'Tea time', amount: 7.2, spentOn: '2026-03-03' });
  await alice.create('/api/rules', { contains: 'Tea', category: 'Secret category' });
  await bob.create('/api/rules', { contains: 'Tea', category: 'Drinks' });
  const fields = { match: 'auto', incomes: 'keep' };
  const preview = await importInto(bob, id, month, { ...fields, dryRun: true });
  assert.deepEqual(counts(preview), [3, 0, 0]);
  const file = `${month}2026-03-05,Salary,-900\n`;
  const task = await importInto(bob, id, file, fields);
  assert.deepEqual(counts(task), [3, 0, 0]);
  assert.deepEqual(task.result.skipped, [{ line: 5, reason: 'money that came in' }]);
  assert.deepEqual(counts(await importInto(bob, id, month, fields)), [0, 3, 0]);
  const { json: expenses } = await alice.get(`/api/expenses/${id}`);
  assert.deepEqual(
    expenses.map((one: { addedBy: { id: string }; category: string | null }) => [
      one.addedBy.id,
      one.category,
    ]),
    [
      [bob.id, null],
      [bob.id, null],
      [bob.id, 'Drinks'],
    ],
  );
  assert.deepEqual((await bob.get('/api/transactions')).json, []);
  assert.deepEqual((await alice.get('/api/tasks')).json.length, 1);
  assertError(await alice.post(`/api/tasks/${task.id}/undo`), { status: 404, code: 'NOT_FOUND' });
  const undone = await bob.post(`/api/tasks/${task.id}/undo`);
  assert.deepEqual(undone.json, { undone: 3, kept: [] });
  assert.equal((await alice.get(`/api/budgets/${id}`)).json.spentMinor, 0);
  assert.equal((await alice.get(`/api/budgets/${secret.id}`)).json.spentMinor, 8_020);
  const last = await importInto(bob, id, month);
  await bob.delete(`/api/budgets/${id}/members/${member}`);
  const late = await bob.post(`/api/tasks/${last.id}/undo`);
  assert.deepEqual([late.status, late.json.undone], [200, 0]);
  assert.equal((await alice.get(`/api/budgets/${id}`)).json.spentMinor, 8_020);
  assertError(await send(bob, id, month), { status: 404, code: 'NOT_FOUND' });
});
