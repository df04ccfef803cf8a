import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { jwtVerify } from 'jose';
import { assertError, castOf, jwtSecret, mint, Person } from '../testing.ts';

const system = await startTestSystem({ GATEWAY_JWT_SECRET: jwtSecret });
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);

const alice = { sub: 'editor', uid: 2, role: 'editor' };

describe('signing in', () => {
  test('gives a token that any JWT library verifies', async () => {
    const response = await cast.stranger.post('/auth/login', {
      username: 'editor',
      password: system.passwords.editor,
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.deepEqual(Object.keys(response.json), ['data', 'meta']);
    assert.deepEqual(Object.keys(response.json.meta), ['requestId', 'timestamp']);
    const { token, ...rest } = response.json.data;
    assert.deepEqual(rest, { username: 'editor', role: 'editor' });
    const { payload } = await jwtVerify(token, new TextEncoder().encode(jwtSecret), {
      algorithms: ['HS256'],
      issuer: 'post-gateway',
      audience: 'post-api',
    });
    const { iat = 0, exp = 0, jti, passwordChangedAtMs, ...claims } = payload;
    assert.ok(Number.isSafeInteger(passwordChangedAtMs));
    assert.equal(exp - iat, 3_600);
    assert.ok(Math.abs(iat - Date.now() / 1_000) < 5);
    assert.ok(jti);
    assert.deepEqual(claims, { ...alice, iss: 'post-gateway', aud: 'post-api' });
  });

  test('fails the same way for a wrong password and an unknown name', async () => {
    const wrong = await cast.stranger.post('/auth/login', { username: 'editor', password: 'guess' });
    const unknown = await cast.stranger.post('/auth/login', { username: 'nobody', password: 'guess' });
    assert.deepEqual(assertError(wrong, 401, 'INVALID_CREDENTIALS'), {});
    assert.deepEqual(assertError(unknown, 401, 'INVALID_CREDENTIALS'), {});
    assert.equal(wrong.json.error.message, unknown.json.error.message);
  });

  test('requires a name and a password', async () => {
    const cases: [unknown, string[]][] = [
      [{}, ['username', 'password']],
      [{ username: '', password: '' }, ['username', 'password']],
      [{ username: 7, password: null }, ['username', 'password']],
      [{ username: 'a'.repeat(129), password: 'x' }, ['username']],
      [{ username: 'a', password: 'x'.repeat(1_025) }, ['password']],
      [{ username: '\ud800', password: 'x' }, ['username']],
    ];
    for (const [body, fields] of cases) {
      const response = await cast.stranger.post('/auth/login', body);
      assert.deepEqual(Object.keys(assertError(response, 422, 'VALIDATION_FAILED')), fields);
    }
    assertError(await cast.stranger.post('/auth/login'), 400, 'INVALID_INPUT');
    assertError(await cast.stranger.post('/auth/login', '{'), 400, 'INVALID_INPUT');
  });

  test('is limited after ten failures', async () => {
    const guess = () => cast.stranger.post('/auth/login', { username: 'mallory', password: 'guess' });
    for (let count = 0; count < 10; count++) assertError(await guess(), 401, 'INVALID_CREDENTIALS');
    const limited = await guess();
    assertError(limited, 429, 'RATE_LIMITED');
    assert.ok(Number(limited.headers.get('retry-after')) > 0);
  });
});

describe('a token', () => {
  test('is accepted with Bearer in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'BeArEr']) {
      const headers = { authorization: `${scheme} ${cast.alice.token}` };
      assert.equal((await cast.stranger.get('/posts', headers)).status, 200);
    }
  });

  test('is required once, in the header', async () => {
    const bad = ['', 'Bearer', 'Bearer ', `Basic ${cast.alice.token}`, `${cast.alice.token}`, 'Bearer a b'];
    for (const authorization of bad) {
      const response = await cast.stranger.get('/posts', { authorization });
      assertError(response, 401, 'UNAUTHORIZED');
      assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer/);
    }
    assertError(await cast.stranger.get(`/posts?access_token=${cast.alice.token}`), 401, 'UNAUTHORIZED');
    const twice = await cast.alice.raw('GET', '/posts', ['Authorization', `Bearer ${cast.alice.token}`]);
    assert.equal(twice.status, 400);
  });

  test('that is forged, expired or for another service is refused', async () => {
    const nowSeconds = Math.floor(Date.now() / 1_000);
    const [head = '', payload = '', signature = ''] = mint(alice).split('.');
    const forged = [
      mint(alice, { key: 'another key, also more than long enough' }),
      mint({ ...alice, exp: nowSeconds - 10, iat: nowSeconds - 3_610 }),
      mint({ ...alice, iat: nowSeconds + 60, exp: nowSeconds + 120 }),
      mint({ ...alice, exp: nowSeconds + 60.5 }),
      mint({ ...alice, exp: undefined }),
      mint({ ...alice, iss: 'another-gateway' }),
      mint({ ...alice, aud: 'another-api' }),
      mint({ ...alice, uid: '2' }),
      mint({ ...alice, uid: 0 }),
      mint({ ...alice, uid: undefined }),
      mint({ ...alice, role: 'root' }),
      mint({ ...alice, sub: '' }),
      mint({ ...alice, passwordChangedAtMs: '1' }),
      mint({ ...alice, passwordChangedAtMs: 1.5 }),
      mint({ ...alice, passwordChangedAtMs: null }),
      mint(alice, { header: { alg: 'HS512', typ: 'JWT' } }),
      mint(alice, { header: { alg: 'RS256', typ: 'JWT' } }),
      mint(alice, { header: { alg: 'none', typ: 'JWT' } }),
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`,
      `${head}.${payload}.`,
      `${head}.${payload}`,
      `${head}.${payload}.${signature.slice(0, -1)}`,
      `${head}.${payload}.${signature}.${signature}`,
      `${head}.${Buffer.from(JSON.stringify({ ...alice, role: 'admin' })).toString('base64url')}.${signature}`,
    ];
    for (const token of forged) {
      const response = await new Person(system.url, token).get('/posts');
      assert.deepEqual(assertError(response, 401, 'UNAUTHORIZED'), {}, token);
    }
    assert.equal((await new Person(system.url, mint(alice)).get('/posts')).status, 200);
  });

  test('ends when the password changes', async () => {
    const { payload } = await jwtVerify(cast.alice.token ?? '', new TextEncoder().encode(jwtSecret));
    const passwordChangedAtMs = payload.passwordChangedAtMs as number;
    const nowSeconds = Math.floor(Date.now() / 1_000);
    const current = mint({ ...alice, passwordChangedAtMs });
    assert.equal((await new Person(system.url, current).get('/posts')).status, 200);
    const stale = [
      mint({ ...alice, passwordChangedAtMs: passwordChangedAtMs - 1 }),
      mint({ ...alice, passwordChangedAtMs: passwordChangedAtMs + 1 }),
      // Without the claim, by the time at which it was issued.
      mint({ ...alice, iat: nowSeconds - 3_000 }),
    ];
    for (const token of stale) {
      const response = await new Person(system.url, token).get('/posts');
      assert.deepEqual(assertError(response, 401, 'UNAUTHORIZED'), {});
      assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer/);
    }
  });

  test('cannot claim more than the account has', async () => {
    const boasting = new Person(system.url, mint({ ...alice, role: 'admin' }));
    assertError(await boasting.get('/admin/status'), 403, 'FORBIDDEN');
    const deleted = new Person(system.url, mint({ sub: 'ghost', uid: 999, role: 'admin' }));
    assertError(await deleted.get('/posts'), 403, 'FORBIDDEN');
  });
});

describe('roles', () => {
  const rows: [string, string, ...number[]][] = [
    ['GET', '/posts', 200, 200, 200],
    ['POST', '/posts', 400, 400, 403],
    ['GET', '/posts/999999', 404, 404, 404],
    ['PUT', '/posts/999999', 400, 400, 403],
    ['DELETE', '/posts/999999', 403, 404, 403],
    ['GET', '/posts/deleted', 200, 200, 403],
    ['POST', '/posts/999999/restore', 404, 404, 403],
    ['POST', '/posts/bulk', 400, 400, 403],
    ['GET', '/posts/export', 200, 200, 200],
    ['GET', '/posts/analytics', 200, 200, 200],
    ['POST', '/posts/reanalyze', 202, 202, 403],
    ['GET', '/posts/reanalyze/x', 404, 404, 404],
    ['DELETE', '/posts/reanalyze/x', 404, 404, 403],
    ['GET', '/posts/999999/sentiment', 404, 404, 404],
    ['GET', '/exports', 200, 200, 200],
    ['GET', '/exports/posts_export_20260131_081500.json', 404, 404, 404],
    ['POST', '/ml/sentiment', 400, 400, 403],
    ['GET', '/admin/status', 403, 200, 403],
  ];

  for (const [method, path, ...statuses] of rows) {
    test(`${method} ${path}`, async () => {
      const people = [cast.alice, cast.bob, cast.charlie];
      const responses = await Promise.all(people.map((person) => person.call(method, path)));
      assert.deepEqual(
        responses.map((response) => response.status),
        statuses,
      );
      assertError(await cast.stranger.call(method, path), 401, 'UNAUTHORIZED');
    });
  }

  test('a denial says why and by which policy', async () => {
    const byRole = assertError(await cast.charlie.post('/posts', {}), 403, 'FORBIDDEN');
    assert.deepEqual(Object.keys(byRole), ['reason', 'policy', 'decisionId']);
    assert.equal(byRole.reason, 'ROLE');
    assert.equal(byRole.policy, 'default-deny');
    const byFactor = assertError(await cast.alice.delete('/posts/1'), 403, 'FORBIDDEN');
    assert.equal(byFactor.reason, 'MFA_REQUIRED');
    assert.equal(byFactor.policy, 'editor-delete-mfa');
    assert.notEqual(byFactor.decisionId, byRole.decisionId);
  });
});

describe('the second factor', () => {
  test('counts if exactly one header line is true', async () => {
    for (const line of ['true', ' true ', '\ttrue']) {
      const { id } = await cast.alice.create();
      const response = await cast.alice.raw('DELETE', `/posts/${id}`, ['x-mfa-VERIFIED', line]);
      assert.equal(response.status, 200, response.text);
    }
  });

  test('does not count otherwise', async () => {
    const { id } = await cast.alice.create();
    const lines = [
      ['X-MFA-Verified', 'false'],
      ['X-MFA-Verified', 'TRUE'],
      ['X-MFA-Verified', 'True'],
      ['X-MFA-Verified', '1'],
      ['X-MFA-Verified', ''],
      ['X-MFA-Verified', 'true, true'],
      ['X-MFA-Verified', 'true', 'X-MFA-Verified', 'true'],
      ['X-MFA-Verified', 'true', 'X-MFA-Verified', ''],
      ['X-MFA-Verified', '', 'X-MFA-Verified', 'true'],
      ['X_MFA_Verified', 'true'],
      ['X-MFA_Verified', 'true'],
      ['X-MFA-Verified', '\u00a0true'],
    ];
    for (const line of lines) {
      const response = await cast.alice.raw('DELETE', `/posts/${id}`, line);
      assert.equal(response.status, 403, line.join(' '));
    }
    assert.equal((await cast.alice.delete(`/posts/${id}?X-MFA-Verified=true`)).status, 403);
    assert.equal((await cast.bob.delete(`/posts/${id}`)).status, 200);
  });

  test('does not help a viewer', async () => {
    const { id } = await cast.alice.create();
    const fields = assertError(
      await cast.charlie.delete(`/posts/${id}`, { 'x-mfa-verified': 'true' }),
      403,
      'FORBIDDEN',
    );
    assert.equal(fields.reason, 'ROLE');
  });

  test('can be required in the token instead', async () => {
    await using signed = await startTestSystem({ GATEWAY_JWT_SECRET: jwtSecret, MFA_ASSERTION: 'signed' });
    const { alice: claiming } = await castOf(signed);
    const { id } = await claiming.create();
    const header = { 'x-mfa-verified': 'true' };
    assertError(await claiming.delete(`/posts/${id}`, header), 403, 'FORBIDDEN');
    const weak = new Person(signed.url, mint({ ...alice, amr: ['pwd'] }));
    assertError(await weak.delete(`/posts/${id}`, header), 403, 'FORBIDDEN');
    const strong = new Person(signed.url, mint({ ...alice, amr: ['pwd', 'mfa'] }));
    assert.equal((await strong.delete(`/posts/${id}`)).status, 200);
  });
});

describe('the order of checks', () => {
  test('an unknown address is 401 without a token and 404 with one', async () => {
    const paths = ['/nothing', '/posts/1/2/3', '/', '', '/exports/a/b/../../..//nothing', '/posts;x'];
    for (const path of [...paths, '/posts/', '/posts//sentiment', `/exports/${'a'.repeat(2_000)}`]) {
      assertError(await cast.stranger.get(path), 401, 'UNAUTHORIZED');
      assertError(await cast.charlie.get(path), 404, 'NOT_FOUND');
    }
  });

  test('a wrong method is 401 without a token and 405 with one', async () => {
    assertError(await cast.stranger.call('PATCH', '/posts'), 401, 'UNAUTHORIZED');
    const response = await cast.charlie.call('PATCH', '/posts');
    assertError(response, 405, 'METHOD_NOT_ALLOWED');
    assert.equal(response.headers.get('allow'), 'GET, HEAD, POST, OPTIONS');
    assertError(await cast.stranger.get('/auth/login'), 405, 'METHOD_NOT_ALLOWED');
    for (const [method, path, allow] of [
      ['DELETE', '/posts/bulk', 'POST, OPTIONS'],
      ['GET', '/posts/bulk', 'POST, OPTIONS'],
      ['PUT', '/posts/export', 'GET, HEAD, OPTIONS'],
      ['POST', '/posts/analytics', 'GET, HEAD, OPTIONS'],
      ['QUERY', '/posts/analytics', 'GET, HEAD, OPTIONS'],
    ] as const) {
      assertError(await cast.stranger.call(method, path), 401, 'UNAUTHORIZED');
      const wrong = await cast.bob.call(method, path);
      assertError(wrong, 405, 'METHOD_NOT_ALLOWED');
      assert.equal(wrong.headers.get('allow'), allow, path);
    }
  });

  test('access is checked before the body is read', async () => {
    const nonsense = '{"title":';
    assertError(await cast.stranger.post('/posts', nonsense), 401, 'UNAUTHORIZED');
    assertError(await cast.charlie.post('/posts', nonsense), 403, 'FORBIDDEN');
    assertError(await cast.alice.post('/posts', nonsense), 400, 'INVALID_INPUT');
    assertError(await cast.charlie.post('/posts', 'a'.repeat(300_000)), 403, 'FORBIDDEN');
    assertError(await cast.alice.post('/posts', 'a'.repeat(300_000)), 413, 'PAYLOAD_TOO_LARGE');
    assertError(await cast.charlie.delete('/posts/nonsense'), 403, 'FORBIDDEN');
    assertError(await cast.alice.put('/posts/nonsense', {}), 400, 'INVALID_INPUT');
    assertError(await cast.alice.put('/posts/999999', { title: 7 }), 422, 'VALIDATION_FAILED');
    assertError(await cast.alice.put('/posts/999999', { title: 'x' }), 404, 'NOT_FOUND');
  });

  test('the body is parsed before an integration is required, and validated after', async () => {
    await using without = await startTestSystem({ INFERENCE: 'off' });
    const { alice } = await castOf(without);
    assertError(await alice.post('/ml/sentiment', '{"text":'), 400, 'INVALID_INPUT');
    assertError(await alice.post('/ml/sentiment', { text: 7 }), 503, 'INTEGRATION_DISABLED');
    const plain = { 'content-type': 'text/plain' };
    assertError(await alice.post('/ml/sentiment', 'text', plain), 415, 'UNSUPPORTED_MEDIA_TYPE');
  });
});
