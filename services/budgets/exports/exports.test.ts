import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { assertError, finished, startBudgets } from '../testing.ts';
import { signedInClient } from '../testing-pages.ts';

const app = await startBudgets();
after(() => app[Symbol.asyncDispose]());

const alice = await app.person('alice');
const folder = testFolder('exports');
const { id: budgetId } = await alice.create('/api/budgets', { name: 'Food', limit: 100 });
const other = await alice.create('/api/budgets', { name: 'Café "Olé"', limit: 100, currency: 'EUR' });
const expenses = [
  {
    description: 'Tea, green & "hot"',
    amount: 4.2,
    category: 'Food',
    tags: ['work', 'a;b'],
    spentOn: '2026-01-02',
    notes: 'two\nlines',
  },
  { description: '=SUM(A1)', amount: 1, spentOn: '2026-01-03' },
  {
    description: 'A description that is longer than the 32 characters of OFX',
    amount: '0.10',
    spentOn: '2026-01-04',
  },
  { description: 'Käse <fromage>', amount: 12, spentOn: '2026-01-04', externalId: 'bank & 1' },
];
for (const expense of expenses) await alice.create('/api/expenses', { budgetId, ...expense });
await alice.create('/api/expenses', {
  budgetId: other.id,
  description: 'Paella',
  amount: 20,
  spentOn: '2026-01-05',
});

const file = async (format: string) => {
  const { status, text, headers } = await alice.get(`/api/export?format=${format}`);
  assert.equal(status, 200, text);
  assert.match(
    headers.get('content-disposition') ?? '',
    new RegExp(`^attachment; filename="expenses-2026-03-15\\.${format}"$`),
  );
  const path = join(folder, `expenses.${format}`);
  writeFileSync(path, text);
  return { text, path };
};
const has = (program: string) => spawnSync('which', [program]).status === 0;
const missing = (program: string) => {
  if (has(program)) return false;
  if (process.env.CI === 'true') throw new Error(`${program} is missing`);
  return `${program} is not installed`;
};

test('CSV has our own columns, and no cell that acts as a formula', async () => {
  const { text } = await file('csv');
  assert.deepEqual(text.split('\r\n').slice(0, 3), [
    'spentOn,description,amount,currency,category,tags,notes,externalId,budget,kind',
    '2026-01-02,"Tea, green & ""hot""",4.20,USD,Food,"work;a\\;b","two\nlines",,Food,expense',
    "2026-01-03,'=SUM(A1),1.00,USD,,,,,Food,expense",
  ]);
});

test('JSON is what the API shows, and a range leaves out the rest', async () => {
  const { text } = await file('json');
  assert.equal(JSON.parse(text).length, 5);
  assert.equal(JSON.parse(text)[0].id, (await alice.get('/api/expenses?sort=spentOn')).json[0].id);
  const range = await alice.get('/api/export?format=json&from=2026-01-04&to=2026-01-04');
  assert.equal(range.json.length, 2);
  const empty = await alice.get('/api/export?format=json&from=2027-01-01');
  assert.deepEqual(empty.json, []);
  const { id: other } = await alice.create('/api/budgets', { name: 'Other', limit: 1 });
  const formula = { budgetId: other, description: '=1+1', amount: 1, spentOn: '2030-01-01' };
  await alice.create('/api/expenses', formula);
  for (const format of ['json', 'csv', 'ofx', 'qif']) {
    const { text } = await alice.get(`/api/export?format=${format}&budgetId=${other}`);
    assert.equal(text.match(/1\+1/g)?.length, 1, text);
    assert.doesNotMatch(text, /2026-?01-?0\d/);
  }
  const guarded = await alice.get(`/api/export?budgetId=${other}`);
  assert.match(guarded.text, /,'=1\+1,/);
  const raw = await alice.get(`/api/export?budgetId=${other}&safe=0`);
  assert.match(raw.text, /,=1\+1,/);
  await alice.delete(`/api/budgets/${other}?cascade=true`);
  assertError(await alice.get('/api/export?budgetId=x'), { status: 404, code: 'NOT_FOUND' });
  for (const query of ['format=xls', 'safe=2', 'form=csv', 'from=x', 'from=2026-02-01&to=2026-01-01'])
    assertError(await alice.get(`/api/export?${query}`), { status: 400, code: 'INVALID_INPUT' });
  assertError(await app.send('/api/export'), { status: 401, code: 'UNAUTHORIZED' });
  const bob = await app.person('bob');
  assert.deepEqual((await bob.get('/api/export?format=json')).json, []);
});

test('what is exported adds nothing when it is imported into the same budget', async () => {
  for (const format of ['csv', 'ofx', 'qif']) {
    const { text } = await alice.get(`/api/export?format=${format}&to=2026-01-04`);
    const task = await alice.create('/api/tasks', { type: 'import', format, budgetId, content: text });
    const { result } = await finished(alice, task);
    assert.deepEqual([result.created, result.duplicates, result.failed], [0, 4, 0], format);
  }
});

test('what is exported is the same after an import into another budget', async () => {
  for (const format of ['csv', 'ofx', 'qif']) {
    const { id } = await alice.create('/api/budgets', { name: 'Copy', limit: 1 });
    const { text } = await alice.get(`/api/export?format=${format}&to=2026-01-04`);
    const task = await alice.create('/api/tasks', { type: 'import', format, budgetId: id, content: text });
    assert.equal((await finished(alice, task)).result.created, 4, format);
    const { json } = await alice.get(`/api/expenses/${id}?sort=createdAt`);
    const copies = json.map((each: Record<string, unknown>) => [each.description, each.amount, each.spentOn]);
    assert.deepEqual(
      copies,
      expenses.map(({ description, amount, spentOn }) => [description, Number(amount), spentOn]),
      format,
    );
    if (format === 'csv') assert.deepEqual([json[0].tags, json[0].notes], [['work', 'a;b'], 'two\nlines']);
    await alice.delete(`/api/budgets/${id}?cascade=true`);
  }
});

test('ofxdump reads the OFX file', { skip: missing('ofxdump') }, async () => {
  const { path } = await file('ofx');
  const printed = execFileSync('ofxdump', [path], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  assert.equal(printed.match(/Total money amount:/g)?.length, 5, printed);
  assert.match(printed, /Total money amount: -12\.00/);
  assert.match(printed, /Financial institution's ID for this transaction: bank & 1|bank & 1/);
  assert.match(printed, /Currency: EUR/);
});

test('hledger reads the CSV file, and finds the same sum', { skip: missing('hledger') }, async () => {
  const { path } = await file('csv');
  const rules = join(folder, 'expenses.rules');
  const fields = 'date,description,amount,currency,category,tags,notes,externalid,budget,kind';
  writeFileSync(rules, `skip 1\nfields ${fields}\ndate-format %Y-%m-%d\naccount1 expenses\naccount2 cash\n`);
  const command = ['-f', path, '--rules-file', rules, 'balance', 'expenses'];
  const printed = execFileSync('hledger', command, { encoding: 'utf8' });
  assert.match(printed, /USD17\.30/);
  assert.match(printed, /EUR20\.00/);
});

test('CSV from a page begins with a byte order mark for spreadsheets, and from the API without', async () => {
  const client = await signedInClient(app, alice);
  const page = await client.open('/expenses/export?format=csv');
  assert.deepEqual([page.hasMark, page.html], [true, (await alice.get('/api/export?format=csv')).text]);
  assert.equal((await client.open('/expenses/export?format=json')).hasMark, false);
  const task = await finished(alice, await alice.create('/api/tasks', { type: 'export', format: 'csv' }));
  const file = await client.open(`/tasks/${task.id}/file`);
  const bytes = Buffer.from(file.html).length + 3;
  assert.deepEqual([file.hasMark, file.headers.get('content-length')], [true, String(bytes)]);
  assert.equal(file.html, (await alice.get(`/api/tasks/${task.id}/file`)).text);
});
