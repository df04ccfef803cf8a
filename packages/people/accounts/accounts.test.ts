import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { FakeClock, readConfig } from '@octavo/core';
import { createLog, silentLog } from '@octavo/core/log';
import { type Database, openDatabase } from '@octavo/data';
import { testFolder } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import {
  type Accounts,
  type AccountTables,
  accountMigrations,
  accountSettings,
  openAccounts,
} from './index.ts';

const postgres = await testDatabaseUrl();
const config = readConfig(accountSettings, { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' });
const visitor = { address: '192.0.2.1', userAgent: 'test' };
const right = 'correct horse battery';
const alice = { username: 'Alice', password: right };
const minute = 60_000;

describe('accounts on SQLite', () => cases(undefined));
describe('accounts on PostgreSQL', { skip: postgres.skip }, () => cases(postgres.url));

function cases(url: string | undefined): void {
  test('a user is found without regard to case, and the name stays as typed', async () => {
    const { accounts } = await open();
    const created = await accounts.create({ ...alice, email: 'Alice@Example.com' });
    assert.equal(created.username, 'Alice');
    assert.equal(created.email, 'alice@example.com');
    assert.deepEqual(await accounts.byUsername('aLICE'), created);
    assert.deepEqual(await accounts.byId(created.id), created);
    assert.equal(await accounts.byId(2 ** 40), undefined);
    assert.equal(await accounts.byUsername('a\0'), undefined);
  });

  test('names and passwords follow rules that the error names', async () => {
    const { accounts } = await open();
    await accounts.create(alice);
    const refused: [object, object][] = [
      [{ username: '' }, { code: 'validation_failed', fields: { username: 'is required' } }],
      [{ username: '\u3164' }, { fields: { username: 'must be letters, digits and @ . + - _ only' } }],
      [{ username: 'a b' }, { fields: { username: 'must be letters, digits and @ . + - _ only' } }],
      [{ username: 'x'.repeat(151) }, { fields: { username: 'must be at most 150 characters' } }],
      [{ username: 'bob', email: 'nobody' }, { fields: { email: 'must be an e-mail address' } }],
      [{ username: 'ALICE' }, { code: 'conflict', reason: 'USERNAME_TAKEN' }],
      [{ username: 'bob', password: 'short' }, { reason: 'WEAK_PASSWORD' }],
      [{ username: 'bob', password: '12345678' }, { reason: 'WEAK_PASSWORD' }],
      [{ username: 'bob', password: 'password1' }, { reason: 'WEAK_PASSWORD' }],
      [
        { username: 'roberta', password: 'Roberta1992' },
        { message: 'The password must not contain the username.' },
      ],
      [{ username: 'bob', password: 'fixture123!' }, { message: 'The password must not contain "fixture".' }],
    ];
    for (const [given, error] of refused)
      await assert.rejects(accounts.create({ ...alice, ...given }), error);
  });

  test('of several who want the same name at once, one gets it', async () => {
    const { accounts } = await open();
    const tries = ['bob', 'Bob', 'BOB', 'boB'].map((username) => accounts.create({ ...alice, username }));
    const settled = await Promise.allSettled(tries);
    assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const result of settled)
      if (result.status === 'rejected') assert.equal(result.reason.reason, 'USERNAME_TAKEN');
  });

  test('signs in, and gives one error for an unknown name, a wrong password, an inactive user and no staff', async () => {
    const { accounts, clock } = await open();
    const user = await accounts.create(alice);
    await accounts.create({ ...alice, username: 'gone', isActive: false });
    assert.deepEqual(await accounts.signIn({ ...alice, username: 'ALICE' }), {
      ...user,
      lastSignInAtMs: clock.now(),
    });
    const wrong = { code: 'unauthenticated', message: 'The username or the password is wrong.' };
    await assert.rejects(accounts.signIn({ username: 'alice', password: 'wrong' }), wrong);
    await assert.rejects(accounts.signIn({ username: 'nobody', password: right }), wrong);
    await assert.rejects(accounts.signIn({ username: 'gone', password: right }), wrong);
    await assert.rejects(
      accounts.signIn(alice, ({ isStaff }) => isStaff),
      wrong,
    );
  });

  test('a session notes when its user signed in, also without a password', async () => {
    const { accounts, clock } = await open();
    const { id } = await accounts.create(alice);
    assert.equal((await accounts.byId(id))?.lastSignInAtMs, undefined);
    clock.advance(1_000);
    await accounts.sessions.start({ id }, visitor);
    assert.equal((await accounts.byId(id))?.lastSignInAtMs, clock.now());
  });

  test('sign-ins are logged by their outcome and their user, without names and passwords', async () => {
    const lines: string[] = [];
    const log = createLog({ service: 'test', destination: { write: (line) => lines.push(line) } });
    const { accounts } = await open(log);
    const { id } = await accounts.create(alice);
    await accounts.signIn(alice);
    for (let failure = 1; failure <= 6; failure++)
      await assert.rejects(accounts.signIn({ ...alice, password: 'wrong' }));
    const events = lines.map((line) => JSON.parse(line)).filter(({ event }) => event);
    assert.deepEqual(
      events.map(({ level, event, userId }) => [level, event, userId]),
      [
        ['info', 'authn_login_success', id],
        ...Array.from({ length: 5 }, () => ['info', 'authn_login_fail', undefined]),
        ['warn', 'authn_login_lock', undefined],
      ],
    );
    assert.doesNotMatch(lines.join(''), /alice|wrong|correct/i);
  });

  test('the fifth failure locks for 15 minutes, whether or not there is such a user', async () => {
    for (const username of ['alice', 'nobody']) {
      const { accounts, clock } = await open();
      await accounts.create(alice);
      for (let failure = 1; failure <= 5; failure++) {
        await assert.rejects(accounts.signIn({ username, password: 'wrong' }), { code: 'unauthenticated' });
        clock.advance(1_000);
      }
      const locked = { code: 'rate_limited', reason: 'ACCOUNT_LOCKED', retryAfterSeconds: 899 };
      await assert.rejects(accounts.signIn({ username: username.toUpperCase(), password: right }), locked);
      clock.advance(15 * minute - 1_001);
      await assert.rejects(accounts.signIn({ username, password: right }), { retryAfterSeconds: 1 });
      clock.advance(1);
      if (username === 'alice') await accounts.signIn(alice);
      else await assert.rejects(accounts.signIn({ username, password: right }), { code: 'unauthenticated' });
    }
  });

  test('a right password forgets failures, and so do 15 minutes without one', async () => {
    const { accounts, clock } = await open();
    await accounts.create(alice);
    const fail = () =>
      assert.rejects(accounts.signIn({ ...alice, password: 'x' }), { code: 'unauthenticated' });
    for (let failure = 1; failure <= 4; failure++) await fail();
    await accounts.signIn(alice);
    for (let failure = 1; failure <= 4; failure++) await fail();
    clock.advance(15 * minute);
    for (let failure = 1; failure <= 4; failure++) await fail();
    await accounts.signIn(alice);
  });

  test('guesses at once, here and in another replica, get no more than five tries; right ones all succeed', async () => {
    const { accounts, reopen } = await open();
    await accounts.create(alice);
    const other = await reopen();
    await Promise.all(Array.from({ length: 20 }, () => accounts.signIn(alice)));
    const guesses = Array.from({ length: 40 }, (_, index) =>
      (index % 2 ? accounts : other).signIn({ username: 'alice', password: `guess ${index}` }),
    );
    const codes = (await Promise.allSettled(guesses)).map(
      (each) => (each as PromiseRejectedResult).reason.code,
    );
    assert.equal(codes.filter((code) => code === 'unauthenticated').length, 5);
    assert.equal(codes.filter((code) => code === 'rate_limited').length, 35);
  });

  test('a session lasts until its end, its user or its idle time does', async () => {
    const { accounts, database, clock } = await open();
    const user = await accounts.create(alice);
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map(() => accounts.sessions.start(user, visitor)),
    );
    assert.equal((await accounts.sessions.userOf(first as string))?.id, user.id);
    assert.equal(await accounts.sessions.userOf('unknown'), undefined);
    await accounts.sessions.end(first as string);
    assert.equal(await accounts.sessions.userOf(first as string), undefined);
    clock.advance(2 * 24 * 60 * minute);
    assert.ok(await accounts.sessions.userOf(second as string));
    clock.advance(2 * 24 * 60 * minute);
    assert.ok(await accounts.sessions.userOf(second as string));
    assert.equal(await accounts.sessions.userOf(third as string), undefined);
    await database.kysely.updateTable('auth_user').set({ is_active: 0 }).execute();
    assert.equal(await accounts.sessions.userOf(second as string), undefined);
    clock.advance(30 * 24 * 60 * minute);
    await accounts.sweep();
    assert.deepEqual(await database.kysely.selectFrom('auth_session').selectAll().execute(), []);
  });

  test('a changed password ends the other sessions; wrong current ones lock only the change', async () => {
    const { accounts } = await open();
    const user = await accounts.create(alice);
    const [here, there] = await Promise.all([1, 2].map(() => accounts.sessions.start(user, visitor)));
    const change = (currentPassword: string, newPassword: string) =>
      accounts.changePassword(user, { currentPassword, newPassword }, here);
    await assert.rejects(change(right, right), { reason: 'WEAK_PASSWORD' });
    await assert.rejects(change(right, 'short'), { reason: 'WEAK_PASSWORD' });
    await change(right, 'another fine phrase');
    assert.ok(await accounts.sessions.userOf(here as string));
    assert.equal(await accounts.sessions.userOf(there as string), undefined);
    for (let failure = 1; failure <= 5; failure++)
      await assert.rejects(change('wrong', 'a third fine phrase'), { reason: 'WRONG_PASSWORD' });
    await assert.rejects(change('another fine phrase', 'a third fine phrase'), { code: 'rate_limited' });
    await accounts.signIn({ ...alice, password: 'another fine phrase' });
  });

  test('the link for the first administrator works once, for an hour, while there is none', async () => {
    const { accounts, clock } = await open();
    const token = (await accounts.createSetupToken()) as string;
    await assert.rejects(accounts.setUp('unknown', alice), { code: 'not_found' });
    clock.advance(60 * minute);
    await assert.rejects(accounts.setUp(token, alice), { code: 'not_found' });
    const tokens = [
      (await accounts.createSetupToken()) as string,
      (await accounts.createSetupToken()) as string,
    ];
    await assert.rejects(accounts.setUp(tokens[0] as string, { ...alice, password: 'x' }), {
      reason: 'WEAK_PASSWORD',
    });
    const made = await Promise.allSettled(
      ['alice', 'bob', 'charlie'].map((username, index) =>
        accounts.setUp(tokens[index % 2] as string, { ...alice, username }),
      ),
    );
    assert.equal(made.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal(await accounts.isSetupToken(tokens[1] as string), false);
    assert.equal(await accounts.createSetupToken(), undefined);
  });

  test('staff may what their groups may, administrators everything, others nothing', async () => {
    const { accounts, database } = await open();
    const editor = await accounts.create({ ...alice, isStaff: true });
    const administrator = await accounts.create({
      ...alice,
      username: 'root',
      isStaff: true,
      isSuperuser: true,
    });
    const reader = await accounts.create({ ...alice, username: 'reader', isSuperuser: true });
    await database.kysely.insertInto('auth_group').values({ id: 7, name: 'Editors' }).execute();
    await database.kysely.insertInto('auth_membership').values({ group_id: 7, user_id: editor.id }).execute();
    const permission = { group_id: 7, model: 'polls/question', action: 'change' };
    await database.kysely.insertInto('auth_group_permission').values(permission).execute();
    const may = await accounts.permissionsOf(editor);
    assert.ok(may.may('polls/question', 'change') && may.may('polls/question', 'view'));
    assert.ok(!may.may('polls/question', 'delete') && !may.may('polls/choice', 'view'));
    assert.ok((await accounts.permissionsOf(administrator)).may('any/thing', 'delete'));
    assert.ok(!(await accounts.permissionsOf(reader)).may('polls/question', 'view'));
  });

  test('replicas agree on a secret that is not configured', async () => {
    const { accounts, reopen } = await open();
    const other = await reopen();
    const secrets = await Promise.all([accounts, other, accounts].map((each) => each.secret('cookies')));
    assert.equal(new Set(secrets).size, 1);
    assert.match(secrets[0] as string, /^[\w-]{43}$/);
    assert.notEqual(await accounts.secret('tokens'), secrets[0]);
    assert.equal(await accounts.secret('cookies', 'given'), 'given');
  });

  async function open(log = silentLog) {
    const place = {
      name: `a_${randomBytes(6).toString('hex')}`,
      url,
      folder: testFolder('accounts'),
      migrations: [accountMigrations],
      log: silentLog,
    };
    const clock = new FakeClock();
    const stack = new AsyncDisposableStack();
    after(() => stack.disposeAsync());
    const start = async (): Promise<{ database: Database<AccountTables>; accounts: Accounts }> => {
      const database = stack.use(await openDatabase<AccountTables>(place));
      const words = ['fixture'];
      return {
        database,
        accounts: await openAccounts({ database, config, clock, log, words, stack }),
      };
    };
    return { ...(await start()), clock, reopen: async () => (await start()).accounts };
  }
}
