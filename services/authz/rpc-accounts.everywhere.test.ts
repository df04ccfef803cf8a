import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorOf, inTestMode, startAuthz } from './testing.ts';

const alice = { username: 'alice', password: 'correct horse', role: 'editor' };

await inTestMode((world) => {
  test('creates accounts after the demo ones, and lists them', async (context) => {
    const { client, clock } = await startAuthz(context, world);
    const { account } = await client.createAccount(alice);
    const createdAtMs = clock.now();
    assert.deepEqual(account, {
      uid: 4,
      username: 'alice',
      role: 'editor',
      disabled: false,
      createdAtMs,
      totpEnabled: false,
      passwordChangedAtMs: createdAtMs,
      hasPassword: true,
    });
    await client.createAccount({ ...alice, username: 'Bob@example.org', role: 'viewer' });
    const { accounts, total } = await client.listAccounts({});
    assert.equal(total, 5);
    assert.deepEqual(
      accounts.map(({ uid, username, role }) => [uid, username, role]),
      [
        [1, 'admin', 'admin'],
        [2, 'editor', 'editor'],
        [3, 'viewer', 'viewer'],
        [4, 'alice', 'editor'],
        [5, 'Bob@example.org', 'viewer'],
      ],
    );
  });

  test('changes what is given, and nothing else', async (context) => {
    const { client, clock } = await startAuthz(context, world);
    const { account: before } = await client.createAccount(alice);
    const change = async (given: object) =>
      (await client.updateAccount({ username: 'ALICE', ...given })).account;
    assert.deepEqual(await change({}), before);
    assert.deepEqual(await change({ role: 'admin' }), { ...before, role: 'admin' });
    assert.deepEqual(await change({ disabled: true }), { ...before, role: 'admin', disabled: true });
    assert.deepEqual(await change({ disabled: false }), { ...before, role: 'admin' });
    clock.advance(1_000);
    const passwordChangedAtMs = clock.now();
    assert.deepEqual(await change({ password: 'battery staple' }), {
      ...before,
      role: 'admin',
      passwordChangedAtMs,
    });
    const remoteAddress = '192.0.2.1';
    assert.equal((await errorOf(client.login({ ...alice, remoteAddress }))).code, 'unauthenticated');
    await client.login({ username: 'alice', password: 'battery staple', remoteAddress });
  });

  test('a name that is taken, in any case, is a conflict', async (context) => {
    const { client } = await startAuthz(context, world);
    await client.createAccount(alice);
    for (const username of ['alice', 'Alice', 'ADMIN']) {
      const error = await errorOf(client.createAccount({ ...alice, username }));
      assert.deepEqual([error.code, error.fields], ['conflict', { username: 'is already taken' }]);
    }
  });

  test('of accounts created at once, each name is there once and each uid is different', async (context) => {
    const first = await startAuthz(context, world);
    const second = await startAuthz(context, world, { beside: first });
    const attempts = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? first : second).client.createAccount({ ...alice, username: `alice-${index >> 1}` }),
    );
    const results = await Promise.allSettled(attempts);
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 10);
    const { accounts } = await first.client.listAccounts({});
    assert.deepEqual(
      accounts.map(({ uid }) => uid),
      Array.from({ length: 13 }, (_, index) => index + 1),
    );
  });

  test('names what an account cannot be', async (context) => {
    const { client } = await startAuthz(context, world);
    const wrongUsername = 'must be 1 to 128 of A-Z a-z 0-9 . _ @ + -, and start with a letter or a digit';
    const wrongRole = 'must be one of admin, editor, viewer';
    const malformed: [object, Record<string, string>][] = [
      [{ role: 'root' }, { role: wrongRole }],
      [{ role: '' }, { role: wrongRole }],
      [{ password: '' }, { password: 'is required' }],
      [{ password: 'seven77' }, { password: 'must be at least 8 characters' }],
      [{ password: 'password1' }, { password: 'is one of the most common passwords' }],
      [{ password: '23456789' }, { password: 'must not be a sequence such as 12345678' }],
      [{ password: '\u{1f600}'.repeat(1_025) }, { password: 'must be at most 1024 characters' }],
      ...['', ' ', 'al ice', '-alice', '\u0430lice', 'alice\u0000', 'a'.repeat(129)].map(
        (username): [object, Record<string, string>] => [{ username }, { username: wrongUsername }],
      ),
      [
        { username: '', password: '', role: '' },
        { username: wrongUsername, password: 'is required', role: wrongRole },
      ],
    ];
    for (const [part, fields] of malformed) {
      const error = await errorOf(client.createAccount({ ...alice, ...part }));
      assert.deepEqual([error.code, error.fields], ['validation_failed', fields], JSON.stringify(part));
    }
    await client.createAccount(alice);
    const badRole = await errorOf(client.updateAccount({ username: 'alice', role: 'root' }));
    assert.deepEqual([badRole.code, badRole.fields], ['validation_failed', { role: wrongRole }]);
    const badPassword = await errorOf(client.updateAccount({ username: 'alice', password: '' }));
    assert.deepEqual(
      [badPassword.code, badPassword.fields],
      ['validation_failed', { password: 'is required' }],
    );
  });

  test('an account that is not there cannot be changed', async (context) => {
    const { client } = await startAuthz(context, world);
    for (const username of ['nobody', '', 'a\u0000b', 'x'.repeat(1_000)]) {
      assert.equal((await errorOf(client.updateAccount({ username, disabled: true }))).code, 'not_found');
    }
  });
});
