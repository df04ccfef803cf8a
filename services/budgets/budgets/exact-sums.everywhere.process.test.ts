import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { decimalText, digitsOf, minorMax } from '@octavo/documents/values';
import { BudgetServiceDefinition } from '@octavo/protocols/budget/v1/budget_service';
import fc from 'fast-check';
import { createChannel, createClient, Metadata } from 'nice-grpc';
import { finished, startBudgets } from '../testing.ts';
import { signedInClient } from '../testing-pages.ts';
import { SocketClient } from '../testing-sockets.ts';

const service = await startBudgets();
const channel = createChannel(`127.0.0.1:${service.grpcPort}`);
after(async () => {
  channel.close();
  await service[Symbol.asyncDispose]();
});
const alice = await service.person('alice');
const today = '2026-03-15';
const authorization = `Bearer ${alice.token}`;

/** A decimal text as JSON shows the number: without zeros at the end. */
const shown = (minor: bigint, currency: string) => {
  const text = decimalText(minor, currency);
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
};

/** The digits of a number in JSON, however many they are. */
const digitsIn = (text: string, name: string) =>
  Array.from(text.matchAll(new RegExp(`"${name}":\\s?"?(-?[\\d.]+)`, 'g')), ([, digits]) => digits);

const graphql = async (query: string) => (await alice.post('/api/graphql', { query })).text;

/** Imports expenses of the given amounts, all of today. */
async function importAll(budgetId: string, amounts: readonly string[]): Promise<void> {
  const lines = amounts.map((amount, index) => `${today},x,${amount},e${index}`);
  const form = new FormData();
  form.append('file', new Blob([['spentOn,description,amount,externalId', ...lines].join('\n')]), 'f.csv');
  form.append('format', 'csv');
  form.append('budgetId', budgetId);
  const answer = await alice.send('/api/import', { method: 'POST', body: form });
  assert.equal(answer.status, 202, answer.text);
  const task = await finished(alice, answer.json);
  assert.deepEqual([task.status, task.result?.created], ['completed', amounts.length]);
}

const amounts = fc.array(
  fc.oneof(
    fc.integer({ min: minorMax - 1_000, max: minorMax }),
    fc.integer({ min: 2 ** 46, max: minorMax }),
    fc.integer({ min: 1, max: 1_000 }),
  ),
  { minLength: 1, maxLength: 24 },
);

test('sums have all their digits, on REST and GraphQL, however large they are', async () => {
  const property = fc.asyncProperty(
    amounts,
    fc.constantFrom('USD', 'JPY', 'KWD', 'CLF'),
    fc.boolean(),
    async (minors, currency, isImport) => {
      const input = { name: 'Large', limit: 1, currency, period: 'monthly', rollover: 'full' };
      const { id } = await alice.create('/api/budgets', input);
      const texts = minors.map((minor) => decimalText(minor, currency));
      if (isImport) await importAll(id, texts);
      else
        for (const amount of texts)
          await alice.create('/api/expenses', { budgetId: id, description: 'x', amount });
      const total = minors.reduce((all, minor) => all + BigInt(minor), 0n);
      const left = 10n ** BigInt(digitsOf(currency)) - total;
      const { text } = await alice.get(`/api/budgets/${id}`);
      assert.deepEqual(
        ['spent', 'spentMinor', 'remaining', 'remainingMinor'].map((name) => digitsIn(text, name)[0]),
        [shown(total, currency), String(total), shown(left, currency), String(left)],
      );
      const summary = (await alice.get(`/api/budgets/${id}/summary`)).text;
      assert.deepEqual(digitsIn(summary, 'amountMinor'), [String(total)]);
      assert.deepEqual(digitsIn(summary, 'amount'), [shown(total, currency)]);
      const next = (await alice.get(`/api/budgets/${id}/summary?period=2026-04`)).text;
      assert.deepEqual(digitsIn(next, 'carriedMinor'), [String(left)]);
      const result = await graphql(`{budget(id:"${id}"){spent remaining now:spent(period:"2026-03")}}`);
      assert.deepEqual(
        ['spent', 'remaining', 'now'].map((name) => digitsIn(result, name)[0]),
        [shown(total, currency), shown(left, currency), shown(total, currency)],
      );
      const listed = (await alice.get('/api/budgets?limit=1')).text;
      assert.deepEqual(digitsIn(listed, 'spentMinor'), [String(total)]);
      assert.equal((await alice.delete(`/api/budgets/${id}?cascade=true`)).status, 200);
    },
  );
  await fc.assert(property, { numRuns: 15 });
});

test('a sum above 2^63 is exact on every edge, and its budget can be deleted', {
  timeout: 180_000,
}, async () => {
  const bob = await service.person('bob');
  const { id } = await bob.create('/api/budgets', { name: 'Vast', limit: 1, thresholds: [] });
  const size = 9_300;
  const most = decimalText(minorMax, 'USD');
  const lines = Array.from({ length: size }, (_, index) => `${today},x,${most},e${index}`);
  const form = new FormData();
  form.append('file', new Blob([['spentOn,description,amount,externalId', ...lines].join('\n')]), 'f.csv');
  form.append('format', 'csv');
  form.append('budgetId', id);
  const queued = (await bob.send('/api/import', { method: 'POST', body: form })).json;
  // A slow machine takes longer than other tasks may.
  const isOpen = async () => /pending|running/.test((await bob.get(`/api/tasks/${queued.id}`)).json.status);
  while (await isOpen()) await delay(50);
  const task = await finished(bob, queued);
  assert.equal(task.result?.created, size);
  const total = BigInt(size) * BigInt(minorMax);
  assert.ok(total > 2n ** 63n);
  const read = async () => digitsIn((await bob.get(`/api/budgets/${id}`)).text, 'spentMinor')[0];
  assert.equal(await read(), String(total));
  const report = (await bob.get('/api/reports/by-month')).text;
  assert.deepEqual(
    [digitsIn(report, 'amountMinor'), digitsIn(report, 'amount')],
    [[String(total)], [shown(total, 'USD')]],
  );
  assert.deepEqual(digitsIn((await bob.get('/api/reports/by-category')).text, 'amountMinor'), [`${total}`]);
  const trend = (await bob.get('/api/reports/trend')).text;
  assert.deepEqual(
    [digitsIn(trend, 'amountMinor'), digitsIn(trend, 'averageMinor')],
    [[`${total}`], [`${total}`]],
  );
  const csv = (await bob.get('/api/reports/by-month?format=csv')).text;
  assert.match(csv, new RegExp(`^2026-03,USD,${shown(total, 'USD')},${total},9300`, 'm'));
  const ofx = (await bob.get('/api/export?format=ofx')).text;
  assert.match(ofx, new RegExp(`<BALAMT>-${decimalText(total, 'USD')}<`));
  const asked = await bob.create('/api/tasks', { type: 'report', report: 'by-month' });
  await finished(bob, asked);
  assert.deepEqual(digitsIn((await bob.get(`/api/tasks/${asked.id}`)).text, 'amountMinor'), [`${total}`]);
  const page = await signedInClient(service, bob);
  const dollars = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' });
  const written = dollars.format(decimalText(total, 'USD') as Intl.StringNumericLiteral);
  for (const path of ['/budgets', `/budgets/${id}`, '/reports'])
    assert.ok((await page.open(path)).html.includes(written), path);
  assert.equal((await bob.delete(`/api/budgets/${id}?cascade=true`)).status, 200);
  assert.equal((await bob.get(`/api/budgets/${id}`)).status, 404);
});

test('a large sum has all its digits over gRPC, WebSockets, subscriptions, notifications, keys and the CLI', async () => {
  const { id } = await alice.create('/api/budgets', {
    name: 'Large',
    limit: '9999999999999.99',
    thresholds: [50],
  });
  const socket = new SocketClient(`${service.url}/ws`, { headers: { authorization } });
  const frames: string[] = [];
  socket.socket.on('message', (data) => frames.push(String(data)));
  await socket.next();
  socket.send({ type: 'resume' });
  const stream = await fetch(`${service.url}/api/graphql`, {
    method: 'POST',
    headers: { authorization, accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ query: `subscription { budgetChanged(id: "${id}") { spent } }` }),
  });
  let streamed = '';
  void (async () => {
    for await (const part of stream.body ?? []) streamed += Buffer.from(part).toString();
  })().catch(() => undefined);
  let total = 0n;
  for (let count = 0; count < 12; count++) {
    total += BigInt(minorMax - count);
    const amount = decimalText(minorMax - count, 'USD');
    await alice.create('/api/expenses', { budgetId: id, description: 'x', amount });
  }
  const exact = shown(total, 'USD');
  const grpc = createClient(BudgetServiceDefinition, channel);
  const { budget } = await grpc.getBudget({ id }, { metadata: Metadata({ authorization }) });
  assert.deepEqual(
    [budget?.spent?.units, budget?.spent?.nanos],
    [Number(total / 100n), Number(total % 100n) * 10_000_000],
  );
  const renamed = { query: `mutation { updateBudget(id: "${id}", input: {name: "Larger"}) { spent } }` };
  for (let attempt = 0; attempt < 2; attempt++) {
    const { text } = await alice.post('/api/graphql', renamed, { 'idempotency-key': 'large-sum' });
    assert.deepEqual(digitsIn(text, 'spent'), [exact]);
  }
  const notifications = (await alice.get('/api/notifications?limit=1')).text;
  assert.deepEqual(
    [digitsIn(notifications, 'spent'), digitsIn(notifications, 'spentMinor')],
    [[exact], [`${total}`]],
  );
  while (!frames.at(-1)?.includes('budget.updated')) await socket.next();
  assert.deepEqual(digitsIn(frames.at(-1) ?? '', 'spentMinor'), [`${total}`]);
  socket.socket.close();
  while (!streamed.includes(exact)) await new Promise((resolve) => setTimeout(resolve, 10));
  await stream.body?.cancel().catch(() => undefined);
  const program = fileURLToPath(new URL('../../../apps/budget-manager/budget-manager.js', import.meta.url));
  const env = { ...process.env, BUDGET_MANAGER_URL: service.url, BUDGET_MANAGER_TOKEN: alice.token };
  const run = (...args: string[]) => promisify(execFile)(process.execPath, [program, ...args], { env });
  assert.match((await run('list-budgets')).stdout, new RegExp(` ${decimalText(total, 'USD')} `));
  assert.deepEqual(digitsIn((await run('list-budgets', '--json')).stdout, 'spent').includes(exact), true);
  assert.match((await run('graphql', `{budget(id:"${id}"){spent}}`)).stdout, new RegExp(`: ${exact}\\b`));
});
