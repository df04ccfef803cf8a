import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { testFolder } from '#kit/testing/folder.ts';
import { password, startBudgets } from './testing.ts';

const program = fileURLToPath(new URL('../../bin/budget-manager.js', import.meta.url));
const service = await startBudgets();
after(() => service[Symbol.asyncDispose]());
const alice = await service.person('alice');
const folder = testFolder('budget-manager');
const environment = {
  ...process.env,
  XDG_CONFIG_HOME: folder,
  BUDGET_MANAGER_URL: service.url,
  BUDGET_MANAGER_TOKEN: alice.token,
};

interface Result {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], env: object = {}): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>();
  const options = { env: { ...environment, ...env } as NodeJS.ProcessEnv };
  execFile(process.execPath, [program, ...args], options, (error, stdout, stderr) => {
    resolve({ status: error ? Number(error.code) : 0, stdout, stderr });
  });
  return promise;
}

async function output(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(args);
  assert.equal(status, 0, stderr);
  return stdout;
}

test('seeding again makes nothing twice', async () => {
  const args = ['seed', '--budgets', '3', '--expenses', '12'];
  assert.equal(await output(...args), 'Seeded 3 budgets, 12 expenses\n');
  assert.equal(await output(...args), 'Seeded 3 budgets, 12 expenses\n');
  const count = async (path: string) => (await alice.get(path)).headers.get('x-total-count');
  assert.deepEqual([await count('/api/budgets'), await count('/api/expenses')], ['3', '12']);
  await alice.create('/api/budgets', { name: 'My own', limit: 1 });
  assert.equal(await output(...args, '--reset'), 'Seeded 3 budgets, 12 expenses\n');
  assert.deepEqual([await count('/api/budgets'), await count('/api/expenses')], ['4', '12']);
});

test('budgets and expenses are added, listed and found', async () => {
  const added = JSON.parse(await output('add-budget', 'Café & co', '--limit', '250.5', '--json'));
  assert.equal(added.limit, 250.5);
  const table = await output('list-budgets', '--limit', '1');
  const [head, row] = table.trimEnd().split('\n');
  assert.match(head ?? '', /^ID +NAME +LIMIT +SPENT +CURRENCY +CREATED$/);
  assert.match(row ?? '', /Café & co +250\.50 +0\.00 +USD/);
  const objects = (await output('list-budgets', '--all', '--json'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.ok(objects.some(({ id }) => id === added.id));
  await output('add-expense', added.id, 'Flat white', '4.20', '--category', 'coffee', '--date', '2026-03-01');
  assert.match(await output('search-expenses', 'flat'), /2026-03-01 +Flat white +4\.20 +USD +coffee/);
  const { data } = JSON.parse(`{"data":${await output('graphql', '{ budgets(first: 1) { name } }')}}`);
  assert.equal(data.budgets[0].name, 'Café & co');
});

test('a file is imported and exported', async () => {
  const { id } = await alice.create('/api/budgets', { name: 'Imported', limit: 100 });
  const file = join(folder, 'statement.csv');
  writeFileSync(file, 'spentOn,description,amount\n2026-03-02,Ferry,12.00\n2026-03-03,Bus,2.50\n');
  assert.match(await output('import', file, '--budget', id), /2 lines: 2 created, 0 duplicates/);
  assert.match(await output('import', file, '--budget', id), /2 lines: 0 created, 2 duplicates/);
  writeFileSync(file, 'spentOn,description,amount\n2026-03-02,Boat,1\nnever,Bus,2.50\n');
  const { status, stderr } = await run(['import', file, '--budget', id]);
  assert.equal(status, 1);
  assert.match(stderr, /line 3, spentOn/);
  const out = join(folder, 'out.csv');
  await output('export', '--out', out);
  assert.match(readFileSync(out, 'utf8'), /Ferry/);
  assert.match(await output('export', '--format', 'qif'), /Ferry/);
});

test('login saves a token that only its owner can read', async () => {
  const args = ['login', '--email', alice.email, '--password', password];
  assert.equal((await run(args, { BUDGET_MANAGER_TOKEN: '' })).status, 0);
  assert.equal(statSync(join(folder, 'budget-manager/credentials.json')).mode & 0o777, 0o600);
  assert.equal((await run(['list-budgets'], { BUDGET_MANAGER_TOKEN: '' })).status, 0);
});

describe('exit statuses', () => {
  const cases: readonly [number, string[], object?][] = [
    [1, ['add-expense', 'none', 'x', '1']],
    [2, ['nonsense']],
    [2, ['add-budget', 'No limit']],
    [2, ['list-budgets', '--limit', 'many']],
    [2, []],
    [3, ['list-budgets', '--token', 'wrong']],
    [3, ['list-budgets'], { BUDGET_MANAGER_TOKEN: '', XDG_CONFIG_HOME: '/nonexistent' }],
    [4, ['list-budgets', '--url', 'http://127.0.0.1:2']],
    [
      4,
      ['list-budgets', '--url', 'http://127.0.0.1:2', '--quiet'],
      { BUDGET_MANAGER_TOKEN: '', XDG_CONFIG_HOME: '/nonexistent' },
    ],
  ];
  for (const [status, args, env] of cases) {
    test(`${status} for ${args.join(' ') || 'no command'}`, async () => {
      const result = await run(args, env);
      assert.deepEqual([result.status, result.stdout], [status, ''], result.stderr);
      assert.notEqual(result.stderr, '');
    });
  }
});

test('a response that breaks off is 4, and a refusal of GraphQL is told in its words', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('[', () => response.destroy());
  });
  after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const broken = await run(['list-budgets', '--url', url]);
  assert.deepEqual([broken.status, broken.stdout], [4, ''], broken.stderr);
  assert.match(broken.stderr, /connection was lost/);
  const refused = await run(['graphql', '{ me { id } }', '--token', 'wrong']);
  assert.equal(refused.status, 3);
  assert.match(refused.stderr, /valid bearer token/);
});

test('notifications are watched', async () => {
  const child = spawn(process.execPath, [program, 'watch', '--json'], { env: environment });
  after(() => child.kill());
  const lines: string[] = [];
  child.stdout.on('data', (chunk) => lines.push(String(chunk)));
  while (lines.length === 0) {
    await alice.create('/api/budgets', { name: 'Watched', limit: 1 });
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  assert.equal(JSON.parse(lines.join('').split('\n')[0] ?? '').event, 'budget.created');
  child.kill('SIGINT');
  const status = await new Promise((resolve) => child.on('exit', resolve));
  assert.equal(status, 0);
});

test('scripts of completions name every command', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const script = await output('completion', shell);
    for (const name of ['list-budgets', 'add-expense', 'watch']) assert.ok(script.includes(name));
  }
});
