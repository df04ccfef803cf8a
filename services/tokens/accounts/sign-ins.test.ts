import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, claimsOf, password, startTokens } from '../testing.ts';

const alice = { email: 'alice@example.com', password };

test('registering gives tokens, and signing in gives different ones', async () => {
  await using service = await startTokens();
  const registered = await service.post('/auth/register', alice);
  assert.equal(registered.status, 201);
  assert.deepEqual(Object.keys(registered.json), ['tokens']);
  assert.deepEqual(Object.keys(registered.json.tokens), ['accessToken', 'refreshToken']);
  const signedIn = await service.post('/auth/login', alice);
  assert.equal(signedIn.status, 200);
  assert.deepEqual(Object.keys(signedIn.json), ['tokens']);
  const [first, second] = [registered.json.tokens, signedIn.json.tokens];
  assert.notEqual(first.accessToken, second.accessToken);
  assert.equal(claimsOf(first.accessToken).sub, claimsOf(second.accessToken).sub);
  assert.notEqual(claimsOf(first.accessToken).sid, claimsOf(second.accessToken).sid);
  for (const { accessToken } of [first, second]) {
    assert.equal((await service.get('/auth/me', accessToken)).status, 200);
  }
});

test('the claims are those of the contract', async () => {
  await using service = await startTokens();
  const { accessToken, refreshToken } = await service.register(alice.email);
  const iat = service.clock.now() / 1_000;
  const { sub, sid, jti, ...access } = claimsOf(accessToken);
  const registered = { iss: 'auth-service', aud: 'auth-service', iat };
  assert.deepEqual(access, { ...registered, exp: iat + 900, token_use: 'access' });
  assert.ok([sub, sid, jti].every((id) => /^[0-9a-f-]{36}$/.test(id)));
  const { jti: refreshId, ...refresh } = claimsOf(refreshToken);
  assert.deepEqual(refresh, { ...registered, sub, sid, exp: iat + 604_800, token_use: 'refresh' });
  assert.notEqual(refreshId, jti);
  const header = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
  assert.deepEqual({ ...header(accessToken), kid: '' }, { alg: 'HS256', typ: 'at+jwt', kid: '' });
  assert.match(header(accessToken).kid, /^[0-9a-f]{8}$/);
  assert.equal(header(refreshToken).typ, 'rt+jwt');
});

test('all spellings of an address are one account', async () => {
  await using service = await startTokens();
  await service.register('Alice@Example.COM');
  for (const email of ['alice@example.com', ' ALICE@example.com ', 'alice@EXAMPLE.com']) {
    assertError(await service.post('/auth/register', { ...alice, email }), 409, 'DUPLICATE_EMAIL');
    await service.login(email);
  }
  await service.register('alice+news@example.com');
  const { accessToken } = await service.register('bob@bücher.example');
  const { email } = (await service.get('/auth/me', accessToken)).json;
  assert.equal(email, 'bob@xn--bcher-kva.example');
});

test('a wrong password and an unknown address give the same error', async () => {
  await using service = await startTokens();
  await service.register(alice.email);
  const responses = [
    await service.post('/auth/login', { ...alice, password: 'another one, really' }),
    await service.post('/auth/login', { ...alice, email: 'nobody@example.com' }),
    await service.post('/auth/login', { ...alice, email: 'no address' }),
  ];
  for (const response of responses) {
    assertError(response, 401, 'INVALID_CREDENTIALS');
    assert.equal(response.text, responses[0]?.text);
  }
});

test('missing or malformed input is INVALID_INPUT, before any other check', async () => {
  await using service = await startTokens();
  for (const path of ['/auth/register', '/auth/login']) {
    for (const body of [
      undefined,
      {},
      { email: alice.email },
      { password },
      { email: '', password },
      { ...alice, password: '' },
      { ...alice, email: 7 },
      { ...alice, password: null },
      { ...alice, password: ['x'] },
      [],
      [alice],
      'null',
      '7',
      '"text"',
      '{',
      '{"email":',
      '\u0000',
    ]) {
      assertError(await service.post(path, body), 400, 'INVALID_INPUT');
    }
  }
  for (const path of ['/auth/refresh', '/auth/logout']) {
    for (const body of [undefined, {}, { refreshToken: '' }, { refreshToken: 7 }, { refreshToken: null }]) {
      assertError(await service.post(path, body), 400, 'INVALID_INPUT');
    }
  }
});

test('an invalid address is INVALID_EMAIL, before the password is checked', async () => {
  await using service = await startTokens();
  for (const email of [
    'alice',
    'a@b',
    '@b.de',
    'a b@c.de',
    'a..b@c.de',
    'a@b@c.de',
    'a@-b.de',
    '  ',
    'ª@b.de',
  ]) {
    assertError(await service.post('/auth/register', { email, password: 'x' }), 400, 'INVALID_EMAIL');
  }
});

test('weak passwords are rejected with the rule they break; ordinary ones are accepted', async () => {
  await using service = await startTokens();
  const weak: [string, RegExp][] = [
    ['short7!', /at least 8/],
    ['😀😀😀😀', /at least 8/],
    ['x'.repeat(129), /at most 128/],
    ['xxxxxxxxxx', /repeat a single character/],
    ['abcdefghij', /sequence/],
    ['98765432', /sequence/],
    ['nul\u0000inside', /U\+0000/],
    ['password', /common/],
    ['password123', /common/],
    ['PASSWORD123', /common/],
    ['qwertyui', /common/],
    ['12345678', /sequence/],
    ['charlie@example.com', /e-mail address/],
    ['xxcharliexx99', /name from the e-mail/],
    ['Charlie2024', /name from the e-mail/],
    ['my-octavo-login', /"octavo"/],
  ];
  for (const [given, rule] of weak) {
    const response = await service.post('/auth/register', { email: 'charlie@example.com', password: given });
    assertError(response, 400, 'WEAK_PASSWORD');
    assert.match(response.json.error.message, rule, given);
  }
  const good = [
    'Password123!',
    'Passw0rd!',
    'Test1234!',
    'SecurePassword123',
    'ValidPass1!',
    '😀😁😂🤣😃😄😅😆',
  ];
  for (const [index, given] of good.entries()) {
    await service.register(`user${index}@example.com`, given);
    await service.login(`user${index}@example.com`, given);
  }
  await service.register('test@example.com', 'Test1234!');
});

test('a password matches however its accents were typed', async () => {
  await using service = await startTokens();
  await service.register(alice.email, 'caf\u00e9 au lait');
  await service.login(alice.email, 'cafe\u0301 au lait');
});

test('the pepper and a longer minimum length apply', async () => {
  await using service = await startTokens({
    environment: { PASSWORD_PEPPER: 'ground black', PASSWORD_MIN_LENGTH: '15' },
  });
  assertError(
    await service.post('/auth/register', { ...alice, password: 'ValidPass1!' }),
    400,
    'WEAK_PASSWORD',
  );
  await service.register(alice.email);
  await service.login(alice.email);
  assertError(
    await service.post('/auth/login', { ...alice, password: `${password}.` }),
    401,
    'INVALID_CREDENTIALS',
  );
});

test('one of several simultaneous registrations of an address wins', async () => {
  await using service = await startTokens();
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => service.post('/auth/register', alice)),
  );
  const statuses = responses.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [201, ...new Array(19).fill(409)]);
  assert.equal(await service.metric('tokens_users'), 1);
});

test('registration fails at the limit of users, and works again once there is room', async () => {
  await using service = await startTokens({ environment: { MAX_USERS: '2' } });
  const { accessToken } = await service.register(alice.email);
  await service.register('bob@example.com');
  const response = await service.post('/auth/register', { email: 'charlie@example.com', password });
  assertError(response, 503, 'INTERNAL_ERROR');
  assert.ok(Number(response.headers.get('retry-after')) > 0);
  assertError(await service.post('/auth/register', alice), 409, 'DUPLICATE_EMAIL');
  await service.call('DELETE', '/auth/account', { body: { password }, token: accessToken });
  await service.register('charlie@example.com');
});

test('too many hashes at once give 503 and do not count as failures', async () => {
  await using service = await startTokens({
    environment: { ARGON2_MEMORY_KIB: '19456', ARGON2_PASSES: '2' },
  });
  await service.register(alice.email);
  const emails = Array.from({ length: 120 }, (_, index) => `user${index}@example.com`);
  const responses = await Promise.all(
    emails.map((email) => service.post('/auth/login', { email, password })),
  );
  const busy = responses.filter(({ status }) => status === 503);
  assert.ok(busy.length > 0, 'none was refused');
  for (const response of busy) {
    assertError(response, 503, 'INTERNAL_ERROR');
    assert.equal(response.headers.get('retry-after'), '1');
  }
  assert.equal(await service.metric('tokens_lockouts'), 120 - busy.length);
  await service.login(alice.email);
});
