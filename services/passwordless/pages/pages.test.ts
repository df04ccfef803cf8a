import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { appCode } from '@octavo/testing/sign-in';
import { authenticator, register } from '../passkeys/testing.ts';
import { alice, inTestMode, startService } from '../testing.ts';
import { codeOf, linkIn, signedIn } from '../testing-pages.ts';

await inTestMode((world) => {
  describe('without scripts', () => {
    test('a link signs in once, after its button is pressed, even if it was looked at before', async (context) => {
      const service = await startService(context, world);
      const client = new PageClient(service.url);
      assert.match((await client.open('/')).html, /Mail me a link/);
      const sent = await client.send('/sign-in', { email: ' Alice@Example.com ' });
      assert.equal(sent.status, 200);
      assert.match(sent.html, /Check your mail/);
      const link = await linkIn(service, alice);
      for (const headers of [
        {},
        { 'sec-purpose': 'prefetch', accept: '*/*' },
        { purpose: 'preview', accept: '*/*' },
      ]) {
        const seen = await new PageClient(service.url).open(link, { headers });
        assert.equal(seen.status, 200);
        assert.match(seen.headers.get('content-type') ?? '', /text\/html/);
        assert.equal(seen.headers.get('referrer-policy'), 'no-referrer');
        assert.match(seen.headers.get('content-security-policy') ?? '', /default-src 'self'/);
        assert.doesNotMatch(seen.html, /https?:\/\//);
      }
      assert.equal((await fetch(`${service.url}${link}`, { method: 'HEAD' })).status, 200);
      const token = new URL(link, service.url).searchParams.get('token') ?? '';
      const visitor = new PageClient(service.url);
      await visitor.open(link);
      const entered = await visitor.send('/sign-in/link', { token });
      assert.deepEqual([entered.status, entered.headers.get('location')], [303, '/']);
      assert.match((await visitor.open('/')).html, /verified<\/span>/);
      const late = new PageClient(service.url);
      await late.open(link);
      const again = await late.send('/sign-in/link', { token });
      assert.equal(again.status, 401);
      assert.match(again.html, /was already used or has expired/);
    });

    test('a link from another site is shown after a redirect, so that a signed-in user stays signed in', async (context) => {
      const service = await startService(context, world);
      const client = await signedIn(service, alice);
      const cookies = new Map(client.cookies);
      client.cookies.clear();
      const headers = { 'sec-fetch-site': 'cross-site' };
      const detour = await client.open('/verify/magic?token=x', { headers });
      assert.match(detour.html, /http-equiv="refresh"/);
      for (const [name, value] of cookies) client.cookies.set(name, value);
      assert.match((await client.open('/verify/magic?token=x', { headers })).html, /Sign in/);
      assert.match((await client.open('/')).html, /Passkeys/);
    });

    test('the code of the mail signs in, also if it is typed in groups', async (context) => {
      const service = await startService(context, world);
      const client = new PageClient(service.url);
      await client.open('/');
      await client.send('/sign-in', { email: alice });
      const code = await codeOf(service, alice);
      const wrong = code === '000000' ? '111111' : '000000';
      const refused = await client.send('/sign-in/code', { email: alice, code: wrong });
      assert.equal(refused.status, 401);
      assert.match(refused.html, /Code is wrong, already used, or expired/);
      const typed = `${code.slice(0, 3)} ${code.slice(3)}`;
      assert.equal((await client.send('/sign-in/code', { email: alice, code: typed })).status, 303);
      assert.match((await client.open('/')).html, /Sign out everywhere/);
    });

    test('errors are shown at the field, and what was typed stays', async (context) => {
      const service = await startService(context, world);
      const client = new PageClient(service.url);
      await client.open('/');
      const cases: [string, Record<string, string>, number, RegExp][] = [
        ['/sign-in', { email: '' }, 400, /E-mail address is required/],
        ['/sign-in', { email: 'alice' }, 400, /value="alice"[\s\S]*E-mail address must be complete/],
        ['/sign-in/code', { email: alice, code: '12' }, 400, /Code must be 6 digits/],
        [
          '/sign-in/authenticator',
          { email: alice, code: '' },
          400,
          /value="alice@example.com"[\s\S]*Code is required/,
        ],
        ['/sign-in/authenticator', { email: alice, code: '123456' }, 401, /Code is wrong/],
        ['/sign-in/recovery', { email: 'x', code: 'AAAA' }, 400, /E-mail address must be complete/],
        ['/sign-in/recovery', { email: alice, code: 'AAAA' }, 401, /Code is wrong/],
        ['/sign-in/link', { token: 'x' }, 401, /was already used or has expired/],
        ['/account/sessions/end', { id: 'x' }, 401, /Sign in/],
      ];
      for (const [path, fields, status, words] of cases) {
        const response = await client.send(path, fields);
        assert.equal(response.status, status, path);
        assert.match(response.html, words);
      }
      assert.equal((await client.send('/sign-in', { email: alice, _csrf: 'x' })).status, 403);
      const elsewhere = await client.send('/sign-in', { email: alice }, { 'sec-fetch-site': 'cross-site' });
      assert.equal(elsewhere.status, 403);
      assert.deepEqual(await service.mails(), []);
    });

    test('forms count toward the limits of the API', async (context) => {
      const environment = { PASSWORDLESS_LIMIT_VERIFY_PER_IP: '2', PASSWORDLESS_LIMIT_MAGIC_PER_IP: '1' };
      const service = await startService(context, world, { environment });
      const client = new PageClient(service.url);
      await client.open('/');
      const attempt = () => client.send('/sign-in/authenticator', { email: alice, code: '123456' });
      assert.deepEqual([(await attempt()).status, (await attempt()).status], [401, 401]);
      const limited = await attempt();
      assert.equal(limited.status, 429);
      assert.match(limited.html, /Too many requests. Try again in 5 minutes/);
      for (let count = 0; count < 3; count++) {
        assert.match((await client.send('/sign-in', { email: alice })).html, /Check your mail/);
      }
      assert.equal((await service.mails()).length, 1);
    });

    test('sessions can be ended from the list', async (context) => {
      const service = await startService(context, world);
      const client = await signedIn(service, alice);
      service.clock.advance(1_000);
      const other = await service.signIn(alice);
      const ids = sessionIds((await client.open('/')).html);
      assert.equal(ids.length, 2);
      await client.send('/account/sessions/end', { id: ids[0] ?? '' });
      assert.match((await client.open('/')).html, /The session has ended/);
      assert.equal((await service.get('/me', other.access_token)).status, 401);
      await client.send('/account/sessions/end-all', {});
      assert.match((await client.open('/')).html, /Mail me a link/);
    });

    test('an expired token is refreshed silently, and the end of a session is shown', async (context) => {
      const service = await startService(context, world);
      const client = await signedIn(service, alice);
      service.clock.advance(900_000);
      assert.match((await client.open('/')).html, /Sign out everywhere/);
      service.clock.advance(604_800_000);
      assert.match((await client.open('/')).html, /Your session has ended/);
    });

    test('a while after signing in, changes require signing in again, which replaces the session', async (context) => {
      const service = await startService(context, world);
      const client = await signedIn(service, alice);
      service.clock.advance(600_001);
      const { html } = await client.open('/');
      assert.match(html, /Sign in again/);
      assert.doesNotMatch(html, /Add a passkey|Set up|Make codes|Delete account/);
      for (const path of ['/account/authenticator', '/account/recovery-codes', '/account/delete']) {
        const response = await client.send(path, {});
        assert.equal(response.status, 401, path);
        assert.match(response.html, /Sign in again to change how you sign in/);
      }
      assert.match((await client.open('/sign-in')).html, new RegExp(`value="${alice}"`));
      await client.send('/sign-in', { email: alice });
      assert.equal(
        (await client.send('/sign-in/code', { email: alice, code: await codeOf(service, alice) })).status,
        303,
      );
      const page = (await client.open('/')).html;
      assert.match(page, /Add a passkey/);
      assert.equal(sessionIds(page).length, 1);
    });

    test('an authenticator app is set up with a code, signs in, and is removed', async (context) => {
      const service = await startService(context, world);
      const client = await signedIn(service, alice);
      const begun = await client.send('/account/authenticator', {});
      assert.match(begun.html, /<svg role="img" aria-label="QR code/);
      assert.match(begun.html, /href="otpauth:\/\/totp\/Octavo:alice%40example\.com\?secret=/);
      const secret = /name="secret" value="([A-Z2-7]{32})"/.exec(begun.html)?.[1] ?? '';
      const confirm = (code: string) => client.send('/account/authenticator/confirm', { secret, code });
      const wrong = await confirm(appCode(secret, service.clock, 5));
      assert.equal(wrong.status, 401);
      assert.match(wrong.html, new RegExp(`value="${secret}"[\\s\\S]*Code is wrong`));
      assert.equal((await confirm(appCode(secret, service.clock))).status, 303);
      const page = (await client.open('/')).html;
      assert.match(page, /The authenticator app is set up/);
      assert.equal(sessionIds(page).length, 1);
      await client.send('/sign-out', {});
      await client.open('/sign-in/authenticator');
      const enter = (code: string) => client.send('/sign-in/authenticator', { email: alice, code });
      assert.equal((await enter(appCode(secret, service.clock))).status, 401, 'a code counts once');
      service.clock.advance(30_000);
      assert.equal((await enter(appCode(secret, service.clock))).status, 303);
      assert.match((await client.open('/')).html, /Authenticator app<\/td>/);
      assert.match(
        (await client.open('/account/authenticator/remove')).html,
        /Remove the authenticator app\?/,
      );
      assert.equal((await client.send('/account/authenticator/remove', {})).status, 303);
      assert.match((await client.open('/')).html, /The authenticator app is removed/);
    });

    test('recovery codes are shown once, and each signs in once', async (context) => {
      const service = await startService(context, world);
      const client = await signedIn(service, alice);
      const { html } = await client.send('/account/recovery-codes', {});
      const codes = /<pre><code>([^<]+)</.exec(html)?.[1]?.split('\n') ?? [];
      assert.equal(codes.length, 10);
      assert.doesNotMatch((await client.open('/')).html, new RegExp(codes[0] ?? ''));
      await client.send('/sign-out', {});
      await client.open('/sign-in/recovery');
      const enter = () =>
        client.send('/sign-in/recovery', { email: alice, code: codes[0]?.toLowerCase() ?? '' });
      assert.equal((await enter()).status, 303);
      assert.match((await client.open('/')).html, /9 codes left/);
      await client.send('/sign-out', {});
      await client.open('/sign-in/recovery');
      assert.equal((await enter()).status, 401);
    });

    for (const how of ['its code', 'the link'] as const) {
      test(`an unverified user keeps their sign-in methods by using ${how} where they are signed in`, async (context) => {
        const service = await startService(context, world);
        const { secret } = (await service.post('/totp/enroll', { email: alice })).json;
        const client = new PageClient(service.url);
        await client.open('/sign-in/authenticator');
        const code = appCode(secret, service.clock);
        assert.equal((await client.send('/sign-in/authenticator', { email: alice, code })).status, 303);
        assert.match((await client.open('/')).html, /is not verified yet/);
        assert.match(
          (await client.send('/account/authenticator/remove', {})).html,
          /the last way to sign in/,
        );
        assert.match((await client.send('/account/verify', {})).html, /Check your mail/);
        if (how === 'its code') {
          const fields = { email: alice, code: await codeOf(service, alice) };
          assert.equal((await client.send('/sign-in/code', fields)).status, 303);
        } else {
          const link = await linkIn(service, alice);
          assert.match((await client.open(link)).html, /You are signed in as alice@example\.com/);
          const token = new URL(link, service.url).searchParams.get('token') ?? '';
          assert.equal((await client.send('/sign-in/link', { token })).status, 303);
        }
        const page = (await client.open('/')).html;
        assert.match(page, /verified<\/span>/);
        assert.match(page, /set up<\/span>/);
      });
    }

    test('an account is deleted after a confirmation', async (context) => {
      const service = await startService(context, world);
      const client = await signedIn(service, alice);
      assert.match((await client.open('/account/delete')).html, /Delete the account of alice@example\.com\?/);
      assert.equal((await client.send('/account/delete', {})).status, 303);
      assert.match((await client.open('/')).html, /Your account is deleted/);
      assert.deepEqual(await service.database.kysely.selectFrom('user').selectAll().execute(), []);
    });

    test('a passkey is renamed and removed by its owner only', async (context) => {
      const service = await startService(context, world);
      const client = await signedIn(service, alice);
      const { access_token: token } = await service.signIn(alice);
      const device = authenticator();
      await register(service, device, { email: alice, token });
      const id = device.credentialId;
      assert.match((await client.open('/')).html, /This device/);
      const blank = await client.send('/account/passkeys/edit', { id, name: ' ' });
      assert.equal(blank.status, 400);
      assert.match(blank.html, /Name is required/);
      assert.equal((await client.send('/account/passkeys/edit', { id, name: '<b>Key</b>' })).status, 303);
      assert.match((await client.open('/')).html, /&lt;b&gt;Key&lt;\/b&gt;/);
      const stranger = await signedIn(service, 'charlie@example.com');
      for (const path of ['edit', 'remove']) {
        assert.equal((await stranger.open(`/account/passkeys/${path}?id=${id}`)).status, 404);
        assert.equal((await stranger.send(`/account/passkeys/${path}`, { id, name: 'Mine' })).status, 404);
      }
      assert.match((await client.open(`/account/passkeys/remove?id=${id}`)).html, /Remove “/);
      assert.equal((await client.send('/account/passkeys/remove', { id })).status, 303);
      assert.match((await client.open('/')).html, /is removed/);
    });

    test('tokens never reach the page, which is small and has a strict policy', async (context) => {
      const service = await startService(context, world);
      const client = await signedIn(service, alice);
      for (const path of ['/', '/sign-in', '/account/delete']) {
        const { html, headers } = await client.open(path);
        assert.doesNotMatch(html, /eyJ/);
        assert.match(headers.get('content-security-policy') ?? '', /default-src 'self'/);
        assert.doesNotMatch(headers.get('content-security-policy') ?? '', /unsafe/);
        assert.equal(headers.get('cache-control'), 'no-store');
        assert.ok(html.length < 20_000, `${path} has ${html.length} bytes`);
      }
      const { status, html } = await client.open('/nothing');
      assert.equal(status, 404);
      assert.match(html, /Page not found[\s\S]*Go to the start page/);
      assert.match(html, /<nav aria-label="Main">.*href="\/docs"/s);
    });
  });
});

function sessionIds(html: string): string[] {
  return [...html.matchAll(/name="id" value="([^"]+)"/g)].map(([, id]) => id ?? '');
}
