import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { until } from '@octavo/testing';
import { assertError, finished, type Person, startBudgets } from '../testing.ts';
import { signedInClient } from '../testing-pages.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const begin = async (name: string) => {
  const person = await app.person(name);
  const budget = await person.create('/api/budgets', { name: 'Bank', limit: 100, thresholds: [80] });
  return { person, id: budget.id as string };
};
const send = async (person: Person, budgetId: string, content: string, fields = {}) => {
  const form = new FormData();
  form.append('file', new Blob([content]), 'file');
  for (const [name, value] of Object.entries({ budgetId, ...fields })) form.append(name, String(value));
  const answer = await person.send('/api/import', { method: 'POST', body: form });
  assert.equal(answer.status, 202, answer.text);
  return answer.json as { id: string };
};
const importInto = async (person: Person, budgetId: string, content: string, fields = {}) => {
  const task = await finished(person, await send(person, budgetId, content, fields));
  assert.equal(task.status, 'completed', task.error);
  return task;
};
const undo = (person: Person, { id }: { id: string }, headers = {}) =>
  person.post(`/api/tasks/${id}/undo`, undefined, headers);
const csv = (...rows: string[]) => `spentOn,description,amount\n${rows.join('\n')}\n`;
const month = csv('2026-05-03,Tea,7.20', '2026-05-04,Rent,70', '2026-05-04,Cake,3');
const ofx = (...rows: string[]) => {
  const written = rows.map((row) => {
    const [id, day, amount, name] = row.split(' ');
    return `<STMTTRN><DTPOSTED>${day}<TRNAMT>-${amount}<FITID>${id}<NAME>${name}</STMTTRN>`;
  });
  return `<OFX><BANKACCTFROM><ACCTID>A</BANKACCTFROM><BANKTRANLIST>${written.join('')}</BANKTRANLIST></OFX>`;
};
const expensesOf = async (person: Person) => (await person.get('/api/expenses?sort=spentOn&limit=500')).json;
const counts = ({ result }: { result: Record<string, number> }) => [
  result.created,
  result.duplicates,
  result.matched,
];

test('an import that is undone leaves nothing, and can come again', async () => {
  const { person, id } = await begin('undo');
  const before = (await person.get('/api/budgets')).json;
  const task = await importInto(person, id, month);
  const warnings = async () =>
    (await person.get('/api/notifications')).json.filter(
      ({ type }: { type: string }) => type === 'budget.threshold',
    ).length;
  assert.equal(await warnings(), 1);
  const { status, json } = await undo(person, task);
  assert.deepEqual([status, json], [200, { undone: 3, kept: [] }]);
  assert.deepEqual(await expensesOf(person), []);
  assert.deepEqual((await person.get('/api/budgets')).json, before);
  const ledger: { type: string }[] = (await person.get('/api/transactions')).json;
  assert.equal(ledger.filter(({ type }) => type === 'reversal').length, 3);
  const found = await person.post('/api/search/expenses', { query: 'rent' });
  assert.equal(found.json.total, 0);
  assert.match((await person.get(`/api/tasks/${task.id}`)).json.undoneAt, /^2026/);
  assertError(await undo(person, task), { status: 409, code: 'CONFLICT' });
  assert.deepEqual(counts(await importInto(person, id, month)), [3, 0, 0]);
  // The threshold was armed again.
  assert.equal(await warnings(), 2);
});

test('what was changed or found again stays, and still counts as imported', async () => {
  const { person, id } = await begin('kept');
  const task = await importInto(person, id, month);
  const [tea, rent] = await expensesOf(person);
  await person.put(`/api/expenses/${tea.id}`, { category: 'Food' });
  await importInto(person, id, ofx('1 20260504 70 Rent'));
  const { json } = await undo(person, task);
  assert.deepEqual(json.undone, 1);
  assert.deepEqual(json.kept, [
    { id: tea.id, reason: 'it was changed since' },
    { id: rent.id, reason: 'a later file has it too' },
  ]);
  assert.deepEqual(counts(await importInto(person, id, month)), [1, 2, 0]);
});

test('an id that an import gave to an expense of before goes with it', async () => {
  const { person, id } = await begin('ids');
  await importInto(person, id, month);
  const later = await importInto(person, id, ofx('1 20260504 70 Rent', '2 20260509 9 New'));
  assert.deepEqual(counts(later), [1, 1, 0]);
  assert.deepEqual((await undo(person, later)).json, { undone: 1, kept: [] });
  const ids = (await expensesOf(person)).map(({ externalId }: { externalId: string | null }) => externalId);
  assert.deepEqual(ids, [null, null, null]);
});

test('typed expenses of about the same day are the same as rows, if asked for', async () => {
  const { person, id } = await begin('match');
  const typed = { budgetId: id, description: 'Tea with Ann', amount: 7.2 };
  const near = await person.create('/api/expenses', { ...typed, spentOn: '2026-05-05' });
  await person.create('/api/expenses', { ...typed, spentOn: '2026-04-29' });
  const other = await person.create('/api/budgets', { name: 'Trip', limit: 10, currency: 'EUR' });
  await person.create('/api/expenses', { ...typed, budgetId: other.id, spentOn: '2026-05-03' });
  const file = csv('2026-05-03,TEA HOUSE,7.20', '2026-05-03,TEA HOUSE,7.20');
  const preview = await importInto(person, id, file, { match: 'auto', dryRun: true });
  assert.deepEqual(counts(preview), [1, 0, 1]);
  const expected = { id: near.id, description: 'Tea with Ann', spentOn: '2026-05-05' };
  assert.deepEqual(
    preview.result.preview.map(({ matches }: { matches: unknown }) => matches),
    [expected, null],
  );
  const task = await importInto(person, id, file, { match: 'auto' });
  assert.deepEqual(counts(task), [1, 0, 1]);
  assert.deepEqual(counts(await importInto(person, id, file, { match: 'auto' })), [0, 2, 0]);
  assert.equal((await person.get(`/api/expenses/item/${near.id}`)).json.description, 'Tea with Ann');
  assert.deepEqual((await undo(person, task)).json, { undone: 1, kept: [] });
  // The typed expense is as before.
  assert.deepEqual(counts(await importInto(person, id, file)), [2, 0, 0]);
});

test('rows in several transactions each take another typed expense', async () => {
  const { person, id } = await begin('many');
  for (const spentOn of ['2026-05-03', '2026-05-04'])
    await person.create('/api/expenses', { budgetId: id, description: 'Fee', amount: 1, spentOn });
  const rows = Array.from({ length: 600 }, (_, index) => `2026-05-0${(index % 2) + 3},Row ${index},${index}`);
  const file = csv('2026-05-03,FEE,1', ...rows.slice(2), '2026-05-04,FEE,1');
  const wanted = [598, 0, 2];
  assert.deepEqual(counts(await importInto(person, id, file, { match: 'auto', dryRun: true })), wanted);
  assert.deepEqual(counts(await importInto(person, id, file, { match: 'auto' })), wanted);
});

test('two requests at once undo an import once', async () => {
  const { person, id } = await begin('twice');
  const rows = Array.from({ length: 250 }, (_, index) => `2026-05-03,Row ${index},${index + 1}`);
  const task = await importInto(person, id, csv(...rows));
  const other = { ...person, post: person.post };
  const answers = await Promise.all([undo(person, task), undo(other, task)]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  const { json } = answers.find(({ status }) => status === 200) ?? {};
  assert.deepEqual(json, { undone: 250, kept: [] });
  assert.deepEqual(await expensesOf(person), []);
  assert.equal((await person.get(`/api/budgets/${id}`)).json.spentMinor, 0);
});

test('a request that comes again with its key gets the same result', async () => {
  const { person, id } = await begin('key');
  const task = await importInto(person, id, month);
  const headers = { 'idempotency-key': 'undo-1' };
  const first = await undo(person, task, headers);
  const second = await undo(person, task, headers);
  assert.deepEqual([second.status, second.json], [200, first.json]);
});

test('an import that was canceled can be undone, and one that goes on afterwards adds each row once', async () => {
  const { person, id } = await begin('canceled');
  const rows = Array.from({ length: 4_000 }, (_, index) => `2026-05-03,Row ${index},${index + 1}`);
  const task = await send(person, id, csv(...rows));
  const added = async () =>
    Number((await person.get(`/api/expenses?budgetId=${id}&limit=1`)).headers.get('x-total-count'));
  await until(async () => (await added()) > 0);
  assertError(await undo(person, task), { status: 409, code: 'CONFLICT' });
  await person.put(`/api/tasks/${task.id}`, { status: 'canceled' });
  const before = await added();
  assert.ok(before > 0 && before < rows.length, `${before} rows`);
  const client = await signedInClient(app, person);
  const shown = (await client.open(`/tasks/${task.id}`)).html;
  const said = /canceled\. ([\d,]+) rows that it had added stay\./.exec(shown)?.[1];
  assert.equal(Number(said?.replace(',', '')), before);
  await person.post(`/api/tasks/${task.id}/retry`);
  assert.equal((await finished(person, task)).result.created, rows.length);
  assert.equal(await added(), rows.length);
  assert.deepEqual((await undo(person, task)).json, { undone: rows.length, kept: [] });
  assert.equal(await added(), 0);
});

test('tasks of other people or of other kinds cannot be undone', async () => {
  const { person, id } = await begin('own');
  const task = await importInto(person, id, month);
  assertError(await undo(await app.person('bob'), task), { status: 404, code: 'NOT_FOUND' });
  const report = await person.create('/api/tasks', { type: 'reindex' });
  await finished(person, report);
  assertError(await undo(person, report), { status: 409, code: 'CONFLICT' });
  await person.delete(`/api/budgets/${id}?cascade=true`);
  assert.deepEqual((await undo(person, task)).json, { undone: 0, kept: [] });
});
