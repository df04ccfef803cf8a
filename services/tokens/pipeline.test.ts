import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { password, refused, startTokens } from './testing.ts';

const email = 'alice@example.com';

/** A JSON text of exactly so many bytes. */
function sized(sizeBytes: number): string {
  const text = JSON.stringify({ refreshToken: 'x', filler: '' });
  return text.replace('""', `"${'x'.repeat(sizeBytes - text.length)}"`);
}

test('health is as specified', async () => {
  await using service = await startTokens();
  const { status, json } = await service.get('/health');
  assert.deepEqual([status, json], [200, { status: 'ok' }]);
});

test('a body may have 10,240 bytes and not one more, before any token is looked at', async () => {
  await using service = await startTokens();
  assert.equal((await service.post('/auth/logout', sized(10_240))).status, 200);
  refused(await service.post('/auth/logout', sized(10_241)), 413, 'PAYLOAD_TOO_LARGE');
  refused(await service.post('/auth/change-password', sized(10_241)), 413, 'PAYLOAD_TOO_LARGE');
  const text = { body: 'x'.repeat(10_241), headers: { 'content-type': 'text/plain' } };
  refused(await service.call('POST', '/auth/register', text), 413, 'PAYLOAD_TOO_LARGE');
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

test('a body is parsed before the token is looked at, and validated after', async () => {
  await using service = await startTokens();
  refused(await service.post('/auth/change-password', '{'), 400, 'INVALID_INPUT');
  refused(await service.post('/auth/change-password', {}), 401, 'MISSING_TOKEN');
  const { accessToken } = await service.register(email);
  refused(await service.post('/auth/change-password', {}, accessToken), 400, 'INVALID_INPUT');
});

test('a body that is not plain JSON is no input, a compressed one is 415', async () => {
  await using service = await startTokens();
  const body = JSON.stringify({ email, password });
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'application/jsonp',
  ]) {
    const answer = await service.call('POST', '/auth/login', { body, headers: { 'content-type': type } });
    refused(answer, 400, 'INVALID_INPUT');
  }
  const zipped = { 'content-encoding': 'gzip' };
  refused(
    await service.call('POST', '/auth/login', { body, headers: zipped }),
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  );
  const utf = { 'content-type': 'application/JSON; charset=UTF-8' };
  refused(await service.call('POST', '/auth/login', { body, headers: utf }), 401, 'INVALID_CREDENTIALS');
});

test('a body that is no object is no input, also where none is asked for', async () => {
  await using service = await startTokens();
  const { accessToken: token } = await service.register(email);
  for (const body of ['null', '[]', '5', '"x"']) {
    refused(await service.call('POST', '/auth/logout-all', { body, token }), 400, 'INVALID_INPUT');
    refused(await service.call('POST', '/auth/login', { body }), 400, 'INVALID_INPUT');
  }
  assert.equal((await service.get('/auth/me', token)).status, 200);
});

test('what is not there is 404 also with a broken body, another method is 405', async () => {
  await using service = await startTokens();
  refused(await service.get('/auth/me;x'), 404, 'NOT_FOUND');
  refused(await service.post('/auth/nothing', '{'), 404, 'NOT_FOUND');
  refused(await service.get('/nothing'), 404, 'NOT_FOUND');
  const answer = await service.get('/auth/login');
  refused(answer, 405, 'METHOD_NOT_ALLOWED');
  assert.equal(answer.headers.get('allow'), 'POST, OPTIONS');
  const { accessToken } = await service.register(email);
  const head = await service.call('HEAD', '/auth/me', { token: accessToken });
  assert.deepEqual([head.status, head.text], [200, '']);
});

test('every answer has its security headers, and nothing of /auth/ is kept', async () => {
  await using service = await startTokens();
  const { accessToken } = await service.register(email);
  const answers = [
    await service.get('/auth/me', accessToken),
    await service.get('/auth/me'),
    await service.post('/auth/login', '{'),
    await service.post('/auth/login', { email, password }),
    await service.post('/auth/logout', sized(20_000)),
    await service.get('/auth/nothing'),
    await service.post('/%61uth/login', { email, password }),
    await service.get('/auth/sessions/%zz', accessToken),
  ];
  for (const { headers } of answers) {
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('x-frame-options'), 'DENY');
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'");
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('x-powered-by'), null);
  }
});

test('pages of any origin may read answers, without cookies; of listed ones where there is a list', async () => {
  await using open = await startTokens();
  const origin = 'https://app.example.com';
  const asked = await open.call('GET', '/auth/me', { headers: { origin } });
  assert.equal(asked.headers.get('access-control-allow-origin'), '*');
  assert.equal(asked.headers.get('access-control-allow-credentials'), null);
  await using listed = await startTokens({ CORS_ORIGIN: `${origin}, https://other.example.com` });
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
    refused(await listed.call('GET', '/auth/me', { headers: { origin: stranger } }), 401, 'MISSING_TOKEN');
  }
});

test('two Authorization headers are refused', async () => {
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

test('the log has a line for each request and nothing secret', async () => {
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

test('password managers are shown where the password is changed', async () => {
  await using service = await startTokens();
  const { status, headers } = await service.get('/.well-known/change-password');
  assert.deepEqual([status, headers.get('location')], [302, '/#password']);
});
