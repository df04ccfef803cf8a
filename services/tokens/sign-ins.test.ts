import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimsOf, password, refused, startTokens } from './testing.ts';

const alice = { email: 'alice@example.com', password };

test('registering gives tokens, and signing in gives others', async () => {
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

test('the claims are those that were agreed on', async () => {
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

test('one spelling of an address is one account', async () => {
  await using service = await startTokens();
  await service.register('Alice@Example.COM');
  for (const email of ['alice@example.com', ' ALICE@example.com ', 'alice@EXAMPLE.com']) {
    refused(await service.post('/auth/register', { ...alice, email }), 409, 'DUPLICATE_EMAIL');
    await service.login(email);
  }
  await service.register('alice+news@example.com');
  const { accessToken } = await service.register('bob@bücher.example');
  const { email } = (await service.get('/auth/me', accessToken)).json;
  assert.equal(email, 'bob@xn--bcher-kva.example');
});

test('a wrong password and an unknown address are told in the same words', async () => {
  await using service = await startTokens();
  await service.register(alice.email);
  const answers = [
    await service.post('/auth/login', { ...alice, password: 'another one, really' }),
    await service.post('/auth/login', { ...alice, email: 'nobody@example.com' }),
    await service.post('/auth/login', { ...alice, email: 'no address' }),
  ];
  for (const answer of answers) {
    refused(answer, 401, 'INVALID_CREDENTIALS');
    assert.equal(answer.text, answers[0]?.text);
  }
});

test('what is missing or malformed is INVALID_INPUT, before anything else is looked at', async () => {
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
      refused(await service.post(path, body), 400, 'INVALID_INPUT');
    }
  }
  for (const path of ['/auth/refresh', '/auth/logout']) {
    for (const body of [undefined, {}, { refreshToken: '' }, { refreshToken: 7 }, { refreshToken: null }]) {
      refused(await service.post(path, body), 400, 'INVALID_INPUT');
    }
  }
});

test('an address that is none is INVALID_EMAIL, before the password is looked at', async () => {
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
    refused(await service.post('/auth/register', { email, password: 'x' }), 400, 'INVALID_EMAIL');
  }
});

test('weak passwords are refused and say which rule; ordinary ones are taken', async () => {
  await using service = await startTokens();
  const weak: [string, RegExp][] = [
    ['short7!', /at least 8/],
    ['😀😀😀😀', /at least 8/],
    ['x'.repeat(129), /at most 128/],
    ['xxxxxxxxxx', /over and over/],
    ['abcdefghij', /run/],
    ['98765432', /run/],
    ['nul\u0000inside', /U\+0000/],
    ['password', /common/],
    ['password123', /common/],
    ['PASSWORD123', /common/],
    ['qwertyui', /common/],
    ['12345678', /run/],
    ['charlie@example.com', /e-mail address/],
    ['xxcharliexx99', /name in the e-mail/],
    ['Charlie2024', /name in the e-mail/],
    ['my-octavo-login', /"octavo"/],
  ];
  for (const [given, rule] of weak) {
    const answer = await service.post('/auth/register', { email: 'charlie@example.com', password: given });
    refused(answer, 400, 'WEAK_PASSWORD');
    assert.match(answer.json.error.message, rule, given);
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

test('a password is the same however its accents were typed', async () => {
  await using service = await startTokens();
  await service.register(alice.email, 'caf\u00e9 au lait');
  await service.login(alice.email, 'cafe\u0301 au lait');
});

test('a pepper and a longer least length are heeded', async () => {
  await using service = await startTokens({ PASSWORD_PEPPER: 'ground black', PASSWORD_MIN_LENGTH: '15' });
  refused(await service.post('/auth/register', { ...alice, password: 'ValidPass1!' }), 400, 'WEAK_PASSWORD');
  await service.register(alice.email);
  await service.login(alice.email);
  refused(
    await service.post('/auth/login', { ...alice, password: `${password}.` }),
    401,
    'INVALID_CREDENTIALS',
  );
});

test('of registrations at once with one address one wins', async () => {
  await using service = await startTokens();
  const answers = await Promise.all(Array.from({ length: 20 }, () => service.post('/auth/register', alice)));
  const statuses = answers.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [201, ...new Array(19).fill(409)]);
  assert.equal(await service.figure('tokens_users'), 1);
});

test('beyond the cap registration is refused in clear words, and works again once there is room', async () => {
  await using service = await startTokens({ MAX_USERS: '2' });
  const { accessToken } = await service.register(alice.email);
  await service.register('bob@example.com');
  const answer = await service.post('/auth/register', { email: 'charlie@example.com', password });
  refused(answer, 503, 'INTERNAL_ERROR');
  assert.ok(Number(answer.headers.get('retry-after')) > 0);
  refused(await service.post('/auth/register', alice), 409, 'DUPLICATE_EMAIL');
  await service.call('DELETE', '/auth/account', { body: { password }, token: accessToken });
  await service.register('charlie@example.com');
});

test('too many hashes at once are 503 and count as no failure', async () => {
  await using service = await startTokens({ ARGON2_MEMORY_KIB: '19456', ARGON2_PASSES: '2' });
  await service.register(alice.email);
  const emails = Array.from({ length: 120 }, (_, index) => `user${index}@example.com`);
  const answers = await Promise.all(emails.map((email) => service.post('/auth/login', { email, password })));
  const busy = answers.filter(({ status }) => status === 503);
  assert.ok(busy.length > 0, 'none was refused');
  for (const answer of busy) {
    refused(answer, 503, 'INTERNAL_ERROR');
    assert.equal(answer.headers.get('retry-after'), '1');
  }
  assert.equal(await service.figure('tokens_lockouts'), 120 - busy.length);
  await service.login(alice.email);
});
