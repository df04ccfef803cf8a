import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { freePort, testFolder } from '@octavo/testing';
import { startSmtpSink, testDatabaseUrl } from '@octavo/testing/engines';
import { startProcess, stopProcess } from '../apps/octavo/testing.ts';
import { budgets } from './rolling-upgrade/budgets.ts';
import { chat } from './rolling-upgrade/chat.ts';
import { unpackLastRelease } from './rolling-upgrade/last-release.ts';
import { passwordless } from './rolling-upgrade/passwordless.ts';
import { polls } from './rolling-upgrade/polls.ts';
import { portfolio } from './rolling-upgrade/portfolio.ts';
import { posts } from './rolling-upgrade/posts.ts';
import { quotes } from './rolling-upgrade/quotes.ts';
import { password } from './rolling-upgrade/requests.ts';
import { Traffic, type Workload } from './rolling-upgrade/traffic.ts';

/** `LONG_TESTS=1` upgrades every service, and goes through more rounds. */
const isLong = Boolean(process.env.LONG_TESTS);
const rounds = isLong ? 20 : 3;

const root = join(import.meta.dirname, '..');
const sink = await startSmtpSink();
after(() => sink[Symbol.asyncDispose]());
const every = [polls, quotes, budgets, passwordless(sink), posts, chat, portfolio];
const quick = ['polls', 'budgets'];
const last = unpackLastRelease();
const database = await testDatabaseUrl();
/** The last release is in another folder each time, and would fill the cache of this one. */
const ofLastRelease = { NODE_COMPILE_CACHE: testFolder('compiled') };

describe('an upgrade without a stop', { skip: last.skip || database.skip }, () => {
  for (const workload of every) {
    const skip = !isLong && !quick.includes(workload.service) && 'LONG_TESTS is not set';
    test(`of ${workload.service}`, { skip }, async () => {
      const { url: databaseUrl } = await testDatabaseUrl();
      await upgrade(workload, { old: last.root ?? '', databaseUrl: databaseUrl ?? '' });
    });
  }

  test('of gateway, posts and authz apart', { skip: !isLong && 'LONG_TESTS is not set' }, async () => {
    const { url: databaseUrl } = await testDatabaseUrl();
    await upgradeApart({ old: last.root ?? '', databaseUrl: databaseUrl ?? '' });
  });
});

interface Upgrade {
  /** The folder of the last release. */
  readonly old: string;
  readonly databaseUrl: string;
}

function environmentOf({ service, environment }: Workload, { databaseUrl }: Upgrade) {
  return {
    NODE_ENV: 'test',
    LOG_LEVEL: 'error',
    OCTAVO_DATA: testFolder(service),
    DATABASE_URL: databaseUrl,
    ADMIN_PASSWORD: password,
    ARGON2_MEMORY_KIB: '1024',
    ARGON2_PASSES: '1',
    ...environment,
  };
}

async function upgrade(workload: Workload, at: Upgrade): Promise<void> {
  const { service, commands = [] } = workload;
  for (const command of commands) octavo(at.old, command, environmentOf(workload, at));
  await using stack = new AsyncDisposableStack();
  const start = (program = root) =>
    startReplica(stack, service, { program, environment: environmentOf(workload, at) });
  const before = await start(at.old);
  const traffic = stack.use(new Traffic(await workload.begin(before.url), before.url));
  await traffic.rounds(rounds);
  const next = await start();
  await traffic.use(before.url, next.url);
  await traffic.rounds(rounds * 3);
  await traffic.use(next.url, next.url);
  await stopProcess(before.child);
  await traffic.rounds(rounds);
  await traffic[Symbol.asyncDispose]();
  assert.deepEqual(traffic.failures, []);
  if (isLong) refusesToStart(at.old, { service, environment: environmentOf(workload, at) });
}

/** First the backends, each beside the old one, and then the gateway: during this, every gateway calls backends of both releases. */
async function upgradeApart(at: Upgrade): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const ports = { posts: [await freePort(), await freePort()], authz: [await freePort(), await freePort()] };
  const addressesOf = (name: keyof typeof ports) => ports[name].map((port) => `127.0.0.1:${port}`).join();
  const environment = {
    ...environmentOf(posts, at),
    RPC_TOKEN: 'the token of all processes, long enough',
    POSTSVC_ADDR: addressesOf('posts'),
    AUTHSVC_ADDR: addressesOf('authz'),
  };
  const start = (name: string, program: string, port = 0) =>
    startReplica(stack, name, {
      program,
      environment: { ...environment, OCTAVO_DATA: testFolder(name) },
      port,
    });
  const oldBackends = [
    await start('posts', at.old, ports.posts[0]),
    await start('authz', at.old, ports.authz[0]),
  ];
  const before = await start('gateway', at.old);
  const traffic = stack.use(new Traffic(await posts.begin(before.url), before.url));
  await traffic.rounds(rounds);
  for (const name of ['posts', 'authz'] as const) {
    await start(name, root, ports[name][1]);
    await traffic.rounds(rounds);
  }
  const next = await start('gateway', root);
  await traffic.use(before.url, next.url);
  await traffic.rounds(rounds);
  for (const { child } of oldBackends) {
    await stopProcess(child);
    await traffic.rounds(rounds);
  }
  await traffic.use(next.url, next.url);
  await stopProcess(before.child);
  await traffic.rounds(rounds);
  await traffic[Symbol.asyncDispose]();
  assert.deepEqual(traffic.failures, []);
}

/** Starts a process of a release, by its folder; it ends with the stack. */
async function startReplica(
  stack: AsyncDisposableStack,
  name: string,
  { program, environment, port }: { program: string; environment: Record<string, string>; port?: number },
) {
  const compiled = program === root ? {} : ofLastRelease;
  const replica = await startProcess(name, { ...environment, ...compiled }, port, program);
  stack.defer(() => stopProcess(replica.child, 'SIGKILL'));
  return replica;
}

test('a downgrade is refused in words, and goes by the backup of the older release', {
  skip: last.skip,
}, () => {
  const old = last.root ?? '';
  const environment = { OCTAVO_DATA: testFolder('downgrade'), ADMIN_PASSWORD: password, LOG_LEVEL: 'error' };
  const file = join(environment.OCTAVO_DATA, 'polls.sqlite');
  const backup = join(testFolder('downgrade'), 'backup');
  octavo(old, ['admin', 'create', 'polls', 'alice'], environment);
  const before = newestSchema(file);
  octavo(old, ['backup', backup], environment);
  octavo(root, ['migrate', 'polls'], environment);
  assert.ok(newestSchema(file) > before);
  refusesToStart(old, { service: 'polls', environment });
  addFutureMigration(file);
  const { stderr } = refusesToStart(root, { service: 'polls', environment });
  assert.match(stderr, /\(future\), newer than this program's \d+ \(Octavo \d[^)]+\)/);
  assert.match(stderr, /restore a backup that this release can read \(octavo restore --force FILE\)/);
  octavo(old, ['restore', '--force', backup], environment);
  assert.equal(newestSchema(file), before);
  using restored = new DatabaseSync(file, { readOnly: true });
  assert.deepEqual(
    restored
      .prepare('SELECT username FROM auth_user')
      .all()
      .map(({ username }) => username),
    ['alice'],
  );
});

function addFutureMigration(file: string): void {
  using database = new DatabaseSync(file);
  database.exec("INSERT INTO schema_migration VALUES (99, 'future', 'x', 0)");
}

function newestSchema(file: string): number {
  using database = new DatabaseSync(file, { readOnly: true });
  return Number(
    database.prepare('SELECT max(version) AS newest FROM schema_migration WHERE version < 10000').get()
      ?.newest,
  );
}

/** A program that does not know the schema says so in place of serving. */
function refusesToStart(
  program: string,
  { service, environment }: { service: string; environment: Record<string, string> },
) {
  const done = octavo(program, ['serve', service, '--port', '0'], environment, false);
  assert.notEqual(done.status, 0);
  assert.match(done.stderr, /the database is at schema version \d+ \(\w+\), newer than this program's \d+/);
  return done;
}

function octavo(program: string, args: readonly string[], env: Record<string, string>, mustSucceed = true) {
  const entry = join(program, 'apps/octavo/octavo.js');
  const compiled = program === root ? {} : ofLastRelease;
  const all = { PATH: process.env.PATH, ...compiled, ...env };
  const done = spawnSync(process.execPath, [entry, ...args], {
    env: all,
    encoding: 'utf8',
    timeout: 180_000,
  });
  if (mustSucceed) assert.equal(done.status, 0, done.stderr);
  return done;
}
