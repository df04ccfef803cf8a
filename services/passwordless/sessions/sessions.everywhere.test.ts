import assert from 'node:assert/strict';
import { createHmac, hkdfSync } from 'node:crypto';
import { test } from 'node:test';
import type { TestResponse } from '@octavo/testing';
import { appCode } from '@octavo/testing/sign-in';
import { jwtVerify } from 'jose';
import {
  alice,
  bob,
  claimsOf,
  enrollApp,
  inTestMode,
  refused,
  secret,
  startService,
  type TestService,
  type World,
} from '../testing.ts';

const key = Buffer.from(hkdfSync('sha256', secret, '', 'jwt', 32));
const refresh = (service: TestService, refresh_token: unknown): Promise<TestResponse> =>
  service.post('/token/refresh', { refresh_token });

const withoutRetries = { PASSWORDLESS_REFRESH_RETRY_SECONDS: '0' };

await inTestMode((world) => {
  testTokens(world);
  testRotation(world);
  testRetries(world);
  testSessions(world);
});

function testTokens(world: World): void {
  test('another service can check an access token with the derived key', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const { payload, protectedHeader } = await jwtVerify(token, key, {
      issuer: 'http://localhost:3003',
      audience: 'http://localhost:3003',
      typ: 'at+jwt',
      algorithms: ['HS256'],
      currentDate: new Date(service.clock.now()),
    });
    assert.deepEqual(Object.keys(protectedHeader).toSorted(), ['alg', 'kid', 'typ']);
    assert.deepEqual(Object.keys(payload).toSorted(), [
      ...['amr', 'aud', 'auth_time', 'email', 'email_verified', 'exp', 'iat', 'iss', 'jti', 'sid', 'sub'],
    ]);
    assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 900);
  });

  test('expired and forged access tokens are refused', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const [head = '', body = ''] = token.split('.');
    const resign = (header: object, claims: object, withKey: Buffer | string = key) => {
      const input = [header, claims]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.');
      return `${input}.${createHmac('sha256', withKey).update(input).digest('base64url')}`;
    };
    const header = JSON.parse(Buffer.from(head, 'base64url').toString());
    const claims = claimsOf(token);
    assert.equal((await service.get('/me', resign(header, claims))).status, 200);
    const forged = [
      resign(header, claims, secret),
      resign({ ...header, alg: 'none' }, claims),
      resign({ ...header, typ: 'JWT' }, claims),
      resign(header, { ...claims, iss: 'https://other.example' }),
      resign(header, { ...claims, aud: 'other' }),
      resign(header, { ...claims, sid: undefined }),
      resign(header, { ...claims, sid: claims.sub }),
      resign(header, { ...claims, sub: 'nobody' }),
      `${head}.${body}.`,
      'x',
    ];
    for (const each of forged) refused(await service.get('/me', each), 401, 'INVALID_TOKEN');
    refused(await service.get('/me'), 401, 'MISSING_TOKEN');
    for (const authorization of ['Basic eA==', 'Bearer', 'Bearer  a b', token]) {
      refused(await service.call('GET', '/me', { headers: { authorization } }), 401, 'MISSING_TOKEN');
    }
    const lower = await service.call('GET', '/me', { headers: { authorization: `bearer ${token}` } });
    assert.equal(lower.status, 200);
    service.clock.advance(900_000);
    refused(await service.get('/me', token), 401, 'TOKEN_EXPIRED');
  });

  test('tokens and secrets stay valid after a change of the secret', async (context) => {
    const service = await startService(context, world);
    const { access_token: token, refresh_token } = await service.signIn(alice);
    const app = await enrollApp(service, alice, token);
    const { codes } = (await service.post('/recovery-codes', undefined, token)).json;
    const { code: mailed } = await service.requestLink(alice);
    const environment = {
      PASSWORDLESS_JWT_SECRET: 'another secret, which is long enough too',
      PASSWORDLESS_JWT_SECRET_PREVIOUS: secret,
    };
    const changed = await startService(context, world, { environment, beside: service });
    assert.equal((await changed.get('/me', token)).status, 200);
    const next = await refresh(changed, refresh_token);
    assert.equal(next.status, 200);
    refused(await service.get('/me', next.json.access_token), 401, 'INVALID_TOKEN');
    service.clock.advance(30_000);
    const code = appCode(app.secret, service.clock);
    for (const [path, given] of [
      ['/totp/verify', code],
      ['/recovery/verify', codes[0]],
      ['/verify/magic', mailed],
    ]) {
      assert.equal((await changed.post(path, { email: alice, code: given })).status, 200, path);
    }
    const forgotten = {
      environment: { ...environment, PASSWORDLESS_JWT_SECRET_PREVIOUS: '' },
      beside: service,
    };
    const later = await startService(context, world, forgotten);
    refused(await later.get('/me', token), 401, 'INVALID_TOKEN');
  });
}

function testRotation(world: World): void {
  test('a refresh token is exchanged once, and tokens are stored as hashes', async (context) => {
    const service = await startService(context, world);
    const first = await service.signIn(alice);
    const response = await refresh(service, first.refresh_token);
    assert.equal(response.status, 200, response.text);
    assert.deepEqual(Object.keys(response.json), ['access_token', 'refresh_token']);
    assert.match(response.json.refresh_token, /^[\w-]{43}$/);
    assert.notEqual(response.json.refresh_token, first.refresh_token);
    assert.equal(claimsOf(response.json.access_token).sid, claimsOf(first.access_token).sid);
    assert.equal((await refresh(service, response.json.refresh_token)).status, 200);
    const rows = await service.database.kysely.selectFrom('refresh_token').selectAll().execute();
    assert.equal(rows.length, 3);
    assert.ok(!JSON.stringify(rows).includes(first.refresh_token));
  });

  test('invalid refresh tokens are refused', async (context) => {
    const service = await startService(context, world);
    const { access_token } = await service.signIn(alice);
    for (const token of [undefined, '', 7, null, {}])
      refused(await refresh(service, token), 400, 'INVALID_INPUT');
    for (const token of ['x', access_token, '\0'])
      refused(await refresh(service, token), 401, 'INVALID_TOKEN');
  });

  test('many exchanges of one token at once, on two processes, get the same new token', async (context) => {
    const service = await startService(context, world);
    const other = await startService(context, world, { beside: service });
    const { refresh_token } = await service.signIn(alice);
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => refresh(index % 2 ? service : other, refresh_token)),
    );
    assert.ok(responses.every(({ status }) => status === 200));
    const tokens = new Set(responses.map(({ json }) => json.refresh_token));
    assert.equal(tokens.size, 1);
    assert.equal((await refresh(other, [...tokens][0])).status, 200);
  });

  test('without retries, of many exchanges of one token at once, on two processes, one succeeds and the session stays', async (context) => {
    const environment = withoutRetries;
    const service = await startService(context, world, { environment });
    const other = await startService(context, world, { environment, beside: service });
    const { refresh_token } = await service.signIn(alice);
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) => refresh(index % 2 ? service : other, refresh_token)),
    );
    const [winner, ...more] = responses.filter(({ status }) => status === 200);
    assert.equal(more.length, 0);
    for (const response of responses.filter(({ status }) => status !== 200))
      refused(response, 401, 'INVALID_TOKEN');
    assert.equal((await refresh(other, winner?.json.refresh_token)).status, 200);
  });

  for (const [name, environment] of [
    ['with', {}],
    ['without', withoutRetries],
  ] as const) {
    test(`${name} retries, replaying the last token ends the session only after ten seconds`, async (context) => {
      const service = await startService(context, world, { environment });
      const { refresh_token } = await service.signIn(alice);
      const { json } = await refresh(service, refresh_token);
      service.clock.advance(10_000);
      const again = await refresh(service, refresh_token);
      if (name === 'with') assert.equal(again.json.refresh_token, json.refresh_token);
      else refused(again, 401, 'INVALID_TOKEN');
      assert.equal((await service.get('/me', json.access_token)).status, 200);
      service.clock.advance(1);
      refused(await refresh(service, refresh_token), 401, 'INVALID_TOKEN');
      refused(await service.get('/me', json.access_token), 401, 'INVALID_TOKEN');
      refused(await refresh(service, json.refresh_token), 401, 'INVALID_TOKEN');
      const kinds = (await service.mails(alice)).map(({ kind }) => kind);
      assert.ok(kinds.includes('security:session-replayed'));
    });
  }

  test('replaying an older token ends its session at once, and no other', async (context) => {
    const service = await startService(context, world);
    const other = await service.signIn(alice);
    const { refresh_token } = await service.signIn(alice);
    const second = (await refresh(service, refresh_token)).json;
    const third = (await refresh(service, second.refresh_token)).json;
    refused(await refresh(service, refresh_token), 401, 'INVALID_TOKEN');
    refused(await refresh(service, third.refresh_token), 401, 'INVALID_TOKEN');
    refused(await service.get('/me', third.access_token), 401, 'INVALID_TOKEN');
    assert.equal((await service.get('/me', other.access_token)).status, 200);
    const events = await service.database.kysely.selectFrom('audit_event').select('event').execute();
    assert.ok(events.some(({ event }) => event === 'authn_token_reuse'));
  });

  test('a replay ends the session for the thief and the user, in any order', async (context) => {
    const service = await startService(context, world);
    const other = await startService(context, world, { beside: service });
    const { refresh_token } = await service.signIn(alice);
    const second = (await refresh(service, refresh_token)).json;
    const third = (await refresh(service, second.refresh_token)).json;
    await Promise.all([refresh(service, refresh_token), refresh(other, third.refresh_token)]);
    assert.deepEqual(await service.database.kysely.selectFrom('session').selectAll().execute(), []);
  });

  test('refresh tokens expire, and a session ends however often it is refreshed', async (context) => {
    const environment = { PASSWORDLESS_SESSION_MAX_AGE_SECONDS: String(10 * 86_400) };
    const service = await startService(context, world, { environment });
    let { refresh_token } = await service.signIn(alice);
    for (const days of [6, 3]) {
      service.clock.advance(days * 86_400_000);
      const response = await refresh(service, refresh_token);
      assert.equal(response.status, 200, response.text);
      refresh_token = response.json.refresh_token;
    }
    service.clock.advance(86_400_000);
    refused(await refresh(service, refresh_token), 401, 'TOKEN_EXPIRED');
    const idle = await service.signIn(bob);
    service.clock.advance(604_800_000);
    refused(await refresh(service, idle.refresh_token), 401, 'TOKEN_EXPIRED');
  });
}

function testRetries(world: World): void {
  test('with retries on, a lost response can be requested again, until the new token was used', async (context) => {
    const environment = { PASSWORDLESS_REFRESH_RETRY_SECONDS: '5' };
    const service = await startService(context, world, { environment });
    const { refresh_token } = await service.signIn(alice);
    const first = await refresh(service, refresh_token);
    const again = await refresh(service, refresh_token);
    assert.equal(again.status, 200);
    assert.equal(again.json.refresh_token, first.json.refresh_token);
    service.clock.advance(5_001);
    refused(await refresh(service, refresh_token), 401, 'INVALID_TOKEN');
    const next = await refresh(service, again.json.refresh_token);
    assert.equal(next.status, 200);
    refused(await refresh(service, refresh_token), 401, 'INVALID_TOKEN');
    refused(await refresh(service, next.json.refresh_token), 401, 'INVALID_TOKEN');
  });
}

function testSessions(world: World): void {
  test('sessions are listed for their user, and end one by one or all at once', async (context) => {
    const service = await startService(context, world);
    const first = await service.signIn(alice);
    service.clock.advance(1_000);
    const second = await service.signIn(alice);
    const stranger = await service.signIn(bob);
    const { sessions } = (await service.get('/sessions', second.access_token)).json;
    assert.deepEqual(
      sessions.map(({ id, current, amr }: Record<string, unknown>) => ({ id, current, amr })),
      [
        { id: claimsOf(second.access_token).sid, current: true, amr: ['email'] },
        { id: claimsOf(first.access_token).sid, current: false, amr: ['email'] },
      ],
    );
    const { sid } = claimsOf(first.access_token);
    refused(
      await service.call('DELETE', `/sessions/${sid}`, { token: stranger.access_token }),
      404,
      'NOT_FOUND',
    );
    for (const id of ['x', '%00', '00000000-0000-4000-8000-000000000000']) {
      const response = await service.call('DELETE', `/sessions/${id}`, { token: second.access_token });
      refused(response, 404, 'NOT_FOUND');
    }
    const ending = { token: second.access_token };
    assert.equal((await service.call('DELETE', `/sessions/${sid}`, ending)).status, 200);
    refused(await service.call('DELETE', `/sessions/${sid}`, ending), 404, 'NOT_FOUND');
    refused(await service.get('/me', first.access_token), 401, 'INVALID_TOKEN');
    refused(await refresh(service, first.refresh_token), 401, 'INVALID_TOKEN');
    refused(await service.get('/sessions'), 401, 'MISSING_TOKEN');

    assert.equal((await service.post('/logout-all', undefined, second.access_token)).status, 200);
    refused(await service.get('/me', second.access_token), 401, 'INVALID_TOKEN');
    refused(await service.post('/logout-all', undefined, second.access_token), 401, 'INVALID_TOKEN');
    assert.equal((await service.get('/me', stranger.access_token)).status, 200);
  });

  test('revoking a token ends its session; an unknown token is no error', async (context) => {
    const service = await startService(context, world);
    const { access_token, refresh_token } = await service.signIn(alice);
    const { json } = await refresh(service, refresh_token);
    for (const token of [refresh_token, refresh_token, 'x', '\0']) {
      assert.deepEqual((await service.post('/token/revoke', { token })).json, { message: 'Token revoked' });
    }
    refused(await service.get('/me', access_token), 401, 'INVALID_TOKEN');
    refused(await refresh(service, json.refresh_token), 401, 'INVALID_TOKEN');
    for (const token of ['', 7, undefined])
      refused(await service.post('/token/revoke', { token }), 400, 'INVALID_INPUT');
    const other = await service.signIn(alice);
    for (const token of [other.access_token, other.access_token, 'a.b.c']) {
      assert.deepEqual((await service.post('/token/revoke', { token })).json, { message: 'Token revoked' });
    }
    refused(await service.get('/me', other.access_token), 401, 'INVALID_TOKEN');
    refused(await refresh(service, other.refresh_token), 401, 'INVALID_TOKEN');
  });

  test('ending all sessions on one process applies to the other at once, also during refreshes', async (context) => {
    const service = await startService(context, world);
    const other = await startService(context, world, { beside: service });
    const { access_token: token, refresh_token } = await service.signIn(alice);
    const [ended] = await Promise.all([
      service.post('/logout-all', undefined, token),
      ...Array.from({ length: 10 }, () => refresh(other, refresh_token)),
    ]);
    assert.equal(ended.status, 200);
    refused(await other.get('/me', token), 401, 'INVALID_TOKEN');
    assert.deepEqual(await service.database.kysely.selectFrom('refresh_token').selectAll().execute(), []);
  });

  test('a user has at most a hundred sessions; the oldest one is deleted', async (context) => {
    const service = await startService(context, world);
    const first = await service.signIn(alice);
    const { sub } = claimsOf(first.access_token);
    const row = (await service.database.kysely
      .selectFrom('session')
      .selectAll()
      .executeTakeFirst()) as object;
    const copies = Array.from({ length: 99 }, (_, index) => ({
      ...row,
      id: `copy ${index}`,
      authenticated_at_ms: service.clock.now() + 1,
    }));
    await service.database.kysely
      .insertInto('session')
      .values(copies as never)
      .execute();
    service.clock.advance(1_000);
    assert.equal((await service.get('/me', first.access_token)).status, 200);
    const last = await service.signIn(alice);
    refused(await service.get('/me', first.access_token), 401, 'INVALID_TOKEN');
    assert.equal((await service.get('/sessions', last.access_token)).json.sessions.length, 100);
    assert.equal(claimsOf(last.access_token).sub, sub);
  });
}
