import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Passwords } from '@octavo/core/passwords';
import type { LoginRequest } from '@octavo/protocols/authz/v1/authz';
import { PasswordAttempts } from './accounts/password-attempts.ts';
import { findByUsername } from './store.ts';
import { errorOf, inTestMode, openStore, startAuthz, type TestAuthz, type World } from './testing.ts';

const alice = { username: 'alice', password: 'correct horse' };
const home = '192.0.2.1';

await inTestMode((world) => {
  test('signs in with the right password, in any case of the name', async (context) => {
    const { client } = await startWithAlice(context, world);
    for (const username of ['alice', 'ALICE', 'Alice']) {
      const { account } = await client.login({ ...alice, username, remoteAddress: home });
      assert.deepEqual(
        { ...account, createdAtMs: 0, passwordChangedAtMs: 0 },
        {
          uid: 4,
          username: 'alice',
          role: 'editor',
          disabled: false,
          createdAtMs: 0,
          totpEnabled: false,
          passwordChangedAtMs: 0,
          hasPassword: true,
        },
      );
    }
  });

  test('unknown, wrong and disabled get the same response', async (context) => {
    const { client } = await startWithAlice(context, world);
    await client.createAccount({ username: 'charlie', password: 'correct horse', role: 'viewer' });
    await client.updateAccount({ username: 'charlie', disabled: true });
    const attempts = [
      { username: 'alice', password: 'wrong' },
      { username: 'alice', password: 'Correct horse' },
      { username: 'nobody', password: 'correct horse' },
      { username: 'charlie', password: 'correct horse' },
      { username: 'a\u0000b', password: 'correct horse' },
      { username: '\ud800', password: '\ud800' },
      { username: ' alice', password: 'correct horse' },
      { username: "' OR 1=1 --", password: 'correct horse' },
      { username: '\u212aelvin', password: 'correct horse' },
    ];
    for (const attempt of attempts) {
      const error = await errorOf(client.login({ ...attempt, remoteAddress: home }));
      assert.deepEqual(
        [error.code, error.reason, error.message, error.fields, error.retryAfterSeconds],
        ['unauthenticated', 'INVALID_CREDENTIALS', 'The username or the password is wrong.', {}, undefined],
      );
    }
  });

  test('impossible credentials are named, and do not count', async (context) => {
    const { client } = await startWithAlice(context, world);
    const malformed: [Partial<LoginRequest>, Record<string, string>][] = [
      [{ username: '' }, { username: 'is required' }],
      [{ password: '' }, { password: 'is required' }],
      [
        { username: '', password: '' },
        { username: 'is required', password: 'is required' },
      ],
      [{ username: '\u{1f600}'.repeat(129) }, { username: 'must be at most 128 characters' }],
      [{ password: 'x'.repeat(1_025) }, { password: 'must be at most 1024 characters' }],
      [{ password: 'x'.repeat(1_000_000) }, { password: 'must be at most 1024 characters' }],
    ];
    for (let round = 0; round < 3; round++) {
      for (const [part, fields] of malformed) {
        const error = await errorOf(client.login({ ...alice, remoteAddress: home, ...part }));
        assert.deepEqual([error.code, error.fields], ['validation_failed', fields]);
      }
    }
    const longest = { username: '\u{1f600}'.repeat(128), password: '\u{1f600}'.repeat(1_024) };
    assert.equal((await errorOf(client.login({ ...longest, remoteAddress: home }))).code, 'unauthenticated');
    await client.login({ ...alice, remoteAddress: home });
  });

  test('ten failures in five minutes close the door for that name from that address', async (context) => {
    const { client, clock } = await startWithAlice(context, world);
    const from = (remoteAddress: string, password = 'wrong', username = 'alice') =>
      client.login({ username, password, remoteAddress });
    for (let failure = 0; failure < 10; failure++) {
      assert.equal((await errorOf(from(home))).code, 'unauthenticated');
      clock.advance(1_000);
    }
    const error = await errorOf(from(home, alice.password));
    assert.deepEqual([error.code, error.retryAfterSeconds], ['rate_limited', 290]);
    assert.equal((await errorOf(from(home, alice.password, 'ALICE'))).code, 'rate_limited');
    assert.equal((await errorOf(from('::ffff:192.0.2.1'))).code, 'rate_limited');
    assert.equal((await errorOf(from(home, 'wrong', 'bob'))).code, 'unauthenticated');
    await from('192.0.2.2', alice.password);

    clock.advance(289_999);
    assert.equal((await errorOf(from(home))).retryAfterSeconds, 1);
    clock.advance(1);
    assert.equal((await errorOf(from(home))).code, 'unauthenticated');
    assert.equal((await errorOf(from(home))).code, 'rate_limited');
    clock.advance(1_000);
    await from(home, alice.password);
  });

  test('an unknown name is closed like a known one', async (context) => {
    const { client } = await startAuthz(context, world);
    const attempt = { username: 'nobody', password: 'wrong', remoteAddress: home };
    for (let failure = 0; failure < 10; failure++) await errorOf(client.login(attempt));
    assert.equal((await errorOf(client.login(attempt))).code, 'rate_limited');
  });

  test('a sign-in clears the failures before it', async (context) => {
    const { client } = await startWithAlice(context, world);
    for (let round = 0; round < 3; round++) {
      for (let failure = 0; failure < 9; failure++) {
        const error = await errorOf(client.login({ ...alice, password: 'wrong', remoteAddress: home }));
        assert.equal(error.code, 'unauthenticated');
      }
      await client.login({ ...alice, remoteAddress: home });
    }
  });

  test('parallel guesses at two replicas get ten tries together', async (context) => {
    const first = await startWithAlice(context, world);
    const second = await startAuthz(context, world, { beside: first });
    const guesses = Array.from({ length: 60 }, (_, index) => {
      const { client } = index % 2 ? first : second;
      return errorOf(client.login({ ...alice, password: `guess ${index}`, remoteAddress: home }));
    });
    const codes = Map.groupBy(await Promise.all(guesses), (error) => error.code);
    assert.deepEqual([codes.get('unauthenticated')?.length, codes.get('rate_limited')?.length], [10, 50]);
  });

  test('many sign in with the right password at the same moment', async (context) => {
    const { client } = await startWithAlice(context, world);
    const attempts = Array.from({ length: 40 }, () => client.login({ ...alice, remoteAddress: home }));
    assert.equal((await Promise.all(attempts)).length, 40);
  });

  test('a hash of another cost is replaced at the next sign-in', async (context) => {
    const first = await startWithAlice(context, world);
    const before = await storedHash(first, world);
    const environment = { ARGON2_PASSES: '2' };
    const second = await startAuthz(context, world, { beside: first, environment });
    await errorOf(second.client.login({ ...alice, password: 'wrong', remoteAddress: home }));
    assert.equal(await storedHash(first, world), before);
    await second.client.login({ ...alice, remoteAddress: home });
    assert.match(await storedHash(first, world), /^\$argon2id\$v=19\$m=8,t=2,p=1\$/);
    await second.client.login({ ...alice, remoteAddress: home });
    await errorOf(second.client.login({ ...alice, password: 'wrong', remoteAddress: home }));
  });

  test('attempts that no longer count are swept away', async (context) => {
    const { client, clock, dataFolder } = await startWithAlice(context, world);
    await using database = await openStore(dataFolder, world);
    const passwords = new Passwords();
    const attempts = new PasswordAttempts({ database, passwords, clock });
    const count = async () =>
      (await database.kysely.selectFrom('login_attempt').selectAll().execute()).length;
    for (const username of ['alice', 'bob']) {
      await errorOf(client.login({ username, password: 'wrong', remoteAddress: home }));
      clock.advance(60_000);
    }
    await attempts.sweep();
    assert.equal(await count(), 2);
    clock.advance(3 * 60_000);
    await attempts.sweep();
    assert.equal(await count(), 1);
    clock.advance(60_000);
    await attempts.sweep();
    assert.equal(await count(), 0);
  });

  test('sign-ins are counted, and no password is logged', async (context) => {
    const { client, metrics, logs } = await startWithAlice(context, world);
    await client.login({ ...alice, remoteAddress: home });
    await errorOf(client.login({ ...alice, password: 'wrong one', remoteAddress: home }));
    const text = await metrics.getSingleMetricAsString('authz_logins_total');
    assert.match(text, /\{outcome="ok"\} 1/);
    assert.match(text, /\{outcome="unauthenticated"\} 1/);
    await errorOf(client.login({ username: 'my password', password: 'wrong one', remoteAddress: home }));
    const told = logs.lines.filter(({ msg }) => msg === 'sign-in').map(({ outcome, uid }) => [outcome, uid]);
    assert.deepEqual(told, [
      ['ok', 4],
      ['unauthenticated', undefined],
      ['unauthenticated', undefined],
    ]);
    assert.doesNotMatch(JSON.stringify(logs.lines), /correct horse|wrong one|my password/);
  });
});

async function startWithAlice(...[context, world]: Parameters<typeof startAuthz>): Promise<TestAuthz> {
  const started = await startAuthz(context, world);
  await started.client.createAccount({ ...alice, role: 'editor' });
  return started;
}

async function storedHash({ dataFolder }: TestAuthz, world: World): Promise<string> {
  await using database = await openStore(dataFolder, world);
  const account = await findByUsername(database, 'alice');
  return account?.passwordHash ?? '';
}
