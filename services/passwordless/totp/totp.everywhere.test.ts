import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appCode, fullWidth } from '@octavo/testing/sign-in';
import { deleteExpiredRows } from '../cleanup.ts';
import {
  alice,
  bob,
  claimsOf,
  enrollApp,
  inTestMode,
  refused,
  startService,
  type World,
} from '../testing.ts';

const stepMs = 30_000;

await inTestMode((world) => {
  test('the flow of the specification: enroll, verify, and sign in with later codes', async (context) => {
    const service = await startService(context, world);
    const enrolled = await service.post('/totp/enroll', { email: alice });
    assert.equal(enrolled.status, 200);
    assert.deepEqual(Object.keys(enrolled.json), ['secret', 'otpauth_url']);
    const { secret, otpauth_url: url } = enrolled.json;
    assert.match(secret, /^[A-Z2-7]{32}$/);
    assert.match(
      url,
      new RegExp(`^otpauth://totp/Octavo:alice%40example\\.com\\?secret=${secret}&issuer=Octavo&`),
    );
    const verify = (code: string) => service.post('/totp/verify', { email: alice, code });
    const response = await verify(appCode(secret, service.clock));
    assert.equal(response.status, 200, response.text);
    assert.deepEqual(Object.keys(response.json), ['access_token', 'refresh_token']);
    const claims = claimsOf(response.json.access_token);
    assert.deepEqual([claims.amr, claims.email_verified, claims.email], [['otp'], false, undefined]);
    service.clock.advance(stepMs);
    const again = await verify(
      ` ${appCode(secret, service.clock).slice(0, 3)} ${appCode(secret, service.clock).slice(3)}`,
    );
    assert.equal(claimsOf(again.json.access_token).sub, claims.sub);
    service.clock.advance(stepMs);
    const wide = await verify(fullWidth(appCode(secret, service.clock)));
    assert.equal(claimsOf(wide.json.access_token).sub, claims.sub);
  });

  test('a code works once, also the one that completed the setup, and earlier ones do not work', async (context) => {
    const service = await startService(context, world);
    const { secret, response } = await enrollApp(service, alice);
    assert.equal(response.status, 200);
    for (const steps of [0, -1]) {
      const code = appCode(secret, service.clock, steps);
      refused(await service.post('/totp/verify', { email: alice, code }), 401, 'INVALID_CODE');
    }
    const next = appCode(secret, service.clock, 1);
    assert.equal((await service.post('/totp/verify', { email: alice, code: next })).status, 200);
    refused(await service.post('/totp/verify', { email: alice, code: next }), 401, 'INVALID_CODE');
  });

  test('wrong codes, unknown users and users without an app get the same response', async (context) => {
    const service = await startService(context, world);
    await service.signIn(bob);
    const { secret } = await enrollApp(service, alice);
    const code = appCode(secret, service.clock, 5);
    const texts = new Set<string>();
    for (const email of [alice, bob, 'nobody@example.com', 'no address']) {
      const response = await service.post('/totp/verify', { email, code });
      refused(response, 401, 'INVALID_CODE');
      texts.add(response.text);
    }
    assert.equal(texts.size, 1);
  });

  test('malformed requests are refused', async (context) => {
    const service = await startService(context, world);
    for (const body of [{}, { email: '' }, { email: 7 }, [], null, 'text']) {
      refused(await service.post('/totp/enroll', JSON.stringify(body)), 400, 'INVALID_INPUT');
    }
    refused(await service.post('/totp/enroll', { email: 'no address' }), 400, 'INVALID_EMAIL');
    for (const code of ['12345', '1234567', 'abcdef', '', 123456, null, '１２３４５', '12 34 5']) {
      refused(await service.post('/totp/verify', { email: alice, code }), 400, 'INVALID_INPUT');
    }
    refused(await service.post('/totp/verify', { code: '123456' }), 400, 'INVALID_INPUT');
    refused(await service.get('/totp/enroll'), 405, 'METHOD_NOT_ALLOWED');
  });

  test('the QR code is an image on request', async (context) => {
    const service = await startService(context, world);
    const body = { email: alice };
    const asked = [
      await service.call('POST', '/totp/enroll?qr=svg', { body }),
      await service.call('POST', '/totp/enroll', { body, headers: { accept: 'image/svg+xml' } }),
    ];
    for (const response of asked) {
      assert.equal(response.status, 200);
      assert.match(response.headers.get('content-type') ?? '', /^image\/svg\+xml/);
      assert.match(response.text, /^<svg .*<\/svg>\s*$/s);
    }
  });

  testOwners(world);
  testGuesses(world);
});

function testOwners(world: World): void {
  test('with a token, the owner of an address adds, replaces and removes an app', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const { sub } = claimsOf(token);
    const first = await enrollApp(service, alice, token);
    assert.deepEqual(
      [claimsOf(first.response.json.access_token).sub, claimsOf(first.response.json.access_token).email],
      [sub, alice],
    );
    assert.equal((await service.get('/me', token)).json.totp, true);

    service.clock.advance(2 * stepMs);
    const second = await service.post('/totp/enroll', { email: alice }, token);
    const verify = (secret: string) =>
      service.post('/totp/verify', { email: alice, code: appCode(secret, service.clock) });
    assert.equal(
      (await verify(first.secret)).status,
      200,
      'the previous app counts until the new one is proved',
    );
    service.clock.advance(2 * stepMs);
    assert.equal((await verify(second.json.secret)).status, 200);
    service.clock.advance(2 * stepMs);
    refused(await verify(first.secret), 401, 'INVALID_CODE');

    assert.equal((await service.call('DELETE', '/totp', { token })).status, 200);
    refused(await service.call('DELETE', '/totp', { token }), 404, 'NOT_FOUND');
    refused(await verify(second.json.secret), 401, 'INVALID_CODE');
    const events = (await service.mails(alice))
      .map(({ kind }) => kind)
      .filter((kind) => kind !== 'magic-link');
    assert.deepEqual(events.toSorted(), [
      'security:totp-added',
      'security:totp-added',
      'security:totp-removed',
    ]);
  });

  test('a token of another user, an old one or an invalid one adds nothing', async (context) => {
    const service = await startService(context, world);
    const { access_token: token, refresh_token } = await service.signIn(alice);
    refused(await service.post('/totp/enroll', { email: bob }, token), 403, 'EMAIL_MISMATCH');
    refused(await service.post('/totp/enroll', { email: alice }, 'broken'), 401, 'INVALID_TOKEN');
    const basic = { body: { email: alice }, headers: { authorization: 'Basic eA==' } };
    refused(await service.call('POST', '/totp/enroll', basic), 401, 'MISSING_TOKEN');
    service.clock.advance(600_001);
    refused(await service.post('/totp/enroll', { email: alice }, token), 401, 'REAUTH_REQUIRED');
    const refreshed = await service.post('/token/refresh', { refresh_token });
    const { access_token: younger } = refreshed.json;
    assert.equal(claimsOf(younger).auth_time, claimsOf(token).auth_time);
    refused(await service.post('/totp/enroll', { email: alice }, younger), 401, 'REAUTH_REQUIRED');
    service.clock.advance(300_000);
    refused(await service.post('/totp/enroll', { email: alice }, token), 401, 'TOKEN_EXPIRED');
  });

  test('a secret requested with a token must be confirmed soon', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const { json } = await service.post('/totp/enroll', { email: alice }, token);
    service.clock.advance(15 * 60_000);
    const code = appCode(json.secret, service.clock);
    refused(await service.post('/totp/verify', { email: alice, code }), 401, 'INVALID_CODE');
  });

  test('an unverified user cannot remove the only sign-in method', async (context) => {
    const service = await startService(context, world);
    const { response } = await enrollApp(service, alice);
    const { access_token: token } = response.json;
    refused(await service.call('DELETE', '/totp', { token }), 409, 'LAST_FACTOR');
    service.clock.advance(stepMs);
    assert.equal((await service.get('/me', token)).json.totp, true);
  });
}

function testGuesses(world: World): void {
  test('of many sign-ins with the same code at once, on two processes, one succeeds', async (context) => {
    const service = await startService(context, world);
    const other = await startService(context, world, { beside: service });
    const { secret } = await enrollApp(service, alice);
    service.clock.advance(stepMs);
    const code = appCode(secret, service.clock);
    const responses = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        (index % 2 ? service : other).post('/totp/verify', { email: alice, code }),
      ),
    );
    assert.equal(responses.filter(({ status }) => status === 200).length, 1);
  });

  test('an address has five wrong codes per network and twenty in total, also at once', async (context) => {
    const environment = { PASSWORDLESS_TRUST_PROXY: '1' };
    const service = await startService(context, world, { environment });
    const other = await startService(context, world, { environment, beside: service });
    const { secret } = await enrollApp(service, alice);
    service.clock.advance(2 * stepMs);
    const attempt = (from: string, code = appCode(secret, service.clock, 9), at = service) =>
      at.call('POST', '/totp/verify', { body: { email: alice, code }, headers: { 'x-forwarded-for': from } });
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, index) => attempt('192.0.2.1', undefined, index % 2 ? service : other)),
    );
    assert.equal(responses.filter(({ status }) => status === 401).length, 5);
    for (const response of responses.filter(({ status }) => status !== 401))
      refused(response, 429, 'RATE_LIMITED');
    // The right code from there is refused too, and is accepted from elsewhere.
    const right = appCode(secret, service.clock);
    const limited = await attempt('192.0.2.1', right);
    refused(limited, 429, 'RATE_LIMITED');
    assert.equal(limited.headers.get('retry-after'), '900');
    assert.equal((await attempt('192.0.2.2', right)).status, 200);
    for (let index = 0; index < 15; index++)
      refused(await attempt(`198.51.100.${index}`), 401, 'INVALID_CODE');
    refused(await attempt('203.0.113.1'), 429, 'RATE_LIMITED');
    service.clock.advance(3_600_000);
    assert.equal((await attempt('192.0.2.1', appCode(secret, service.clock))).status, 200);
  });

  test('after a hundred consecutive wrong codes, no code works until a sign-in by link', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const { secret } = await enrollApp(service, alice, token);
    await service.database.kysely.updateTable('user').set({ totp_failures: 99 }).execute();
    const wrong = appCode(secret, service.clock, 9);
    refused(await service.post('/totp/verify', { email: alice, code: wrong }), 401, 'INVALID_CODE');
    service.clock.advance(stepMs);
    const right = () => service.post('/totp/verify', { email: alice, code: appCode(secret, service.clock) });
    refused(await right(), 401, 'INVALID_CODE');
    const kinds = (await service.mails(alice)).map(({ kind }) => kind);
    assert.ok(kinds.includes('security:totp-blocked'));
    await service.signIn(alice);
    assert.equal((await right()).status, 200);
  });

  test('a right code clears the wrong ones of its user and network', async (context) => {
    const service = await startService(context, world);
    const { secret } = await enrollApp(service, alice);
    await service.database.kysely.updateTable('user').set({ totp_failures: 90 }).execute();
    service.clock.advance(stepMs);
    const wrong = { email: alice, code: appCode(secret, service.clock, 9) };
    for (let index = 0; index < 4; index++)
      refused(await service.post('/totp/verify', wrong), 401, 'INVALID_CODE');
    const code = appCode(secret, service.clock);
    assert.equal((await service.post('/totp/verify', { email: alice, code })).status, 200);
    const [user] = await service.database.kysely.selectFrom('user').selectAll().execute();
    assert.equal(user?.totp_failures, 0);
    for (let index = 0; index < 5; index++)
      refused(await service.post('/totp/verify', wrong), 401, 'INVALID_CODE');
    refused(await service.post('/totp/verify', wrong), 429, 'RATE_LIMITED');
  });

  test('a sign-in by link clears the wrong codes of all networks', async (context) => {
    const environment = { PASSWORDLESS_TRUST_PROXY: '1' };
    const service = await startService(context, world, { environment });
    const { access_token: token } = await service.signIn(alice);
    const { secret } = await enrollApp(service, alice, token);
    service.clock.advance(2 * stepMs);
    const attempt = (from: string, code: string) =>
      service.call('POST', '/totp/verify', {
        body: { email: alice, code },
        headers: { 'x-forwarded-for': from },
      });
    for (let index = 0; index < 20; index++) {
      refused(await attempt(`198.51.100.${index}`, appCode(secret, service.clock, 9)), 401, 'INVALID_CODE');
    }
    refused(await attempt('203.0.113.1', appCode(secret, service.clock)), 429, 'RATE_LIMITED');
    await service.signIn(alice);
    refused(await attempt('198.51.100.1', appCode(secret, service.clock, 9)), 401, 'INVALID_CODE');
    assert.equal((await attempt('203.0.113.1', appCode(secret, service.clock))).status, 200);
  });

  test('a clock that was ahead locks no user out for longer than the difference and a step', async (context) => {
    const service = await startService(context, world);
    const { access_token: token } = await service.signIn(alice);
    const { secret } = await enrollApp(service, alice, token);
    const verify = (steps = 0) =>
      service.post('/totp/verify', { email: alice, code: appCode(secret, service.clock, steps) });
    const aheadMs = 3 * 3_600_000;
    service.clock.advance(aheadMs);
    assert.equal((await verify(1)).status, 200);
    for (let index = 0; index < 5; index++) refused(await verify(9), 401, 'INVALID_CODE');
    service.clock.advance(-aheadMs);
    const { database, clock } = service;
    await deleteExpiredRows({ database, clock, auditDays: 90 });
    for (let index = 0; index < 30; index++) {
      service.clock.advance(stepMs);
      refused(await verify(), 401, 'INVALID_CODE');
    }
    service.clock.advance(aheadMs - 28 * stepMs);
    assert.equal((await verify()).status, 200);
  });
}
