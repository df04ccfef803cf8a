import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { testFolder, testMode } from '@octavo/testing';
import { password, startQuotes, type TestQuotes } from '../testing.ts';

let app: TestQuotes;
before(async () => {
  app = await startQuotes();
});
after(() => app[Symbol.asyncDispose]());

const post = (path: string, body: unknown, token?: string) => app.call('POST', path, { body, token });
const required = ['This field is required.'];
const refused = (detail: string) => ({ detail, code: 'token_not_valid' });
const invalid = refused('Token is invalid or expired');
const badAccess = (message: string) => ({
  detail: 'Given token not valid for any token type',
  code: 'token_not_valid',
  messages: [{ token_class: 'AccessToken', token_type: 'access', message }],
});

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

describe('registration', () => {
  test('creates an account that can sign in', async () => {
    const { status, json } = await post('/api/register/', { username: 'Erin', email: '', password });
    assert.deepEqual([status, Object.keys(json), json.username], [201, ['id', 'username'], 'Erin']);
    const pair = await post('/api/token/', new URLSearchParams({ username: 'erin', password }));
    assert.deepEqual(Object.keys(pair.json), ['access', 'refresh']);
    const id = await app.add({ text: 'By Erin.' }, pair.json.access);
    assert.ok(id > 0);
  });

  test('refuses names that are taken or malformed, and weak passwords', async () => {
    const cases: [body: object, errors: object][] = [
      [{}, { username: required, password: required }],
      [{ username: 'ALICE', password }, { username: ['A user with that username already exists.'] }],
      [
        { username: 'two words', password },
        {
          username: [
            'Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.',
          ],
        },
      ],
      [{ username: 'fred', email: 'nobody', password }, { email: ['Enter a valid email address.'] }],
      [
        { username: 'x'.repeat(151), password },
        { username: ['Ensure this field has no more than 150 characters.'] },
      ],
    ];
    for (const [body, errors] of cases) {
      const { status, json } = await post('/api/register/', body);
      assert.deepEqual([status, json], [400, errors]);
    }
    for (const weak of ['short', 'password123', 'frederick', '        ']) {
      const { status, json } = await post('/api/register/', { username: 'frederick', password: weak });
      assert.equal(status, 400, weak);
      assert.deepEqual(Object.keys(json), ['password']);
    }
  });

  test('gives a name to one of many at once', async () => {
    const all = await Promise.all(
      Array.from({ length: 6 }, () => post('/api/register/', { username: 'grace', password })),
    );
    assert.deepEqual(all.map(({ status }) => status).sort(), [201, 400, 400, 400, 400, 400]);
  });
});

describe('tokens', () => {
  test('have the claims of the dialect', async () => {
    const { access, refresh } = await app.signIn('alice');
    const now = app.clock.now() / 1_000;
    for (const [token, type, seconds] of [
      [access, 'access', 300],
      [refresh, 'refresh', 86_400],
    ] as const) {
      const { jti, user_id, ...rest } = claimsOf(token);
      assert.deepEqual(rest, { token_type: type, iat: now, exp: now + seconds });
      assert.equal(typeof jti, 'string');
      assert.equal(typeof user_id, 'number');
    }
    assert.deepEqual((await post('/api/token/verify/', { token: access })).json, {});
    assert.deepEqual((await post('/api/token/verify/', { token: refresh })).json, {});
  });

  test('are not kept by caches', async () => {
    const pair = await post('/api/token/', { username: 'alice', password });
    const next = await post('/api/token/refresh/', { refresh: pair.json.refresh });
    for (const { status, headers } of [pair, next]) {
      assert.deepEqual([status, headers.get('cache-control')], [200, 'no-store']);
    }
  });

  test('are given for the right password only, whether or not there is an account', async () => {
    const words = { detail: 'No active account found with the given credentials' };
    for (const username of ['bob', 'nobody']) {
      const { status, json, headers } = await post('/api/token/', { username, password: 'wrong one here' });
      assert.deepEqual([status, json], [401, words]);
      assert.equal(headers.get('www-authenticate'), 'Bearer realm="api"');
    }
    assert.deepEqual((await post('/api/token/', {})).json, { username: required, password: required });
  });

  test('lock a name after five failures, also an unknown one', async () => {
    await post('/api/register/', { username: 'frank', password });
    for (const username of ['Frank', 'nobody-else']) {
      for (let failure = 1; failure <= 5; failure++) {
        assert.equal((await post('/api/token/', { username, password: 'wrong one here' })).status, 401);
      }
      const locked = await post('/api/token/', { username: username.toLowerCase(), password });
      assert.equal(locked.status, 429);
      assert.match(locked.json.detail, /^Request was throttled\. Expected available in 900 seconds\.$/);
      assert.equal(locked.headers.get('retry-after'), '900');
    }
    const pair = await app.signIn('charlie');
    assert.equal((await app.call('GET', '/api/quotes/', { token: pair.access })).status, 200);
  });

  test('are refused in the words of the dialect', async () => {
    const { access, refresh } = await app.signIn('bob');
    const cases: [authorization: string, body: object][] = [
      [`Bearer ${access.slice(0, -2)}xx`, badAccess('Token is invalid or expired')],
      [`Bearer ${refresh}`, badAccess('Token has wrong type')],
      ['Bearer x', badAccess('Token is invalid or expired')],
      [
        'Bearer',
        {
          detail: 'Authorization header must contain two space-delimited values',
          code: 'bad_authorization_header',
        },
      ],
      ['Basic eDp5', { detail: 'Authentication credentials were not provided.' }],
    ];
    for (const [authorization, body] of cases) {
      const { status, json } = await app.call('POST', '/api/quotes/', {
        body: {},
        headers: { authorization },
      });
      assert.deepEqual([status, json], [401, body], authorization);
    }
    const read = await app.call('GET', '/api/quotes/', { headers: { authorization: 'Bearer x' } });
    assert.deepEqual([read.status, read.json], [401, badAccess('Token is invalid or expired')]);
    app.clock.advance(300_000);
    const late = await app.call('GET', '/api/quotes/', { token: access });
    assert.deepEqual([late.status, late.json], [401, badAccess('Token is invalid or expired')]);
  });

  test('are exchanged once, and an older one ends the sign-in', async () => {
    const first = await app.signIn('bob');
    const second = (await post('/api/token/refresh/', { refresh: first.refresh })).json;
    assert.deepEqual(Object.keys(second).sort(), ['access', 'refresh']);
    const again = await post('/api/token/refresh/', { refresh: first.refresh });
    assert.deepEqual([again.status, again.json], [401, invalid]);
    app.clock.advance(10_000);
    assert.equal((await post('/api/token/refresh/', { refresh: first.refresh })).status, 401);
    const third = await post('/api/token/refresh/', { refresh: second.refresh });
    assert.equal(third.status, 200);
    app.clock.advance(10_001);
    assert.equal((await post('/api/token/refresh/', { refresh: second.refresh })).status, 401);
    assert.equal((await post('/api/token/refresh/', { refresh: third.json.refresh })).status, 401);
    assert.equal((await app.call('GET', '/api/quotes/', { token: third.json.access })).status, 401);
    for (const token of [first.access, 'x']) {
      assert.equal((await post('/api/token/refresh/', { refresh: token })).status, 401);
    }
    assert.deepEqual((await post('/api/token/refresh/', {})).json, { refresh: required });
  });

  test('are exchanged by one of many at once', async () => {
    const { refresh } = await app.signIn('alice');
    const all = await Promise.all(Array.from({ length: 10 }, () => post('/api/token/refresh/', { refresh })));
    const won = all.filter(({ status }) => status === 200);
    assert.equal(won.length, 1);
    assert.equal((await post('/api/token/refresh/', { refresh: won[0]?.json.refresh })).status, 200);
  });

  test('end when they are blacklisted, or after a day', async () => {
    const { access, refresh } = await app.signIn('alice');
    assert.deepEqual((await post('/api/token/blacklist/', { refresh })).json, {});
    const twice = await post('/api/token/blacklist/', { refresh });
    assert.deepEqual([twice.status, twice.json], [401, refused('Token is blacklisted')]);
    assert.equal((await post('/api/token/verify/', { token: access })).status, 401);
    assert.deepEqual((await post('/api/token/refresh/', { refresh })).json, invalid);
    const other = await app.signIn('alice');
    app.clock.advance(86_400_000);
    assert.deepEqual((await post('/api/token/refresh/', { refresh: other.refresh })).json, invalid);
  });
});

test('many sign-ups and sign-ins from one address are throttled, also if they are split over two processes', async () => {
  const { databaseUrl: DATABASE_URL } = await testMode();
  const limits = { QUOTES_LIMIT_SIGN_UPS: '2', QUOTES_LIMIT_WRITES: '1', DATABASE_URL };
  const folder = testFolder('quotes');
  await using limited = await startQuotes({ environment: limits, folder });
  await using other = await startQuotes({ environment: limits, folder });
  const statuses: number[] = [];
  for (const [username, { call }] of [
    ['h1', limited],
    ['h2', other],
    ['h3', limited],
    ['h4', other],
  ] as const) {
    statuses.push((await call('POST', '/api/register/', { body: { username, password } })).status);
  }
  assert.deepEqual(statuses, [201, 201, 429, 429]);
  limited.clock.advance(10 * 60_000);
  const { access: token } = await limited.signIn('alice');
  await limited.add({}, token);
  const { status, json } = await limited.call('POST', '/api/quotes/', { token, body: {} });
  assert.equal(status, 429);
  assert.match(json.detail, /^Request was throttled\. Expected available in \d+ seconds\.$/);
});
