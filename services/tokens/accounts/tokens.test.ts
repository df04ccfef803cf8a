import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, hash } from 'node:crypto';
import { test } from 'node:test';
import { jwtVerify, SignJWT } from 'jose';
import { assertError, claimsOf, mint, type Pair, secrets, startTokens, type TestTokens } from '../testing.ts';

const email = 'alice@example.com';
const header = { alg: 'HS256', typ: 'at+jwt' };
const bytes = (text: string) => new TextEncoder().encode(text);

test('jose verifies both of our tokens', async () => {
  await using service = await startTokens({ environment: { JWT_ISSUER: 'house', JWT_AUDIENCE: 'guests' } });
  const { accessToken, refreshToken } = await service.register(email);
  const options = {
    algorithms: ['HS256'],
    issuer: 'house',
    audience: 'guests',
    currentDate: new Date(service.clock.now()),
  };
  const access = await jwtVerify(accessToken, bytes(secrets.access), { ...options, typ: 'at+jwt' });
  const refresh = await jwtVerify(refreshToken, bytes(secrets.refresh), { ...options, typ: 'rt+jwt' });
  assert.equal(access.payload.sub, refresh.payload.sub);
  await assert.rejects(jwtVerify(refreshToken, bytes(secrets.access), options));
});

test('a token signed by jose with our key is accepted', async () => {
  await using service = await startTokens();
  const { accessToken } = await service.register(email);
  const { sub, sid } = claimsOf(accessToken);
  const token = await new SignJWT({ sid, token_use: 'access' })
    .setProtectedHeader(header)
    .setIssuer('auth-service')
    .setAudience(['others', 'auth-service'])
    .setSubject(sub)
    .setIssuedAt(service.clock.now() / 1_000)
    .setExpirationTime(service.clock.now() / 1_000 + 60)
    .sign(bytes(secrets.access));
  assert.equal((await service.get('/auth/me', token)).status, 200);
});

test('any invalid access token is 401', async () => {
  await using service = await startTokens();
  const pair = await service.register(email);
  for (const token of badTokens(pair, service.clock.now() / 1_000, 'access')) {
    assertError(await service.get('/auth/me', token), 401, 'INVALID_TOKEN');
  }
  await stillGood(service, pair);
});

test('any invalid refresh token is 401, and logging out with it does nothing', async () => {
  await using service = await startTokens();
  const pair = await service.register(email);
  for (const refreshToken of badTokens(pair, service.clock.now() / 1_000, 'refresh')) {
    const [status, code] = refreshToken === '' ? [400, 'INVALID_INPUT'] : [401, 'INVALID_TOKEN'];
    assertError(await service.post('/auth/refresh', { refreshToken }), Number(status), String(code));
    if (refreshToken !== '') assert.equal((await service.post('/auth/logout', { refreshToken })).status, 200);
  }
  await stillGood(service, pair);
});

test('the checks come in order: signature, time, claims, user, session', async () => {
  await using service = await startTokens();
  const { accessToken } = await service.register(email);
  const nowSeconds = service.clock.now() / 1_000;
  const good = { ...claimsOf(accessToken), exp: nowSeconds + 60 };
  const past = { ...good, exp: nowSeconds };
  const asked = async (token: string) => {
    const { status, json } = await service.get('/auth/me', token);
    return [status, json.error?.code];
  };
  assert.deepEqual(await asked(mint(header, past, 'another key')), [401, 'INVALID_TOKEN']);
  assert.deepEqual(await asked(mint({ alg: 'HS256', typ: 'JWT' }, { exp: nowSeconds - 1 })), [
    401,
    'TOKEN_EXPIRED',
  ]);
  assert.deepEqual(await asked(mint(header, { ...good, sub: 'nobody', iss: 'x' })), [401, 'INVALID_TOKEN']);
  assert.deepEqual(await asked(mint(header, { ...good, sub: 'nobody', sid: 'x' })), [404, 'USER_NOT_FOUND']);
  assert.deepEqual(await asked(mint(header, { ...good, sid: 'x' })), [401, 'INVALID_TOKEN']);
  assert.deepEqual(await asked(mint(header, { ...good, iat: nowSeconds + 60 })), [200, undefined]);
  assert.deepEqual(await asked(mint(header, { ...good, iat: nowSeconds + 61 })), [401, 'INVALID_TOKEN']);
});

test('a token that is not a refresh token is INVALID_TOKEN, expired or not', async () => {
  await using service = await startTokens({
    environment: {
      JWT_REFRESH_SECRET: 'one key for both kinds of tokens',
      JWT_ACCESS_SECRET: 'one key for both kinds of tokens',
    },
  });
  const pair = await service.register(email);
  service.clock.advance(8 * 24 * 3_600_000);
  assertError(await service.post('/auth/refresh', { refreshToken: pair.accessToken }), 401, 'INVALID_TOKEN');
  assertError(await service.post('/auth/refresh', { refreshToken: pair.refreshToken }), 401, 'TOKEN_EXPIRED');
});

test('a refresh token that was never issued is INVALID_TOKEN and ends no session', async () => {
  await using service = await startTokens();
  const pair = await service.register(email);
  const claims = claimsOf(pair.refreshToken);
  for (const jti of [
    '1.AAAAAAAAAAAAAAAAAAAAAA',
    '2.AAAAAAAAAAAAAAAAAAAAAA',
    '0.x',
    '-1.x',
    'x',
    '',
    7,
    null,
  ]) {
    const token = mint({ alg: 'HS256', typ: 'rt+jwt' }, { ...claims, jti }, secrets.refresh);
    assertError(await service.post('/auth/refresh', { refreshToken: token }), 401, 'INVALID_TOKEN');
  }
  await stillGood(service, pair);
});

test('a session cannot be used by another user', async () => {
  await using service = await startTokens();
  const [alice, bob] = [await service.register(email), await service.register('bob@example.com')];
  const mixed = { ...claimsOf(alice.accessToken), sub: claimsOf(bob.accessToken).sub };
  assertError(await service.get('/auth/me', mint(header, mixed)), 401, 'INVALID_TOKEN');
});

test('a previous key still verifies tokens that name it, and signs none', async () => {
  const previous = 'the previous key, which is long enough too';
  await using service = await startTokens({ environment: { JWT_ACCESS_SECRET_PREVIOUS: previous } });
  const { accessToken } = await service.register(email);
  const kid = hash('sha256', previous, 'hex').slice(0, 8);
  const claims = claimsOf(accessToken);
  assert.equal((await service.get('/auth/me', mint({ ...header, kid }, claims, previous))).status, 200);
  assertError(await service.get('/auth/me', mint(header, claims, previous)), 401, 'INVALID_TOKEN');
  assertError(await service.get('/auth/me', mint({ ...header, kid }, claims)), 401, 'INVALID_TOKEN');
  assert.equal((await service.get('/auth/me', accessToken)).status, 200);
});

async function stillGood(service: TestTokens, { accessToken, refreshToken }: Pair): Promise<void> {
  assert.equal((await service.get('/auth/me', accessToken)).status, 200);
  assert.equal((await service.post('/auth/refresh', { refreshToken })).status, 200);
}

/** RFC 7515 sections 4 and 5, RFC 8725 section 2, and what Wycheproof tries on JWS: forged, cut, repeated, of other kinds and types. */
function badTokens(
  { accessToken, refreshToken }: Pair,
  nowSeconds: number,
  use: 'access' | 'refresh',
): string[] {
  const [good, key, other] =
    use === 'access'
      ? [accessToken, secrets.access, refreshToken]
      : [refreshToken, secrets.refresh, accessToken];
  const [head = '', body = '', signature = ''] = good.split('.');
  const typ = use === 'access' ? 'at+jwt' : 'rt+jwt';
  const claims = claimsOf(good);
  const withHeader = (parts: object) => mint({ alg: 'HS256', typ, ...parts }, claims, key);
  const withClaims = (parts: object) => mint({ alg: 'HS256', typ }, { ...claims, ...parts }, key);
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const sha512 = createHmac('sha512', key)
    .update(`${encode({ alg: 'HS512', typ })}.${body}`)
    .digest('base64url');
  const cut = [0, 1, 10, 42].map((length) => `${head}.${body}.${signature.slice(0, length)}`);
  return [
    other,
    ...cut,
    `${head}.${body}`,
    head,
    '.',
    '..',
    '...',
    `${good}.`,
    `.${good}`,
    `${good}.${signature}`,
    `${head}..${signature}`,
    `.${body}.${signature}`,
    `${head}.${body}.${signature}A`,
    `${head}.${body}.${signature}=`,
    `${head}.${body.slice(0, -2)}.${signature}`,
    `${head}.${body}.${Buffer.alloc(32).toString('base64url')}`,
    `${head}.${body}.${flipped(signature)}`,
    `${head}.${flipped(body)}.${signature}`,
    `${encode({ alg: 'HS512', typ })}.${body}.${sha512}`,
    ...['none', 'None', 'NONE', 'nOnE', ''].map((alg) => `${encode({ alg, typ })}.${body}.`),
    ...['none', 'HS384', 'HS512', 'RS256', 'ES256', 'hs256', '', null, 7, ['HS256']].map((alg) =>
      withHeader({ alg }),
    ),
    mint({ typ }, claims, key),
    mint({ alg: 'RS256', typ }, claims, pem),
    mint({ alg: 'HS256', typ }, claims, ''),
    mint({ alg: 'HS256', typ }, claims, 'secret'),
    ...['JWT', 'at+jwt', 'rt+jwt', undefined, null, 7]
      .filter((each) => each !== typ)
      .map((each) => withHeader({ typ: each })),
    withHeader({ crit: ['exp'], exp: 1 }),
    withHeader({ crit: [] }),
    withHeader({ b64: false, crit: ['b64'] }),
    ...['null', '[]', '7', '"text"', '{', '', '\u0000'].map((text) => mint({ alg: 'HS256', typ }, text, key)),
    ...['null', '[]', '{', ''].map((text) => mint(text, claims, key)),
    ...[undefined, null, 'never', `${nowSeconds + 60}`, nowSeconds + 60.5, -1, 1e300].map((exp) =>
      withClaims({ exp }),
    ),
    ...[undefined, null, `${nowSeconds}`, nowSeconds - 0.5, nowSeconds + 3_600].map((iat) =>
      withClaims({ iat }),
    ),
    withClaims({ nbf: nowSeconds + 60 }),
    withClaims({ nbf: 'now' }),
    ...[undefined, null, 'other', ['auth-service']].map((iss) => withClaims({ iss })),
    ...[undefined, null, 'other', [], ['other']].map((aud) => withClaims({ aud })),
    ...[undefined, null, 7, {}].map((sub) => withClaims({ sub })),
    ...[undefined, null, 7, '', 'x', '__proto__'].map((sid) => withClaims({ sid })),
    ...[undefined, null, '', 'id', use === 'access' ? 'refresh' : 'access'].map((each) =>
      withClaims({ token_use: each }),
    ),
  ];
}

function flipped(text: string): string {
  return `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`;
}
