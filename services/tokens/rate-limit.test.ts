import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, mint, password, startTokens, type TestTokens } from './testing.ts';

const limited = { RATE_LIMIT_MAX: '20' };
const email = 'alice@example.com';

function ask(service: TestTokens, headers: Record<string, string> = {}) {
  return service.call('POST', '/auth/logout', { body: { refreshToken: 'x' }, headers });
}

async function useUp(service: TestTokens, count = 20): Promise<void> {
  for (let index = 0; index < count; index++) assert.equal((await ask(service)).status, 200);
}

test('twenty requests pass and the next is 429, with headers that say when to retry', async () => {
  await using service = await startTokens({ environment: limited });
  const first = await ask(service);
  assert.equal(first.headers.get('ratelimit-policy'), '"auth";q=20;w=900');
  assert.equal(first.headers.get('ratelimit'), '"auth";r=19;t=900');
  assert.equal(first.headers.get('x-ratelimit-limit'), '20');
  assert.equal(first.headers.get('x-ratelimit-remaining'), '19');
  service.clock.advance(10_000);
  await useUp(service, 19);
  const response = await ask(service);
  assertError(response, 429, 'RATE_LIMITED');
  assert.equal(response.headers.get('retry-after'), '890');
  assert.equal(response.headers.get('ratelimit'), '"auth";r=0;t=890');
});

test('the window slides: each request makes room as it leaves, and rejected ones never count', async () => {
  await using service = await startTokens({ environment: limited });
  await useUp(service, 10);
  service.clock.advance(600_000);
  await useUp(service, 10);
  for (let index = 0; index < 30; index++) assertError(await ask(service), 429, 'RATE_LIMITED');
  service.clock.advance(299_999);
  assertError(await ask(service), 429, 'RATE_LIMITED');
  service.clock.advance(1);
  await useUp(service, 10);
  assertError(await ask(service), 429, 'RATE_LIMITED');
  service.clock.advance(600_000);
  await useUp(service, 10);
  assertError(await ask(service), 429, 'RATE_LIMITED');
});

test('all routes under /auth/ share one count; probes and preflights do not count', async () => {
  await using service = await startTokens({ environment: limited });
  const { accessToken } = await service.register(email);
  for (let index = 0; index < 30; index++) {
    for (const path of ['/health', '/readiness', '/metrics']) await service.get(path);
    await service.call('OPTIONS', '/auth/login');
  }
  await useUp(service, 15);
  for (let index = 0; index < 4; index++)
    assert.equal((await service.get('/auth/me', accessToken)).status, 200);
  assertError(await service.get('/auth/me', accessToken), 429, 'RATE_LIMITED');
  assertError(await service.post('/auth/login', { email, password }), 429, 'RATE_LIMITED');
  assert.equal((await service.get('/health')).status, 200);
});

test('bad tokens and malformed bodies are checked before the limit, invalid bodies after it', async () => {
  await using service = await startTokens({ environment: limited });
  for (let index = 0; index < 25; index++) {
    assertError(await service.get('/auth/me', 'x'), 401, 'INVALID_TOKEN');
    assertError(await service.get('/auth/me'), 401, 'MISSING_TOKEN');
    assertError(await service.post('/auth/login', '{'), 400, 'INVALID_INPUT');
  }
  for (let index = 0; index < 20; index++)
    assertError(await service.post('/auth/login', {}), 400, 'INVALID_INPUT');
  assertError(await service.post('/auth/login', {}), 429, 'RATE_LIMITED');
  assertError(await service.post('/auth/login', '{'), 400, 'INVALID_INPUT');
});

test('parallel requests cannot get around the limit', async () => {
  await using service = await startTokens({ environment: limited });
  const responses = await Promise.all(Array.from({ length: 60 }, () => ask(service)));
  assert.equal(responses.filter(({ status }) => status === 200).length, 20);
  assert.equal(responses.filter(({ status }) => status === 429).length, 40);
});

test('forged forwarding headers cannot get around the limit', async () => {
  await using service = await startTokens({ environment: limited });
  await useUp(service);
  for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'cf-connecting-ip', 'x-client-ip']) {
    assertError(await ask(service, { [name]: '203.0.113.9' }), 429, 'RATE_LIMITED');
  }
});

test('behind a trusted proxy each client has its own count, an IPv6 network one count', async () => {
  await using service = await startTokens({ environment: { ...limited, TRUST_PROXY: '127.0.0.1' } });
  const from = (address: string) => ask(service, { 'x-forwarded-for': address });
  for (let index = 0; index < 20; index++) await from(`2001:db8:1:2::${index.toString(16)}`);
  assertError(await from('2001:db8:1:2:ffff::1'), 429, 'RATE_LIMITED');
  assert.equal((await from('2001:db8:1:3::1')).status, 200);
  for (let index = 0; index < 20; index++) await from(`198.51.100.${index}, 203.0.113.9`);
  assertError(await from('203.0.113.9'), 429, 'RATE_LIMITED');
  assertError(await from('::ffff:203.0.113.9'), 429, 'RATE_LIMITED');
});

test('the settings apply, and idle clients are removed', async () => {
  const settings = { RATE_LIMIT_MAX: '2', RATE_LIMIT_WINDOW_MS: '1000', TRUST_PROXY: '127.0.0.1' };
  await using service = await startTokens({ environment: settings });
  const from = (address: string) => ask(service, { 'x-forwarded-for': address });
  for (const status of [200, 200, 429]) assert.equal((await from('203.0.113.1')).status, status);
  for (let index = 2; index < 8; index++) await from(`203.0.113.${index}`);
  assert.equal(await service.metric('tokens_limiter_keys'), 7);
  service.clock.advance(1_000);
  assert.equal((await from('203.0.113.9')).status, 200);
  assert.equal(await service.metric('tokens_limiter_keys'), 1);
});

test('a token of a deleted user does not count either', async () => {
  await using service = await startTokens({ environment: limited });
  const nowSeconds = service.clock.now() / 1_000;
  const token = mint(
    { alg: 'HS256', typ: 'at+jwt' },
    {
      iss: 'auth-service',
      aud: 'auth-service',
      sub: 'gone',
      sid: 'gone',
      token_use: 'access',
      iat: nowSeconds,
      exp: nowSeconds + 60,
    },
  );
  for (let index = 0; index < 25; index++)
    assertError(await service.get('/auth/me', token), 404, 'USER_NOT_FOUND');
  await useUp(service);
});
