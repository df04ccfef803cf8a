import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { testFolder } from '@octavo/testing';
import { password, startBudgets } from './testing.ts';
import { share, verifiedPerson } from './testing-sharing.ts';

const program = fileURLToPath(new URL('../../apps/budget-manager/budget-manager.js', import.meta.url));
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

test('a budget that is shared is listed, and takes expenses of an editor alone', async () => {
  const owner = await service.person('olga');
  const as = ({ token }: { token: string }) => ({ BUDGET_MANAGER_TOKEN: token });
  const seedArgs = ['seed', '--budgets', '1', '--expenses', '0'];
  await run(seedArgs, as(owner));
  const [{ id, name }] = (await owner.get('/api/budgets')).json;
  const [bob, vera] = [await verifiedPerson(service, 'bob'), await verifiedPerson(service, 'vera')];
  await share(owner, id, { person: bob, role: 'editor' });
  await share(owner, id, { person: vera, role: 'viewer' });
  // The demo data of a member are its own, and those of the owner stay.
  assert.equal((await run([...seedArgs, '--reset'], as(bob))).status, 0);
  const { stdout } = await run(['list-budgets', '--json'], as(bob));
  const listed = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    listed.map((one) => [one.name, one.role]),
    [
      [name, 'owner'],
      [name, 'editor'],
    ],
  );
  const add = (person: { token: string }) => run(['add-expense', id, 'Tea', '2'], as(person));
  const outcomes = [await add(bob), await add(vera), await add(alice)];
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    [0, 1, 1],
  );
  assert.equal((await owner.get(`/api/budgets/${id}`)).json.spentMinor, 200);
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
    [1, ['add-expense', 'no-such-budget', 'x', '1']],
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
    await setTimeout(200);
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

async function listening(server: Server): Promise<string> {
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('a time limit counts silence, never the whole of a body', { concurrency: true }, async () => {
  const url = await listening(
    createServer(async (request, response) => {
      response.write('one\n');
      if (request.url?.includes('from=')) return;
      for (let line = 0; line < 5; line++) {
        await setTimeout(700);
        response.write('more\n');
      }
      response.end();
    }),
  );
  const args = ['export', '--url', url, '--timeout', '3'];
  const [slow, silent] = await Promise.all([run(args), run([...args, '--from', '2026-01-01'])]);
  assert.deepEqual([slow.status, slow.stdout], [0, `one\n${'more\n'.repeat(5)}`], slow.stderr);
  assert.equal(silent.status, 4);
  assert.match(silent.stderr, /nothing came for 3 s/);
  assert.doesNotMatch(silent.stderr, /\n {4}at /);
});

test('a standard output that is full is named, and no crash', {
  skip: !existsSync('/dev/full'),
}, async () => {
  const full = openSync('/dev/full', 'w');
  after(() => closeSync(full));
  const octavo = fileURLToPath(new URL('../../apps/octavo/octavo.js', import.meta.url));
  for (const [status, ...args] of [
    [1, program, 'list-budgets'],
    [1, program, 'export'],
    [74, octavo, '--version'],
  ] as const) {
    const stdio = ['ignore', full, 'pipe'] as const;
    const child = spawn(process.execPath, args, { env: environment, stdio: [...stdio] });
    const [stderr, [exit]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')]);
    assert.equal(exit, status, stderr);
    assert.match(stderr, /no space left on device/);
    assert.doesNotMatch(stderr, /\n {4}at /);
  }
});

test('expenses are listed, standard input is imported, and nothing controls the terminal', async () => {
  const { id } = await alice.create('/api/budgets', { name: 'Evil', limit: 9 });
  const evil = 'a\u001b[2Jb\u202ec\u009bd';
  await alice.create('/api/expenses', { budgetId: id, description: evil, amount: 1, spentOn: '2026-03-01' });
  const listed = await output('list-expenses', '--budget', id);
  assert.match(listed, /2026-03-01 +a \[2Jb c d +1\.00 +USD/);
  const json = await output('list-expenses', '--budget', id, '--json');
  assert.ok(!/\p{Cc}(?!$)|\u202e/u.test(json));
  assert.equal(JSON.parse(json).description, evil);
  const child = spawn(process.execPath, [program, 'import', '-', '--budget', id, '--format', 'csv'], {
    env: environment,
  });
  child.stdin.end('spentOn,description,amount\n2026-03-02,Standard input,12.34\n');
  assert.match(await text(child.stdout), /1 lines: 1 created/);
  assert.equal(
    await output('list-expenses', '--budget', id, '--from', '2026-03-03'),
    await output('list-expenses', '--budget', id, '--to', '2020-01-01'),
  );
});

test('whoami, logout and --version', async () => {
  const bob = await service.person('bob');
  const saved = { BUDGET_MANAGER_TOKEN: '' };
  const signIn = ['login', '--email', bob.email, '--password', password];
  assert.equal((await run(signIn, saved)).status, 0);
  assert.equal((await run(['whoami'], saved)).stdout, `${bob.email}\n`);
  assert.equal((await run(['logout'], saved)).status, 0);
  assert.equal((await run(['whoami'], saved)).status, 3);
  assert.match(await output('--version'), /^budget-manager \d+\.\d+/);
});
