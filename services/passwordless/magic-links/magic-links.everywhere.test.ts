import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { eventually } from '@octavo/testing';
import { fullWidth } from '@octavo/testing/sign-in';
import { alice, bob, claimsOf, inTestMode, refused, startService, type World } from '../testing.ts';

const onItsWay = { message: 'If the address can receive mail, a sign-in link is on its way.' };

await inTestMode((world) => {
  test('a link from a mail signs in once', async (context) => {
    const service = await startService(context, world);
    const { token } = await service.requestLink(alice);
    const response = await service.get(`/verify/magic?token=${token}`);
    assert.equal(response.status, 200, response.text);
    assert.deepEqual(Object.keys(response.json), ['access_token', 'refresh_token']);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    const { email, email_verified, amr, iss, aud } = claimsOf(response.json.access_token);
    assert.deepEqual({ email, email_verified, amr }, { email: alice, email_verified: true, amr: ['email'] });
    assert.deepEqual({ iss, aud }, { iss: 'http://localhost:3003', aud: 'http://localhost:3003' });
    refused(await service.get(`/verify/magic?token=${token}`), 401, 'INVALID_TOKEN');
    const me = await service.get('/me', response.json.access_token);
    assert.equal(me.json.email, alice);
  });

  test('any spelling of the address signs in the same user', async (context) => {
    const service = await startService(context, world);
    const first = claimsOf((await service.signIn(alice)).access_token);
    const { token } = await service.requestLink(alice);
    await service.post('/request/magic', { email: ' ALICE@Example.COM ' });
    const again = await service.get(`/verify/magic?token=${token}`);
    assert.equal(claimsOf(again.json.access_token).sub, first.sub);
    assert.notEqual(claimsOf(again.json.access_token).sid, first.sid);
  });

  test('the code of the mail signs in once on another device, and voids the link', async (context) => {
    const service = await startService(context, world);
    const { token, code } = await service.requestLink(alice);
    const spaced = fullWidth(`${code.slice(0, 3)} ${code.slice(3)}`);
    const response = await service.post('/verify/magic', { email: alice, code: spaced });
    assert.equal(response.status, 200, response.text);
    refused(await service.post('/verify/magic', { email: alice, code }), 401, 'INVALID_TOKEN');
    refused(await service.get(`/verify/magic?token=${token}`), 401, 'INVALID_TOKEN');
  });

  test('a token can be posted, as the landing page does', async (context) => {
    const service = await startService(context, world);
    const { token } = await service.requestLink(alice);
    assert.equal((await service.post('/verify/magic', { token })).status, 200);
    refused(await service.post('/verify/magic', { token }), 401, 'INVALID_TOKEN');
  });

  test('the response is the same for every address, even for an invalid one', async (context) => {
    const service = await startService(context, world);
    await service.signIn(alice);
    const bodies = [{ email: alice }, { email: bob }, { email: 'x' }, { email: 7 }, {}, [], null, 7, 'text'];
    for (const body of bodies) {
      const response = await service.post('/request/magic', JSON.stringify(body));
      assert.equal(response.status, 200, JSON.stringify(body));
      assert.deepEqual(response.json, onItsWay);
      assert.equal(response.headers.get('ratelimit'), null);
    }
    refused(await service.post('/request/magic', '{'), 400, 'INVALID_INPUT');
    const form = { body: 'email=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    refused(await service.call('POST', '/request/magic', form), 415, 'UNSUPPORTED_MEDIA_TYPE');
    const large = JSON.stringify({ email: 'x'.repeat(64 * 1_024) });
    refused(await service.post('/request/magic', large), 413, 'PAYLOAD_TOO_LARGE');
  });

  test('an expired link gives TOKEN_EXPIRED, an unknown one INVALID_TOKEN', async (context) => {
    const service = await startService(context, world);
    const { token, code } = await service.requestLink(alice);
    service.clock.advance(600_000);
    refused(await service.get(`/verify/magic?token=${token}`), 401, 'TOKEN_EXPIRED');
    refused(await service.post('/verify/magic', { email: alice, code }), 401, 'INVALID_TOKEN');
    refused(await service.get('/verify/magic?token=unknown'), 401, 'INVALID_TOKEN');
  });

  test('malformed tokens and codes are refused before any lookup', async (context) => {
    const service = await startService(context, world);
    for (const query of ['', '?token=', '?token=a&token=b', `?token=${'a'.repeat(513)}`]) {
      refused(await service.get(`/verify/magic${query}`), 400, 'INVALID_INPUT');
    }
    const bodies = [{}, { token: '' }, { token: 7 }, { email: alice }, { email: alice, code: '12345' }];
    for (const body of [...bodies, { email: alice, code: 123456 }, { email: alice, code: '１２３４５' }]) {
      refused(await service.post('/verify/magic', body), 400, 'INVALID_INPUT');
    }
    refused(await service.get(`/verify/magic?token=${encodeURIComponent('\0')}`), 401, 'INVALID_TOKEN');
  });

  test('an address has up to three live links, and using one voids the others', async (context) => {
    const service = await startService(context, world);
    const tokens: string[] = [];
    for (let index = 0; index < 4; index++) {
      service.clock.advance(1_000);
      tokens.push((await service.requestLink(alice)).token);
    }
    const [first, second, third, fourth] = tokens;
    refused(await service.get(`/verify/magic?token=${first}`), 401, 'INVALID_TOKEN');
    assert.equal((await service.get(`/verify/magic?token=${third}`)).status, 200);
    refused(await service.get(`/verify/magic?token=${second}`), 401, 'INVALID_TOKEN');
    refused(await service.get(`/verify/magic?token=${fourth}`), 401, 'INVALID_TOKEN');
  });

  testScanners(world);
  testRaces(world);
  testLimits(world);
});

function testScanners(world: World): void {
  test('mail scanners, prefetches and HEAD do not use up a link', async (context) => {
    const service = await startService(context, world);
    const { token } = await service.requestLink(alice);
    const path = `/verify/magic?token=${token}`;
    const scans: [string, Record<string, string>][] = [
      ['HEAD', {}],
      ['HEAD', { accept: 'application/json' }],
      ['GET', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }],
      ['GET', { 'sec-purpose': 'prefetch;prerender' }],
      ['GET', { purpose: 'prefetch' }],
      ['GET', { 'x-purpose': 'preview' }],
      ['GET', { 'x-moz': 'prefetch' }],
    ];
    for (const [method, headers] of scans) {
      const response = await service.call(method, path, { headers });
      assert.equal(response.status, 200, `${method} ${JSON.stringify(headers)}`);
      assert.match(response.headers.get('content-type') ?? '', /^text\/html/);
      assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
    }
    assert.equal((await service.call('GET', path, { headers: { accept: '*/*' } })).status, 200);
  });

  test('the link has the configured address, whatever the Host header says', async (context) => {
    const service = await startService(context, world);
    const body = JSON.stringify({ email: alice });
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      'content-type': 'application/json',
    };
    const sent = request(`${service.url}/request/magic`, { method: 'POST', headers }).end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    assert.equal(response.resume().statusCode, 200);
    const [mail] = await service.mails(alice);
    assert.match(mail?.text ?? '', /http:\/\/localhost:3003\/verify\/magic\?token=/);
    assert.doesNotMatch(`${mail?.text}${mail?.html}${mail?.subject}`, /evil/);
  });

  test('an address that would add headers or recipients gets no mail', async (context) => {
    const service = await startService(context, world);
    const evil = ['a@example.com\r\nBcc: b@example.com', 'a@example.com,b@example.com', '<a@example.com>'];
    for (const email of [...evil, 'a@example.com\n', '"a b"@example.com', 'a@b@example.com']) {
      assert.equal((await service.post('/request/magic', { email })).status, 200);
    }
    const recipients = (await service.mails()).map(({ to }) => to);
    // White space around an address is ignored.
    assert.deepEqual(recipients, ['a@example.com']);
  });
}

function testRaces(world: World): void {
  test('of many requests with one link at once, on two processes, one signs in', async (context) => {
    const service = await startService(context, world);
    const other = await startService(context, world, { beside: service });
    const { token } = await service.requestLink(alice);
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? service : other).get(`/verify/magic?token=${token}`),
      ),
    );
    assert.equal(responses.filter(({ status }) => status === 200).length, 1);
    for (const response of responses.filter(({ status }) => status !== 200))
      refused(response, 401, 'INVALID_TOKEN');
  });

  test('of several links and a code of one address at once, one signs in', async (context) => {
    const service = await startService(context, world);
    const other = await startService(context, world, { beside: service });
    const sent = [];
    for (let index = 0; index < 3; index++) {
      service.clock.advance(1_000);
      sent.push(await service.requestLink(alice));
    }
    const responses = await Promise.all([
      ...sent.map(({ token }, index) => (index % 2 ? service : other).post('/verify/magic', { token })),
      other.post('/verify/magic', { email: alice, code: sent[2]?.code }),
    ]);
    assert.equal(responses.filter(({ status }) => status === 200).length, 1);
    assert.equal((await service.database.kysely.selectFrom('user').selectAll().execute()).length, 1);
  });

  test('after five wrong codes, also at once, the code no longer works but the link does', async (context) => {
    const service = await startService(context, world);
    const { token, code } = await service.requestLink(alice);
    const wrong = code === '000000' ? '000001' : '000000';
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => service.post('/verify/magic', { email: alice, code: wrong })),
    );
    for (const response of responses) refused(response, 401, 'INVALID_TOKEN');
    refused(await service.post('/verify/magic', { email: alice, code }), 401, 'INVALID_TOKEN');
    assert.equal((await service.get(`/verify/magic?token=${token}`)).status, 200);
  });
}

function testLimits(world: World): void {
  test('an address gets at most five links in ten minutes, with the same response', async (context) => {
    const environment = { PASSWORDLESS_LIMIT_MAGIC_PER_ADDRESS: '5' };
    const service = await startService(context, world, { environment });
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => service.post('/request/magic', { email: alice })),
    );
    for (const response of responses) assert.deepEqual([response.status, response.json], [200, onItsWay]);
    assert.equal((await service.mails(alice)).length, 5);
    await service.requestLink(bob);
    service.clock.advance(600_001);
    await service.post('/request/magic', { email: alice });
    assert.equal((await service.mails(alice)).length, 6);
  });

  test('a client over its limit gets the same response and no mail', async (context) => {
    const environment = { PASSWORDLESS_LIMIT_MAGIC_PER_IP: '2' };
    const service = await startService(context, world, { environment });
    for (const name of ['a', 'b', 'c']) {
      const response = await service.post('/request/magic', { email: `${name}@example.com` });
      assert.deepEqual([response.status, response.json], [200, onItsWay]);
    }
    assert.deepEqual(
      (await service.mails()).map(({ to }) => to),
      ['a@example.com', 'b@example.com'],
    );
  });

  test('refused requests do not count', async (context) => {
    const environment = {
      PASSWORDLESS_LIMIT_MAGIC_PER_IP: '3',
      PASSWORDLESS_LIMIT_MAGIC_PER_ADDRESS: '2',
      PASSWORDLESS_LIMIT_POST_PER_IP: '20',
    };
    const service = await startService(context, world, { environment });
    for (let index = 0; index < 8; index++) await service.post('/request/magic', { email: alice });
    for (const email of ['none', '', 7, undefined]) await service.post('/request/magic', { email });
    await service.requestLink(bob);
    for (let index = 0; index < 50; index++) await service.post('/request/magic', { email: bob });
    assert.equal((await service.mails()).length, 3);
    assert.equal((await service.post('/webauthn/login/options', {})).status, 200);
  });

  test('looking at a link is not limited and does not count', async (context) => {
    const service = await startService(context, world, {
      environment: { PASSWORDLESS_LIMIT_VERIFY_PER_IP: '1' },
    });
    const { token } = await service.requestLink(alice);
    const path = `/verify/magic?token=${token}`;
    for (const [name, value] of [
      ['accept', 'text/html'],
      ['purpose', 'prefetch'],
    ] as const) {
      const headers = { [name]: value };
      assert.equal((await service.call('GET', path, { headers })).status, 200);
    }
    refused(await service.get('/verify/magic?token=x'), 401, 'INVALID_TOKEN');
    refused(await service.get(path), 429, 'RATE_LIMITED');
    assert.equal((await service.call('GET', path, { headers: { accept: 'text/html' } })).status, 200);
  });

  test('a link without its token is a page for browsers and an error for programs', async (context) => {
    const service = await startService(context, world);
    for (const path of ['/verify/magic', '/verify/magic?token=', `/verify/magic?token=${'x'.repeat(513)}`]) {
      const page = await service.call('GET', path, { headers: { accept: 'text/html' } });
      assert.equal(page.status, 400);
      assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
      assert.match(page.text, /This link is not complete[\s\S]*Mail me a link/);
      refused(await service.get(path), 400, 'INVALID_INPUT');
    }
  });

  test('wrong codes of strangers do not use up the tries of a later code', async (context) => {
    const service = await startService(context, world);
    for (let index = 0; index < 120; index++) {
      refused(await service.post('/verify/magic', { email: alice, code: '000000' }), 401, 'INVALID_TOKEN');
    }
    const { code } = await service.requestLink(alice);
    assert.equal((await service.post('/verify/magic', { email: alice, code })).status, 200);
  });

  test('without sign-up, only known addresses get a link, after the response', async (context) => {
    const service = await startService(context, world);
    const owner = await service.signIn(alice);
    const environment = { PASSWORDLESS_ALLOW_SIGNUP: 'off' };
    const closed = await startService(context, world, { environment, beside: service });
    const before = (await closed.mails()).length;
    const request = (email: string) => closed.post('/request/magic', { email });
    // While another transaction holds the locks of both addresses, so that no work on them can be done.
    await service.database.write(async (session) => {
      for (const email of [alice, bob]) await session.lock(`address:${email}`);
      for (const email of [alice, bob]) assert.deepEqual((await request(email)).json, onItsWay);
    });
    await eventually(async () => assert.equal((await closed.mails()).length, before + 1));
    const link = /[?&]token=([\w-]+)/.exec((await closed.mails(alice)).at(-1)?.text ?? '')?.[1];
    const again = await closed.get(`/verify/magic?token=${link}`);
    assert.equal(claimsOf(again.json.access_token).sub, claimsOf(owner.access_token).sub);
    assert.equal((await closed.mails(bob)).length, 0);
  });
}
