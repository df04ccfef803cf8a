import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { systemClock } from '@octavo/core';
import { freePort, PageClient, testFolder, until } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { appCode } from '@octavo/testing/sign-in';
import pg from 'pg';
import { startSystem, upNames } from '../apps/octavo/index.ts';
import { octavo, quick, run } from './command-line.ts';
import { ask, password } from './rolling-upgrade/requests.ts';

const { url: databaseUrl = '', skip } = await testDatabaseUrl();
const { url: restoredUrl = '' } = await testDatabaseUrl();
const folder = testFolder('move');
const settings = {
  ...quick,
  NODE_ENV: 'test',
  OCTAVO_DATA: folder,
  ADMIN_PASSWORD: password,
  DEMO_ADMIN_PASSWORD: password,
};
const admins = ['passwordless', 'polls', 'quotes', 'budgets', 'portfolio'];

describe('a move of everything', { skip }, () => {
  let wanted: Answers;
  let people: People;

  before(async () => {
    for (const args of [
      ['seed', '--count', '200'],
      ...admins.map((name) => ['admin', 'create', name, 'alice']),
    ])
      await done(args);
    mkdirSync(join(folder, 'objects/exports'), { recursive: true });
    writeFileSync(join(folder, 'objects/exports/posts_export_20260101_000000.csv'), 'id\r\n1\r\n');
    await using system = await start({});
    people = await signIn(system.urls);
    wanted = await answersOf(system.urls, people);
    const refused = await octavo(['move', '--to', databaseUrl], settings);
    assert.equal(refused.code, 64);
    assert.match(refused.stderr, /services are running on .*: stop them first/);
  });

  test('is done by a second call where the first was killed, and prints what was compared', async () => {
    const killed = run(['move', '--to', databaseUrl], settings);
    const gone = once(killed, 'exit');
    await until(async () => (await schemasIn(databaseUrl)).includes('passwordless'));
    killed.kill('SIGKILL');
    await gone;
    // The server notices that the connection is gone.
    await until(async () => (await connectionsOf(databaseUrl, 'octavo move')) === 0);
    const moved = await done(['move', '--to', databaseUrl, '--secrets', join(folder, 'secrets.env')]);
    assert.match(moved, /^posts: was there already$/m);
    assert.match(moved, /^portfolio: moved$/m);
    assert.match(moved, /^polls\.vote +16,\d{3} [0-9a-f]{16} same on both sides$/m);
    assert.match(readFileSync(join(folder, 'secrets.env'), 'utf8'), /^JWT_SECRET=[\w-]{43}$/m);
    assert.doesNotMatch(await done(['move', '--to', databaseUrl]), /: moved$/m);
  });

  test('leaves every answer, page, export and sign-in as it was, and so does the way back', async () => {
    const back = testFolder('back');
    {
      await using system = await start({ DATABASE_URL: databaseUrl });
      compare(await answersOf(system.urls, people), wanted);
      const refused = await octavo(['move', '--to', back], {
        ...settings,
        OCTAVO_DATA: testFolder('other'),
        DATABASE_URL: databaseUrl,
      });
      assert.match(refused.stderr, /runs, and is connected to PostgreSQL from/);
    }
    const moved = await done(['move', '--to', back], { DATABASE_URL: databaseUrl });
    assert.match(moved, /objects\/ \(\d+ files\) copied/);
    await using system = await start({ OCTAVO_DATA: back });
    compare(await answersOf(system.urls, people), wanted);
    await signInAgain(system.urls, people);
  });

  test('is refused over other data', async () => {
    await query(databaseUrl, `UPDATE polls.question SET question_text = 'Another one' WHERE id = 1`);
    const refused = await octavo(['move', '--to', databaseUrl], settings);
    assert.equal(refused.code, 64);
    assert.match(refused.stderr, /is not empty: .*--force replaces/);
  });

  test('copies objects to another place, once', async () => {
    const place = testFolder('objects');
    const args = ['move', '--to', databaseUrl, '--force', '--objects', place];
    assert.match(await done(args), /^objects: [1-9]\d* copied/m);
    assert.match(await done(args), /^objects: 0 copied/m);
    assert.equal(
      readFileSync(join(place, 'exports/posts_export_20260101_000000.csv'), 'utf8'),
      'id\r\n1\r\n',
    );
  });

  test('by a backup: SQLite is restored into PostgreSQL', async () => {
    const file = join(testFolder('backup'), 'backup.tar');
    await done(['backup', file]);
    const restored = await done(['restore', file, '--force'], {
      DATABASE_URL: restoredUrl,
      OCTAVO_DATA: folder,
    });
    assert.match(restored, /^quotes +restored$/m);
    const again = await octavo(['restore', file], { ...settings, DATABASE_URL: restoredUrl });
    assert.equal(again.code, 0, again.stderr);
    await using system = await start({ DATABASE_URL: restoredUrl });
    compare(await answersOf(system.urls, people), wanted);
  });

  test('says what is wrong with its target', async () => {
    for (const [to, problem] of [
      ['postgres://127.0.0.1:1/octavo', /cannot be reached/],
      ['mysql://localhost/x', /--to must be an address such as postgres:/],
      [`${databaseUrl}_missing`, /does not exist/],
      [testFolder('files'), /DATABASE_URL is not set/],
    ] as const) {
      const { code, stderr } = await octavo(['move', '--to', to], settings);
      assert.notEqual(code, 0);
      assert.match(stderr, problem);
    }
    assert.match(
      (await octavo(['move', '--to', databaseUrl], { ...settings, OCTAVO_DATA: testFolder('empty') })).stderr,
      /no SQLite database/,
    );
  });
});

/** Fixed ports, because tokens name the address of their service. */
const ports: Record<string, number> = {};
for (const name of upNames()) ports[name] = await freePort();

/** Credentials that were given out before the move, as headers by service. */
type People = Readonly<Record<string, Record<string, string>>>;
type Urls = ReadonlyMap<string, string>;
type Answers = ReadonlyMap<string, string>;

async function start(environment: Record<string, string>) {
  const names = upNames();
  const given = { ...settings, LOG_LEVEL: 'silent', OCTAVO_SSO: 'off', INFERENCE: 'off', ...environment };
  const system = await startSystem(names, { environment: given, ports });
  const urls = new Map((await system.addresses()).map(({ name, url }) => [name, url]));
  return { urls, [Symbol.asyncDispose]: () => system[Symbol.asyncDispose]() };
}

const email = 'carol@example.com';

async function signIn(urls: Urls): Promise<People> {
  const at = (name: string) => urls.get(name) ?? '';
  const login = { body: { username: 'admin', password } };
  const posts = (await ask(at('gateway'), '/api/v1/auth/login', login)).json.data.token;
  const polls = (await ask(at('polls'), '/api/token/', { body: { username: 'alice', password } })).json.token;
  await ask(at('quotes'), '/api/register/', { body: { username: 'carol', password }, is: 201 });
  const quotes = (await ask(at('quotes'), '/api/token/', { body: { username: 'carol', password } })).json
    .access;
  await ask(at('budgets'), '/api/auth/register', { body: { email, password }, is: 201 });
  const budgets = (await ask(at('budgets'), '/api/auth/login', { body: { email, password } })).json.token;
  const headers = { authorization: `Bearer ${budgets}` };
  const budget = { name: 'Fährgeld', limit: 100, period: 'monthly', thresholds: [50] };
  const { id } = (await ask(at('budgets'), '/api/budgets', { body: budget, headers, is: 201 })).json;
  for (const amount of [60, 0.1]) {
    const expense = {
      budgetId: id,
      description: `Ferry 😀 "fog" \\ ${amount}`,
      amount,
      tags: ['sea'],
      category: 'travel',
    };
    await ask(at('budgets'), '/api/expenses', { body: expense, headers, is: 201 });
  }
  const { secret } = (await ask(at('passwordless'), '/totp/enroll', { body: { email } })).json;
  const code = appCode(secret, systemClock);
  const session = (await ask(at('passwordless'), '/totp/verify', { body: { email, code } })).json
    .access_token;
  const staff = new PageClient(at('polls'));
  await staff.open('/admin/login/');
  assert.equal((await staff.send('/admin/login/', { username: 'alice', password })).status, 303);
  const cookie = [...staff.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return {
    gateway: { authorization: `Bearer ${posts}` },
    polls: { authorization: `Token ${polls}` },
    pollsStaff: { cookie },
    quotes: { authorization: `Bearer ${quotes}` },
    budgets: headers,
    passwordless: { authorization: `Bearer ${session}` },
  };
}

/** Old passwords count. */
async function signInAgain(urls: Urls, people: People): Promise<void> {
  const at = (name: string) => urls.get(name) ?? '';
  await ask(at('gateway'), '/api/v1/auth/login', { body: { username: 'admin', password } });
  await ask(at('quotes'), '/api/token/', { body: { username: 'carol', password } });
  await ask(at('budgets'), '/api/auth/login', { body: { email, password } });
  for (const name of admins) {
    const staff = new PageClient(at(name));
    await staff.open('/admin/login/');
    assert.equal((await staff.send('/admin/login/', { username: 'alice', password })).status, 303, name);
  }
  // Numbers go on.
  const title = { body: { title: 'After', body: 'the move' }, headers: people.gateway ?? {}, is: 201 };
  const { json } = await ask(at('gateway'), '/api/v1/posts', title);
  assert.ok(json.data.id > 200);
}

/** Public answers, pages, searches and exports, with the credentials that they need. */
const asked: readonly (readonly [service: string, path: string, as?: string])[] = [
  ['gateway', '/api/v1/posts?pageSize=50&sortBy=title&sortOrder=asc', 'gateway'],
  ['gateway', '/api/v1/posts?search=the&pageSize=20', 'gateway'],
  ['gateway', '/api/v1/posts/7', 'gateway'],
  ['gateway', '/api/v1/posts/analytics', 'gateway'],
  ['gateway', '/api/v1/posts/analytics/daily', 'gateway'],
  ['gateway', '/api/v1/posts/export?format=csv', 'gateway'],
  ['gateway', '/api/v1/posts/export?format=json', 'gateway'],
  ['gateway', '/api/v1/exports/posts_export_20260101_000000.csv', 'gateway'],
  ['gateway', '/'],
  ['polls', '/api/questions/'],
  ['polls', '/api/choices/?limit=50', 'polls'],
  ['polls', '/polls/'],
  ['polls', '/polls/1/results/'],
  ['polls', '/admin/polls/question/', 'pollsStaff'],
  ['quotes', '/api/quotes/?limit=100'],
  ['quotes', '/api/quotes/?search=life'],
  ['quotes', '/api/quotes/today/'],
  ['quotes', '/api/quotes/1/comments/'],
  ['quotes', '/search/?q=love'],
  ['quotes', '/'],
  ['quotes', '/api/likes/', 'quotes'],
  ['budgets', '/api/budgets', 'budgets'],
  ['budgets', '/api/expenses', 'budgets'],
  ['budgets', '/api/transactions', 'budgets'],
  ['budgets', '/api/notifications', 'budgets'],
  ['budgets', '/api/reports/by-category', 'budgets'],
  ['budgets', '/api/export?format=csv', 'budgets'],
  ['passwordless', '/me', 'passwordless'],
  ['passwordless', '/sessions', 'passwordless'],
  ['chat', '/api/documents'],
  ['chat', '/'],
  ['portfolio', '/'],
  ['portfolio', '/api/team'],
];

async function answersOf(urls: Urls, people: People): Promise<Answers> {
  const answers = new Map<string, string>();
  for (const [service, path, as = ''] of asked) {
    const response = await fetch(`${urls.get(service)}${path}`, {
      headers: people[as] ?? {},
      redirect: 'manual',
    });
    const text = `${response.status} ${await response.text()}`;
    if (as !== '')
      assert.ok(response.ok || response.status === 404, `${service} ${path}: ${text.slice(0, 300)}`);
    answers.set(`${service} ${path}`, withoutChance(text));
  }
  return answers;
}

/** Ports, tokens of forms, nonces and ages are others each time. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/(localhost|127\.0\.0\.1):\d+/g, '$1')
    .replaceAll(/(name="(?:csrf|_csrf|token|form)[^"]*" value=")[^"]*/g, '$1')
    .replaceAll(/"timestamp":"[^"]*","duration":\d+/g, '')
    .replaceAll(/nonce="[^"]*"/g, '')
    .replaceAll(/"(?:requestId|last_used_at|lastUsedAt|last_seen_at)":"?[^",}]*"?/g, '')
    .replaceAll(/\d+ (?:second|minute)s? ago/g, 'lately');
}

function compare(found: Answers, wanted: Answers): void {
  const differing = [...wanted].flatMap(([name, text]) => {
    const other = found.get(name) ?? '';
    const at = [...text].findIndex((_, index) => text[index] !== other[index]);
    return text === other
      ? []
      : [{ name, wanted: text.slice(at - 40, at + 60), found: other.slice(at - 40, at + 60) }];
  });
  assert.deepEqual(differing, []);
}

async function done(args: readonly string[], environment: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await octavo(args, { ...settings, ...environment });
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function schemasIn(url: string): Promise<string[]> {
  const rows = await query<{ name: string }>(url, 'SELECT nspname AS name FROM pg_namespace');
  return rows.map(({ name }) => name);
}

async function connectionsOf(url: string, name: string): Promise<number> {
  return (
    await query(
      url,
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = '${name}'`,
    )
  ).length;
}

async function query<T extends object>(url: string, sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(sql)).rows;
  } finally {
    await client.end();
  }
}
