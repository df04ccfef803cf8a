import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorMs, until } from '@octavo/testing';
import { assertError, password, startTokens, type TestTokens } from '../testing.ts';

const email = 'alice@example.com';

function guess(service: TestTokens, given: { email?: string; password?: string } = {}) {
  return service.post('/auth/login', { email, password: 'a wrong one', ...given });
}

async function lock(service: TestTokens, address = email): Promise<void> {
  for (let failure = 0; failure < 5; failure++) {
    assertError(await guess(service, { email: address }), 401, 'INVALID_CREDENTIALS');
  }
}

test('the fifth failure locks for 15 minutes, even for the right password', async () => {
  await using service = await startTokens();
  await service.register(email);
  await lock(service);
  const response = await guess(service, { password });
  assertError(response, 423, 'ACCOUNT_LOCKED');
  assert.equal(response.headers.get('retry-after'), '900');
  service.clock.advance(899_999);
  assertError(await guess(service, { password }), 423, 'ACCOUNT_LOCKED');
  service.clock.advance(1);
  await service.login(email);
  assert.ok(service.lines.some(({ event }) => event === 'authn_login_lock'));
});

test('attempts during a lock do not extend it, and the count then starts at zero', async () => {
  await using service = await startTokens();
  await service.register(email);
  await lock(service);
  service.clock.advance(600_000);
  for (let attempt = 0; attempt < 10; attempt++) assertError(await guess(service), 423, 'ACCOUNT_LOCKED');
  service.clock.advance(300_000);
  await lock(service);
  assertError(await guess(service), 423, 'ACCOUNT_LOCKED');
});

test('a success, or 15 minutes without a failure, resets the count', async () => {
  await using service = await startTokens();
  await service.register(email);
  for (let round = 0; round < 3; round++) {
    for (let failure = 0; failure < 4; failure++)
      assertError(await guess(service), 401, 'INVALID_CREDENTIALS');
    if (round === 0) await service.login(email);
    else service.clock.advance(900_000);
  }
  await service.login(email);
});

test('an unknown address locks the same way, so a lock reveals nothing', async () => {
  await using service = await startTokens();
  await lock(service, 'nobody@example.com');
  const unknown = await guess(service, { email: 'nobody@example.com' });
  assertError(unknown, 423, 'ACCOUNT_LOCKED');
  await service.register(email);
  await lock(service);
  assert.equal((await guess(service)).text, unknown.text);
});

test('other spellings of an address give no extra attempts', async () => {
  await using service = await startTokens();
  await service.register(email);
  const spellings = [
    'ALICE@example.com',
    ' alice@example.com',
    'Alice@EXAMPLE.com',
    'alice@example.com ',
    email,
  ];
  for (const spelling of spellings)
    assertError(await guess(service, { email: spelling }), 401, 'INVALID_CREDENTIALS');
  for (const spelling of spellings)
    assertError(await guess(service, { email: spelling }), 423, 'ACCOUNT_LOCKED');
});

test('parallel attempts cannot get around the lock', async () => {
  await using service = await startTokens();
  await service.register(email);
  const responses = await Promise.all(Array.from({ length: 40 }, () => guess(service)));
  assert.equal(responses.filter(({ status }) => status === 401).length, 5);
  assert.equal(responses.filter(({ status }) => status === 423).length, 35);
});

test('many simultaneous sign-ins with the right password lock no user out', async () => {
  await using service = await startTokens();
  await service.register(email);
  const responses = await Promise.all(Array.from({ length: 30 }, () => guess(service, { password })));
  assert.ok(responses.every(({ status }) => status === 200));
});

test('a lock stops sign-in and nothing else', async () => {
  await using service = await startTokens();
  const pair = await service.register(email);
  await service.register('bob@example.com');
  await lock(service);
  assert.equal((await service.get('/auth/me', pair.accessToken)).status, 200);
  assert.equal((await service.post('/auth/refresh', { refreshToken: pair.refreshToken })).status, 200);
  await service.login('bob@example.com');
});

test('a stolen token cannot be used to guess the password, nor to lock the owner out of signing in', async () => {
  await using service = await startTokens();
  const { accessToken } = await service.register(email);
  const confirm = (given: string) =>
    service.call('PUT', '/auth/email', {
      body: { newEmail: 'b@example.com', password: given },
      token: accessToken,
    });
  for (let failure = 0; failure < 5; failure++)
    assertError(await confirm('a wrong one'), 401, 'INVALID_CREDENTIALS');
  assertError(await confirm(password), 423, 'ACCOUNT_LOCKED');
  const deletion = { body: { password }, token: accessToken };
  assertError(await service.call('DELETE', '/auth/account', deletion), 423, 'ACCOUNT_LOCKED');
  await service.login(email);
  service.clock.advance(899_000);
  assertError(await confirm(password), 423, 'ACCOUNT_LOCKED');
  assert.equal((await service.get('/auth/me', accessToken)).status, 200);
});

test('unknown and locked addresses take as long as known ones', async () => {
  await using service = await startTokens({
    environment: {
      ARGON2_MEMORY_KIB: '16384',
      ARGON2_PASSES: '2',
      LOCKOUT_THRESHOLD: '100',
    },
  });
  await service.register(email);
  await using locking = await startTokens({
    environment: { ARGON2_MEMORY_KIB: '16384', ARGON2_PASSES: '2' },
  });
  await lock(locking);
  const fastestMs = {
    known: Number.POSITIVE_INFINITY,
    unknown: Number.POSITIVE_INFINITY,
    locked: Number.POSITIVE_INFINITY,
  };
  const time = async (way: keyof typeof fastestMs, ask: () => Promise<unknown>) => {
    fastestMs[way] = Math.min(fastestMs[way], await processorMs(ask));
  };
  // The least of each, taken in turn: they come close after some rounds, unless one hashes less.
  const isAlike = () =>
    [fastestMs.unknown, fastestMs.locked].every(
      (ms) => ms > fastestMs.known / 1.5 && ms < fastestMs.known * 1.5,
    );
  for (let round = 0; round < 90 && (round < 5 || !isAlike()); round++) {
    await time('known', () => guess(service));
    await time('unknown', () => guess(service, { email: 'nobody@example.com' }));
    await time('locked', () => guess(locking));
  }
  assert.ok(isAlike(), JSON.stringify(fastestMs));
});

test('failures that no longer count are removed', async () => {
  await using service = await startTokens();
  for (let index = 0; index < 50; index++) await guess(service, { email: `nobody${index}@example.com` });
  assert.equal(await service.metric('tokens_lockouts'), 50);
  service.clock.advance(900_000);
  await until(async () => (await service.metric('tokens_lockouts')) === 0);
});
