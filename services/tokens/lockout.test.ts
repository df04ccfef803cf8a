import assert from 'node:assert/strict';
import { test } from 'node:test';
import { password, refused, startTokens, type TestTokens } from './testing.ts';

const email = 'alice@example.com';

function guess(service: TestTokens, given: { email?: string; password?: string } = {}) {
  return service.post('/auth/login', { email, password: 'a wrong one', ...given });
}

async function lock(service: TestTokens, address = email): Promise<void> {
  for (let failure = 0; failure < 5; failure++) {
    refused(await guess(service, { email: address }), 401, 'INVALID_CREDENTIALS');
  }
}

test('the fifth failure locks for fifteen minutes, also for the right password', async () => {
  await using service = await startTokens();
  await service.register(email);
  await lock(service);
  const answer = await guess(service, { password });
  refused(answer, 423, 'ACCOUNT_LOCKED');
  assert.equal(answer.headers.get('retry-after'), '900');
  service.clock.advance(899_999);
  refused(await guess(service, { password }), 423, 'ACCOUNT_LOCKED');
  service.clock.advance(1);
  await service.login(email);
  assert.ok(service.lines.some(({ event }) => event === 'authn_login_lock'));
});

test('attempts while it is locked do not make it longer, and afterwards the count begins anew', async () => {
  await using service = await startTokens();
  await service.register(email);
  await lock(service);
  service.clock.advance(600_000);
  for (let attempt = 0; attempt < 10; attempt++) refused(await guess(service), 423, 'ACCOUNT_LOCKED');
  service.clock.advance(300_000);
  await lock(service);
  refused(await guess(service), 423, 'ACCOUNT_LOCKED');
});

test('a success, and fifteen minutes without a failure, make the count begin anew', async () => {
  await using service = await startTokens();
  await service.register(email);
  for (let round = 0; round < 3; round++) {
    for (let failure = 0; failure < 4; failure++) refused(await guess(service), 401, 'INVALID_CREDENTIALS');
    if (round === 0) await service.login(email);
    else service.clock.advance(900_000);
  }
  await service.login(email);
});

test('an unknown address locks in the same way, so that locks tell nothing', async () => {
  await using service = await startTokens();
  await lock(service, 'nobody@example.com');
  const unknown = await guess(service, { email: 'nobody@example.com' });
  refused(unknown, 423, 'ACCOUNT_LOCKED');
  await service.register(email);
  await lock(service);
  assert.equal((await guess(service)).text, unknown.text);
});

test('spelling an address otherwise gives no further attempts', async () => {
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
    refused(await guess(service, { email: spelling }), 401, 'INVALID_CREDENTIALS');
  for (const spelling of spellings) refused(await guess(service, { email: spelling }), 423, 'ACCOUNT_LOCKED');
});

test('attempts at once are no way around it', async () => {
  await using service = await startTokens();
  await service.register(email);
  const answers = await Promise.all(Array.from({ length: 40 }, () => guess(service)));
  assert.equal(answers.filter(({ status }) => status === 401).length, 5);
  assert.equal(answers.filter(({ status }) => status === 423).length, 35);
});

test('the right password many times at once locks nobody out', async () => {
  await using service = await startTokens();
  await service.register(email);
  const answers = await Promise.all(Array.from({ length: 30 }, () => guess(service, { password })));
  assert.ok(answers.every(({ status }) => status === 200));
});

test('a lock stops signing in and nothing else', async () => {
  await using service = await startTokens();
  const pair = await service.register(email);
  await service.register('bob@example.com');
  await lock(service);
  assert.equal((await service.get('/auth/me', pair.accessToken)).status, 200);
  assert.equal((await service.post('/auth/refresh', { refreshToken: pair.refreshToken })).status, 200);
  await service.login('bob@example.com');
});

test('a stolen token cannot guess the password, nor lock its owner out of signing in', async () => {
  await using service = await startTokens();
  const { accessToken } = await service.register(email);
  const confirm = (given: string) =>
    service.call('PUT', '/auth/email', {
      body: { newEmail: 'b@example.com', password: given },
      token: accessToken,
    });
  for (let failure = 0; failure < 5; failure++)
    refused(await confirm('a wrong one'), 401, 'INVALID_CREDENTIALS');
  refused(await confirm(password), 423, 'ACCOUNT_LOCKED');
  const deletion = { body: { password }, token: accessToken };
  refused(await service.call('DELETE', '/auth/account', deletion), 423, 'ACCOUNT_LOCKED');
  await service.login(email);
  service.clock.advance(899_000);
  refused(await confirm(password), 423, 'ACCOUNT_LOCKED');
  assert.equal((await service.get('/auth/me', accessToken)).status, 200);
});

test('neither an unknown address nor a locked one answers sooner', async () => {
  await using service = await startTokens({
    ARGON2_MEMORY_KIB: '16384',
    ARGON2_PASSES: '2',
    LOCKOUT_THRESHOLD: '100',
  });
  await service.register(email);
  await using locking = await startTokens({ ARGON2_MEMORY_KIB: '16384', ARGON2_PASSES: '2' });
  await lock(locking);
  const fastestMs = {
    known: Number.POSITIVE_INFINITY,
    unknown: Number.POSITIVE_INFINITY,
    locked: Number.POSITIVE_INFINITY,
  };
  const time = async (way: keyof typeof fastestMs, ask: () => Promise<unknown>) => {
    const startMs = performance.now();
    await ask();
    fastestMs[way] = Math.min(fastestMs[way], performance.now() - startMs);
  };
  // The quickest of each, taken in turn: on a busy machine they come close after some rounds, unless one hashes less.
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

test('what is remembered is forgotten once it no longer counts', async () => {
  await using service = await startTokens();
  for (let index = 0; index < 50; index++) await guess(service, { email: `nobody${index}@example.com` });
  assert.equal(await service.figure('tokens_lockouts'), 50);
  service.clock.advance(900_000);
  const startMs = performance.now();
  while ((await service.figure('tokens_lockouts')) > 0) assert.ok(performance.now() - startMs < 5_000);
});
