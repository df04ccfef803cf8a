import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { appCode } from '@octavo/testing/sign-in';
import { authenticator } from './passkeys/testing.ts';
import { alice, bob, claimsOf, enrollApp, inTestMode, refused, startService, type World } from './testing.ts';

const json = { 'content-type': 'application/json' };

await inTestMode((world) => {
  test('a body has at most 64 KiB, which is checked before the token', async (context) => {
    const service = await startService(context, world);
    const sized = (sizeBytes: number) => {
      const text = JSON.stringify({ token: 'x', filler: '' });
      return text.replace('""', `"${'x'.repeat(sizeBytes - text.length)}"`);
    };
    assert.equal((await service.post('/token/revoke', sized(65_536))).status, 200);
    refused(await service.post('/token/revoke', sized(65_537)), 413, 'PAYLOAD_TOO_LARGE');
    refused(await service.post('/recovery-codes', sized(65_537)), 413, 'PAYLOAD_TOO_LARGE');
  });

  test('a body is parsed before the token is checked, and validated afterwards', async (context) => {
    const service = await startService(context, world);
    const body = '{';
    refused(await service.call('POST', '/totp/enroll', { body, token: 'x' }), 400, 'INVALID_INPUT');
    refused(await service.post('/totp/enroll', {}, 'x'), 401, 'INVALID_TOKEN');
    const { access_token: token } = await service.signIn(alice);
    refused(await service.post('/totp/enroll', {}, token), 400, 'INVALID_INPUT');
  });

  test('another media type is 415, an unknown path 404, a wrong method 405', async (context) => {
    const service = await startService(context, world);
    for (const type of ['text/plain', 'application/xml', 'application/jsonp']) {
      const options = { body: '{"refresh_token":"x"}', headers: { 'content-type': type } };
      refused(await service.call('POST', '/token/refresh', options), 415, 'UNSUPPORTED_MEDIA_TYPE');
    }
    const zipped = { body: 'x', headers: { ...json, 'content-encoding': 'gzip' } };
    refused(await service.call('POST', '/token/refresh', zipped), 415, 'UNSUPPORTED_MEDIA_TYPE');
    refused(await service.post('/token/nothing', '{'), 404, 'NOT_FOUND');
    const response = await service.get('/token/refresh');
    refused(response, 405, 'METHOD_NOT_ALLOWED');
    assert.equal(response.headers.get('allow'), 'POST, OPTIONS');
  });

  test('every response of the API has security headers and is not cached', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const responses = [
      await service.get('/me', token),
      await service.get('/me'),
      await service.post('/token/refresh', '{'),
      await service.post('/request/magic', { email: alice }),
      await service.post('/totp/verify', { email: alice, code: '000000' }),
      await service.get('/verify/magic?token=x'),
    ];
    for (const { headers } of responses) {
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      assert.equal(headers.get('x-frame-options'), 'DENY');
      assert.equal(headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'");
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.equal(headers.get('cache-control'), 'no-store');
    }
  });

  test('two Authorization headers are refused', async (context) => {
    const service = await startService(context, world);
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    const twice = 'Authorization: Bearer a\r\nAuthorization: Bearer b\r\n';
    socket.write(`GET /me HTTP/1.1\r\nHost: x\r\n${twice}Connection: close\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += chunk;
    assert.match(text, /^HTTP\/1\.1 400 [\s\S]*INVALID_INPUT/);
  });

  test('the log has a line for each request and no secrets', async (context) => {
    const service = await startService(context, world);
    const sent = await service.requestLink(alice);
    const response = await service.get(`/verify/magic?token=${sent.token}`);
    const { access_token: token, refresh_token } = response.json;
    const { secret } = await enrollApp(service, alice, token);
    const code = appCode(secret, service.clock);
    await service.post('/token/refresh', { refresh_token });
    await service.post('/verify/magic', { email: alice, code: sent.code });
    const text = JSON.stringify(service.lines);
    for (const hidden of [sent.token, token, refresh_token, secret, alice, `"${code}"`, `"${sent.code}"`]) {
      assert.ok(!text.includes(hidden), hidden);
    }
    const line = service.lines.find(({ msg, route }) => msg === 'request' && route === '/verify/magic');
    assert.deepEqual([line?.method, line?.status, line?.address], ['GET', 200, '127.0.0.1']);
    const enrolling = service.lines.find(({ route }) => route === '/totp/enroll');
    assert.equal(enrolling?.userId, claimsOf(token).sub);
  });

  test('the database contains no readable tokens, codes or secrets', async (context) => {
    const service = await startService(context, world);
    const sent = await service.requestLink(alice);
    const pair = (await service.get(`/verify/magic?token=${sent.token}`)).json;
    const again = await service.requestLink(alice);
    const { secret } = await enrollApp(service, alice, pair.access_token);
    const { codes } = (await service.post('/recovery-codes', undefined, pair.access_token)).json;
    const { kysely } = service.database;
    const tables = [
      'user',
      'session',
      'refresh_token',
      'magic_link',
      'totp',
      'recovery_code',
      'email_queue',
      'audit_event',
    ] as const;
    const rows = await Promise.all(tables.map((table) => kysely.selectFrom(table).selectAll().execute()));
    const text = JSON.stringify(rows);
    for (const hidden of [sent.token, again.token, pair.access_token, pair.refresh_token, secret, codes[0]]) {
      assert.ok(!text.includes(hidden));
    }
    for (const row of rows[3] ?? []) assert.ok(!Object.values(row).includes(again.code));
  });

  test('a NUL in any text is refused or finds nothing, on both databases', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const nul = '\0';
    for (const path of ['/sessions/a%00', '/webauthn/credentials/a%00', '/webauthn/credentials/%00']) {
      refused(await service.call('DELETE', path, { token }), 404, 'NOT_FOUND');
    }
    const name = { body: { name: `x${nul}y` }, token };
    refused(await service.call('PATCH', '/webauthn/credentials/a%00', name), 404, 'NOT_FOUND');
    const email = `a${nul}@example.com`;
    const sent: [path: string, body: Record<string, unknown>][] = [
      ['/totp/enroll', { email }],
      ['/totp/verify', { email, code: '000000' }],
      ['/verify/magic', { token: nul }],
      ['/verify/magic', { email, code: '000000' }],
      ['/recovery/verify', { email: alice, code: `A${nul}` }],
      ['/recovery/verify', { email, code: 'AAAA' }],
      ['/token/refresh', { refresh_token: nul }],
      ['/webauthn/register/options', { email }],
      ['/webauthn/login/options', { email }],
      ['/webauthn/register/complete', { pending_id: nul, response: {} }],
    ];
    for (const [path, body] of sent) {
      const { status } = await service.post(path, body);
      assert.ok(status === 400 || status === 401, `${path} ${status}`);
    }
    assert.equal((await service.post('/token/revoke', { token: nul })).status, 200);
    assert.equal((await service.post('/request/magic', { email })).status, 200);
    const asked = (await service.post('/webauthn/register/options', { email: alice })).json;
    const made = authenticator().create(asked);
    const response = { ...made, response: { ...made.response, transports: [`usb${nul}`] } };
    const complete = { pending_id: asked.pending_id, response, name: `x${nul}y` };
    const registered = await service.post('/webauthn/register/complete', complete);
    assert.equal(registered.status, 200, registered.text);
    assert.equal(registered.json.credential.name, 'x y');
    assert.equal((await service.get('/mails/a%00')).status, 404);
  });

  testLimits(world);
});

function testLimits(world: World): void {
  test('each limit counts per client, sends its headers, and resets', async (context) => {
    const environment = {
      PASSWORDLESS_LIMIT_POST_PER_IP: '300',
      PASSWORDLESS_LIMIT_REFRESH_PER_IP: '2',
      PASSWORDLESS_LIMIT_ENROLL_PER_IP: '2',
      PASSWORDLESS_LIMIT_VERIFY_PER_IP: '3',
      PASSWORDLESS_TRUST_PROXY: '1',
    };
    const service = await startService(context, world, { environment });
    const from = (address: string, path: string, body: unknown) =>
      service.call('POST', path, { body, headers: { 'x-forwarded-for': address } });
    const refresh = (address: string) => from(address, '/token/refresh', { refresh_token: 'x' });
    const first = await refresh('192.0.2.1');
    refused(first, 401, 'INVALID_TOKEN');
    assert.equal(first.headers.get('ratelimit-policy'), '"post";q=300;w=300, "refresh";q=2;w=300');
    assert.equal(first.headers.get('ratelimit'), '"post";r=299;t=300, "refresh";r=1;t=300');
    assert.equal(first.headers.get('x-ratelimit-limit'), '2');
    await refresh('192.0.2.1');
    const limited = await refresh('192.0.2.1');
    refused(limited, 429, 'RATE_LIMITED');
    assert.equal(limited.headers.get('retry-after'), '300');
    refused(await refresh('192.0.2.2'), 401, 'INVALID_TOKEN');
    // An IPv6 client has a whole /64.
    for (const host of ['a', 'b']) refused(await refresh(`2001:db8::${host}`), 401, 'INVALID_TOKEN');
    refused(await refresh('2001:db8::c'), 429, 'RATE_LIMITED');

    for (const path of ['/totp/enroll', '/webauthn/register/options'])
      assert.equal((await from('192.0.2.3', path, { email: bob })).status, 200);
    refused(await from('192.0.2.3', '/totp/enroll', { email: bob }), 429, 'RATE_LIMITED');
    await service.call('GET', '/verify/magic?token=x', { headers: { 'x-forwarded-for': '192.0.2.4' } });
    await from('192.0.2.4', '/totp/verify', { email: bob, code: '000000' });
    await from('192.0.2.4', '/recovery/verify', { email: bob, code: 'x' });
    refused(await from('192.0.2.4', '/verify/magic', { token: 'x' }), 429, 'RATE_LIMITED');
    service.clock.advance(300_000);
    refused(await refresh('192.0.2.1'), 401, 'INVALID_TOKEN');
  });

  test('probes, documents and reads are not limited', async (context) => {
    const environment = { PASSWORDLESS_LIMIT_POST_PER_IP: '1' };
    const service = await startService(context, world, { environment });
    await service.post('/token/revoke', { token: 'x' });
    refused(await service.post('/token/revoke', { token: 'x' }), 429, 'RATE_LIMITED');
    for (const path of ['/health', '/readiness', '/metrics', '/openapi.json', '/docs']) {
      assert.equal((await service.get(path)).status, 200, path);
    }
    assert.equal((await service.post('/request/magic', { email: alice })).status, 200);
    assert.deepEqual(await service.mails(), [], 'the client is throttled, and is not told');
  });
}
