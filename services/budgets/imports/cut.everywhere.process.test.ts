import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProcess, stopProcess } from '@octavo/octavo/testing';
import { sendRequest, testFolder, testMode, until } from '@octavo/testing';
import { finished, type Person, personOf, startBudgets } from '../testing.ts';

const { databaseUrl = '' } = await testMode();
const rows = 9_000;
/** Rows of the same day and amount, so that one is a duplicate only by its position. */
const equals = 40;

const file = [
  'spentOn,description,amount',
  ...Array.from({ length: rows }, (_, index) => {
    const day = String((index % 5) + 1).padStart(2, '0');
    return `2026-01-${day},Row ${index},${(Math.floor(index / equals) % 7) + 1}.00`;
  }),
].join('\n');

const environmentOf = (folder: string) => ({
  NODE_ENV: 'test',
  LOG_LEVEL: 'error',
  OCTAVO_DATA: folder,
  DATABASE_URL: databaseUrl,
  GRPC_PORT: '0',
  ARGON2_MEMORY_KIB: '8',
  ARGON2_PASSES: '1',
  BUDGETS_RATE_LIMIT_PER_MINUTE: '0',
  BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE: '0',
});

for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
  test(`an import that ${signal} cuts off gives what an uncut one gives`, { timeout: 120_000 }, async () => {
    const folder = testFolder('budgets');
    const { url, child } = await startProcess('budgets', environmentOf(folder));
    const person = await register(url);
    const budget = await person.create('/api/budgets', { name: 'Bank', limit: 1_000 });
    // Some are there already, and are duplicates in any run.
    const some = file.split('\n').slice(0, 4).join('\n');
    await finished(person, await upload(person, budget.id, some));
    const task = await upload(person, budget.id, file);
    await committed(person, budget.id, 1_000);
    await stopProcess(child, signal);

    await using app = await startBudgets({ folder, environment: { DATABASE_URL: databaseUrl } });
    // The lease of the killed worker has ended.
    app.clock.set(Date.now() + 60_000);
    const again = personOf(app.send, person);
    const { status, result, attempts } = await finished(again, task);
    assert.equal(status, 'completed');
    assert.equal(attempts, 2);
    const { readAs: _, ...counts } = result;
    assert.deepEqual(counts, {
      total: rows,
      created: rows - 3,
      duplicates: 3,
      matched: 0,
      refunds: 0,
      incomes: 0,
      duplicateLines: [2, 3, 4],
      skipped: [],
      failed: 0,
      errors: [],
    });
    const { json } = await again.get(`/api/budgets/${budget.id}`);
    assert.equal(json.spentMinor, sumOf(file) * 100);
    const list = await again.get(`/api/expenses?budgetId=${budget.id}&limit=1`);
    assert.equal(list.headers.get('x-total-count'), String(rows));
  });
}

test('an undo that SIGKILL cuts off goes on when it is asked for again', { timeout: 120_000 }, async () => {
  const folder = testFolder('budgets');
  const { url, child } = await startProcess('budgets', environmentOf(folder));
  const person = await register(url);
  const budget = await person.create('/api/budgets', { name: 'Bank', limit: 1_000 });
  const task = await upload(person, budget.id, file);
  await finished(person, task);
  const cut = person.post(`/api/tasks/${task.id}/undo`).catch(() => undefined);
  const countOf = async (some: Person) => {
    const { headers } = await some.get(`/api/expenses?budgetId=${budget.id}&limit=1`);
    return Number(headers.get('x-total-count'));
  };
  // Without a pause, since the rest may take no longer.
  while ((await countOf(person)) === rows);
  await stopProcess(child, 'SIGKILL');
  await cut;

  await using app = await startBudgets({ folder, environment: { DATABASE_URL: databaseUrl } });
  app.clock.set(Date.now());
  const again = personOf(app.send, person);
  const left = await countOf(again);
  assert.ok(left > 0 && left < rows, `${left} left`);
  const { status, json } = await again.post(`/api/tasks/${task.id}/undo`);
  assert.deepEqual([status, json], [200, { undone: rows, kept: [] }]);
  assert.equal(await countOf(again), 0);
  const { spentMinor } = (await again.get(`/api/budgets/${budget.id}`)).json;
  assert.equal(spentMinor, 0);
});

/** Sum of a file's expenses. The file is in the budget once, whatever part of it was imported before. */
function sumOf(text: string): number {
  return text
    .split('\n')
    .slice(1)
    .reduce((all, line) => all + Number(line.split(',')[2]), 0);
}

async function register(url: string): Promise<Person> {
  const send = (path: string, options = {}) => sendRequest(`${url}${path}`, options);
  const email = `cut-${crypto.randomUUID()}@example.com`;
  const body = { email, password: 'ferries wait in fog' };
  const { status, text, json } = await send('/api/auth/register', { body });
  assert.equal(status, 201, text);
  return personOf(send, { id: json.user.id, email, token: json.token });
}

async function upload(person: Person, budgetId: string, content: string): Promise<{ id: string }> {
  const form = new FormData();
  form.append('file', new Blob([content]), 'bank.csv');
  form.append('format', 'csv');
  form.append('budgetId', budgetId);
  const { status, text, json } = await person.send('/api/import', { method: 'POST', body: form });
  assert.equal(status, 202, text);
  return json;
}

/** Waits until an import has committed some expenses, and not all. */
async function committed(person: Person, budgetId: string, least: number): Promise<void> {
  await until(async () => {
    const { headers } = await person.get(`/api/expenses?budgetId=${budgetId}&limit=1`);
    const count = Number(headers.get('x-total-count'));
    assert.ok(count < rows, 'the import ended before it could be cut off');
    return count >= least;
  });
}
