import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, claimsOf, type Pair, startTokens, type TestTokens } from './testing.ts';

const email = 'alice@example.com';

async function refresh(service: TestTokens, { refreshToken }: Pair): Promise<Pair> {
  const response = await service.post('/auth/refresh', { refreshToken });
  assert.equal(response.status, 200, response.text);
  assert.deepEqual(Object.keys(response.json), ['tokens']);
  return response.json.tokens;
}

async function refuseToRefresh(service: TestTokens, { refreshToken }: Pair, code = 'INVALID_TOKEN') {
  assertError(await service.post('/auth/refresh', { refreshToken }), 401, code);
}

async function isAlive(service: TestTokens, { accessToken }: Pair): Promise<boolean> {
  const response = await service.get('/auth/me', accessToken);
  if (response.status !== 200) assertError(response, 401, 'INVALID_TOKEN');
  return response.status === 200;
}

test('a refresh token is exchanged once, for a pair of the same session', async () => {
  await using service = await startTokens();
  const first = await service.register(email);
  service.clock.advance(1_000);
  const second = await refresh(service, first);
  assert.equal(claimsOf(second.accessToken).sid, claimsOf(first.accessToken).sid);
  assert.notEqual(second.refreshToken, first.refreshToken);
  await refuseToRefresh(service, first);
  await refresh(service, second);
});

test('one of several simultaneous exchanges wins, and no client is signed out', async () => {
  await using service = await startTokens();
  const first = await service.register(email);
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => service.post('/auth/refresh', { refreshToken: first.refreshToken })),
  );
  const won = responses.filter(({ status }) => status === 200);
  assert.equal(won.length, 1);
  for (const response of responses) if (response.status !== 200) assertError(response, 401, 'INVALID_TOKEN');
  assert.ok(await isAlive(service, won[0]?.json.tokens));
  await refresh(service, won[0]?.json.tokens);
});

test('the previous token is a double click for ten seconds, then a replay', async () => {
  await using service = await startTokens();
  const first = await service.register(email);
  const second = await refresh(service, first);
  service.clock.advance(10_000);
  await refuseToRefresh(service, first);
  assert.ok(await isAlive(service, second));
  service.clock.advance(1);
  await refuseToRefresh(service, first);
  assert.equal(await isAlive(service, second), false);
  await refuseToRefresh(service, second);
  const events = service.lines.map(({ event }) => event);
  assert.ok(events.includes('refresh_race') && events.includes('authn_token_reuse'));
});

test('an older token always ends its session, and no other', async () => {
  await using service = await startTokens();
  const first = await service.register(email);
  const other = await service.login(email);
  const second = await refresh(service, first);
  const third = await refresh(service, second);
  await refuseToRefresh(service, first);
  for (const pair of [first, second, third]) assert.equal(await isAlive(service, pair), false);
  await refuseToRefresh(service, third);
  assert.ok(await isAlive(service, other));
  await refresh(service, other);
});

test('tokens expire', async () => {
  await using service = await startTokens();
  const pair = await service.register(email);
  service.clock.advance(899_999);
  assert.ok(await isAlive(service, pair));
  service.clock.advance(1);
  assertError(await service.get('/auth/me', pair.accessToken), 401, 'TOKEN_EXPIRED');
  const next = await refresh(service, pair);
  service.clock.advance(604_800_000);
  await refuseToRefresh(service, next, 'TOKEN_EXPIRED');
});

test('a session ends after 30 days, however often it is refreshed', async () => {
  await using service = await startTokens();
  let pair = await service.register(email);
  for (let day = 0; day < 29; day++) {
    service.clock.advance(86_400_000);
    pair = await refresh(service, pair);
  }
  const { exp, iat } = claimsOf(pair.refreshToken);
  assert.equal(exp - iat, 86_400);
  service.clock.advance(86_399_999);
  assert.ok((await service.post('/auth/refresh', { refreshToken: pair.refreshToken })).status === 200);
  service.clock.advance(1);
  await refuseToRefresh(service, pair, 'TOKEN_EXPIRED');
});

test('logging out ends the session of the token, with its access tokens, and no other', async () => {
  await using service = await startTokens();
  const pair = await service.register(email);
  const other = await service.login(email);
  for (let time = 0; time < 2; time++) {
    const response = await service.post('/auth/logout', { refreshToken: pair.refreshToken });
    assert.equal(response.status, 200);
    assert.deepEqual(response.json, { message: 'Logged out successfully' });
  }
  assert.equal(await isAlive(service, pair), false);
  await refuseToRefresh(service, pair);
  assert.ok(await isAlive(service, other));
});

test('logging out with an invalid or expired token succeeds too', async () => {
  await using service = await startTokens();
  const pair = await service.register(email);
  service.clock.advance(604_800_000);
  for (const refreshToken of ['x', 'a.b.c', pair.accessToken, pair.refreshToken, ' ']) {
    const response = await service.post('/auth/logout', { refreshToken });
    assert.deepEqual([response.status, response.json], [200, { message: 'Logged out successfully' }]);
  }
});

test('a refresh token is not accepted as an access token', async () => {
  await using service = await startTokens();
  const pair = await service.register(email);
  assertError(await service.get('/auth/me', pair.refreshToken), 401, 'INVALID_TOKEN');
  await refuseToRefresh(service, { ...pair, refreshToken: pair.accessToken });
});

test('the two kinds stay apart even when signed with one key', async () => {
  const one = 'one key for both kinds of tokens, which warns';
  await using service = await startTokens({
    environment: { JWT_ACCESS_SECRET: one, JWT_REFRESH_SECRET: one },
  });
  const pair = await service.register(email);
  assertError(await service.get('/auth/me', pair.refreshToken), 401, 'INVALID_TOKEN');
  await refuseToRefresh(service, { ...pair, refreshToken: pair.accessToken });
  assert.ok(service.lines.some(({ msg }) => msg === 'both kinds of tokens are signed with one key'));
});

test('a user has at most 100 sessions, and a new one replaces the oldest', async () => {
  await using service = await startTokens();
  const first = await service.register(email);
  const second = await service.login(email);
  for (let count = 0; count < 99; count++) await service.login(email);
  assert.equal(await isAlive(service, first), false);
  assert.ok(await isAlive(service, second));
  assert.equal(await service.metric('tokens_sessions'), 100);
});
