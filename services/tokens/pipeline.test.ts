import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { assertError, password, startTokens } from './testing.ts';

const email = 'alice@example.com';

/** A JSON text of exactly `sizeBytes` bytes. */
function sized(sizeBytes: number): string {
  const text = JSON.stringify({ refreshToken: 'x', filler: '' });
  return text.replace('""', `"${'x'.repeat(sizeBytes - text.length)}"`);
}

test('health answers as specified', async () => {
  await using service = await startTokens();
  const { status, json } = await service.get('/health');
  assert.deepEqual([status, json], [200, { status: 'ok' }]);
});

test('a body has at most 10,240 bytes, checked before the token', async () => {
  await using service = await startTokens();
  assert.equal((await service.post('/auth/logout', sized(10_240))).status, 200);
  assertError(await service.post('/auth/logout', sized(10_241)), 413, 'PAYLOAD_TOO_LARGE');
  assertError(await service.post('/auth/change-password', sized(10_241)), 413, 'PAYLOAD_TOO_LARGE');
  const text = { body: 'x'.repeat(10_241), headers: { 'content-type': 'text/plain' } };
  assertError(await service.call('POST', '/auth/register', text), 413, 'PAYLOAD_TOO_LARGE');
  const stream = new ReadableStream({
    start(controller) {
      for (let chunk = 0; chunk < 20; chunk++) controller.enqueue(new Uint8Array(1_024).fill(32));
      controller.close();
    },
  });
  const headers = { 'content-type': 'application/json' };
  const options = { method: 'POST', headers, body: stream, duplex: 'half' } as RequestInit;
  assert.equal((await fetch(`${service.url}/auth/logout`, options)).status, 413);
});

test('a body is parsed before the token is checked, and validated after', async () => {
  await using service = await startTokens();
  assertError(await service.post('/auth/change-password', '{'), 400, 'INVALID_INPUT');
  assertError(await service.post('/auth/change-password', {}), 401, 'MISSING_TOKEN');
  const { accessToken } = await service.register(email);
  assertError(await service.post('/auth/change-password', {}, accessToken), 400, 'INVALID_INPUT');
});

test('a body that is not JSON is INVALID_INPUT, a compressed one is 415', async () => {
  await using service = await startTokens();
  const body = JSON.stringify({ email, password });
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'application/jsonp',
  ]) {
    const response = await service.call('POST', '/auth/login', { body, headers: { 'content-type': type } });
    assertError(response, 400, 'INVALID_INPUT');
  }
  const zipped = { 'content-encoding': 'gzip' };
  assertError(
    await service.call('POST', '/auth/login', { body, headers: zipped }),
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  );
  const utf = { 'content-type': 'application/JSON; charset=UTF-8' };
  assertError(await service.call('POST', '/auth/login', { body, headers: utf }), 401, 'INVALID_CREDENTIALS');
});

test('a body that is not an object is INVALID_INPUT, also on routes without a body', async () => {
  await using service = await startTokens();
  const { accessToken: token } = await service.register(email);
  for (const body of ['null', '[]', '5', '"x"']) {
    assertError(await service.call('POST', '/auth/logout-all', { body, token }), 400, 'INVALID_INPUT');
    assertError(await service.call('POST', '/auth/login', { body }), 400, 'INVALID_INPUT');
  }
  assert.equal((await service.get('/auth/me', token)).status, 200);
});

test('an unknown path is 404 even with a malformed body, a wrong method is 405', async () => {
  await using service = await startTokens();
  assertError(await service.get('/auth/me;x'), 404, 'NOT_FOUND');
  assertError(await service.post('/auth/nothing', '{'), 404, 'NOT_FOUND');
  assertError(await service.get('/nothing'), 404, 'NOT_FOUND');
  const response = await service.get('/auth/login');
  assertError(response, 405, 'METHOD_NOT_ALLOWED');
  assert.equal(response.headers.get('allow'), 'POST, OPTIONS');
  const { accessToken } = await service.register(email);
  const head = await service.call('HEAD', '/auth/me', { token: accessToken });
  assert.deepEqual([head.status, head.text], [200, '']);
});

test('every response has security headers, and nothing under /auth/ is cached', async () => {
  await using service = await startTokens();
  const { accessToken } = await service.register(email);
  const responses = [
    await service.get('/auth/me', accessToken),
    await service.get('/auth/me'),
    await service.post('/auth/login', '{'),
    await service.post('/auth/login', { email, password }),
    await service.post('/auth/logout', sized(20_000)),
    await service.get('/auth/nothing'),
    await service.post('/%61uth/login', { email, password }),
    await service.get('/auth/sessions/%zz', accessToken),
  ];
  for (const { headers } of responses) {
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('x-frame-options'), 'DENY');
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'");
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('x-powered-by'), null);
  }
});

test('CORS allows any origin without credentials, or only those listed', async () => {
  await using open = await startTokens();
  const origin = 'https://app.example.com';
  const asked = await open.call('GET', '/auth/me', { headers: { origin } });
  assert.equal(asked.headers.get('access-control-allow-origin'), '*');
  assert.equal(asked.headers.get('access-control-allow-credentials'), null);
  await using listed = await startTokens({
    environment: { CORS_ORIGIN: `${origin}, https://other.example.com` },
  });
  const preflight = (from: string) =>
    listed.call('OPTIONS', '/auth/login', {
      headers: { origin: from, 'access-control-request-method': 'POST' },
    });
  const welcome = await preflight(origin);
  assert.equal(welcome.status, 204);
  assert.equal(welcome.headers.get('access-control-allow-origin'), origin);
  assert.match(welcome.headers.get('access-control-allow-headers') ?? '', /Authorization, Content-Type/);
  for (const stranger of ['https://evil.example.com', 'null', `${origin}.evil.example.com`]) {
    const { status, headers } = await preflight(stranger);
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [204, null]);
    assert.match(headers.get('vary') ?? '', /origin/i);
    assertError(
      await listed.call('GET', '/auth/me', { headers: { origin: stranger } }),
      401,
      'MISSING_TOKEN',
    );
  }
});

test('two Authorization headers are an error', async () => {
  await using service = await startTokens();
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    'GET /auth/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\nConnection: close\r\n\r\n',
  );
  let text = '';
  for await (const chunk of socket) text += chunk;
  assert.match(text, /^HTTP\/1\.1 400 [\s\S]*INVALID_INPUT/);
});

test('the log has a line for each request and no secrets', async () => {
  await using service = await startTokens();
  const { accessToken, refreshToken } = await service.register(email);
  await service.get('/auth/me?x=secret-query', accessToken);
  await service.post('/auth/refresh', { refreshToken });
  await service.post('/auth/login', { email, password: 'wrong-and-secret' });
  const text = JSON.stringify(service.lines);
  for (const secret of [accessToken, refreshToken, password, 'wrong-and-secret', 'secret-query', email]) {
    assert.ok(!text.includes(secret), secret);
  }
  const line = service.lines.find(({ msg, route }) => msg === 'request' && route === '/auth/me');
  assert.deepEqual([line?.method, line?.status, line?.address], ['GET', 200, '127.0.0.1']);
});

test('the well-known address leads to the password form', async () => {
  await using service = await startTokens();
  const { status, headers } = await service.get('/.well-known/change-password');
  assert.deepEqual([status, headers.get('location')], [302, '/#password']);
});

test('every response in JSON allows the origins, and no page does', async () => {
  await using open = await startTokens();
  const origin = 'https://app.example.com';
  await using listed = await startTokens({ environment: { CORS_ORIGIN: origin } });
  for (const [service, allowed] of [
    [open, '*'],
    [listed, origin],
  ] as const) {
    for (const path of ['/health', '/readiness', '/openapi.json', '/auth/me', '/nothing']) {
      const { headers } = await service.call('GET', path, { headers: { origin } });
      const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
      assert.equal(headers.get('access-control-allow-origin'), isJson ? allowed : null, path);
      assert.ok(isJson, path);
    }
    for (const path of ['/', '/docs', '/nothing']) {
      const accept = { origin, accept: 'text/html' };
      const { headers } = await service.call('GET', path, { headers: accept });
      assert.match(headers.get('content-type') ?? '', /^text\/html/, path);
      assert.equal(headers.get('access-control-allow-origin'), null, path);
    }
  }
  const stranger = { headers: { origin: 'https://evil.example.com' } };
  const { headers } = await listed.call('GET', '/health', stranger);
  assert.equal(headers.get('access-control-allow-origin'), null);
  assert.match(headers.get('vary') ?? '', /origin/i);
});
