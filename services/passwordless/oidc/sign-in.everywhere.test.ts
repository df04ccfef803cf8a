import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { appCode } from '@octavo/testing/sign-in';
import { alice, bob, claimsOf, enrollApp, inTestMode, startService } from '../testing.ts';
import { codeOf, linkIn } from '../testing-pages.ts';
import { removeClient } from './index.ts';
import {
  attempt,
  callback,
  exchange,
  follow,
  goOn,
  register,
  responseOf,
  signInHere,
  signInto,
  startProvider,
  token,
} from './testing.ts';

await inTestMode((world) => {
  describe('signing in for an application', () => {
    test('the link of the mail goes on in the tab where it is opened', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const browser = new PageClient(service.url);
      const { path, verifier } = attempt(app);
      await follow(browser, path);
      await browser.send('/sign-in', { email: alice });
      const link = await linkIn(service, alice);
      await browser.open(link);
      const sent = await browser.send('/sign-in/link', {
        token: new URL(link, service.url).searchParams.get('token') ?? '',
      });
      assert.match(sent.location, /^\/oidc\/interaction\//);
      const { code } = responseOf(await goOn(browser, sent));
      assert.equal((await exchange(service, app, { code, verifier })).status, 200);
      await browser.open('/sign-in');
      const later = await browser.send('/sign-in', { email: alice });
      assert.equal(later.status, 200);
      const home = await browser.send('/sign-in/code', { email: alice, code: await codeOf(service, alice) });
      assert.equal(home.location, '/', 'nothing waits any more');
    });

    test('no page of the flow needs a script, and forms may lead on', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service, { isFirstParty: false });
      const browser = new PageClient(service.url);
      const page = await follow(browser, attempt(app).path);
      assert.doesNotMatch(page.html, /<script(?![^>]*src=)/);
      const consent = await signInHere(service, browser, alice);
      assert.doesNotMatch(consent.html, /<script(?![^>]*src=)/);
      assert.match(
        consent.headers.get('content-security-policy') ?? '',
        /form-action 'self' https:\/\/app\.example;/,
      );
    });

    test('a foreign application needs consent, which names it and what it learns', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service, { name: 'Foreign <b>', isFirstParty: false });
      const browser = new PageClient(service.url);
      const { path, verifier } = attempt(app, { scope: 'openid email' });
      await follow(browser, path);
      const page = await signInHere(service, browser, alice);
      assert.match(page.html, /Foreign &lt;b&gt;/);
      assert.match(page.html, /https:\/\/app\.example/);
      assert.match(page.html, /your e-mail address/);
      assert.doesNotMatch(page.html, /your roles/);
      const at = /action="(\/oidc\/interaction\/[^"]+)\/consent"/.exec(page.html)?.[1] ?? '';
      const agreed = await goOn(browser, await browser.send(`${at}/consent`, {}));
      const tokens = (await exchange(service, app, { code: responseOf(agreed).code, verifier })).json;
      const { email, roles } = claimsOf(tokens.id_token);
      assert.deepEqual([email, roles], [alice, undefined]);
      assert.ok(
        (await follow(browser, attempt(app, { scope: 'openid email' }).path)).location.startsWith(callback),
      );
      const more = await follow(browser, attempt(app, { scope: 'openid email roles' }).path);
      assert.match(more.html, /your roles/, 'more needs another consent');
      const again = /action="(\/oidc\/interaction\/[^"]+)\/cancel"/.exec(more.html)?.[1] ?? '';
      const declined = await goOn(browser, await browser.send(`${again}/cancel`, {}));
      assert.equal(responseOf(declined).error, 'access_denied');
    });

    test('prompt=login and max_age ask again', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const { browser } = await signInto(service, app, alice);
      const page = await follow(browser, attempt(app, { prompt: 'login' }).path);
      assert.match(page.html, /Sign in again/);
      service.clock.advance(2_000);
      const sent = await signInHere(service, browser, alice);
      assert.ok(responseOf(sent).code);
    });

    test('max_age asks again when the sign-in is older', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      service.clock.advance(-100_000);
      const { browser } = await signInto(service, app, alice);
      assert.ok(responseOf(await follow(browser, attempt(app, { max_age: '1000' }).path)).code);
      service.clock.advance(100_000);
      const { path, verifier } = attempt(app, { max_age: '50' });
      assert.match((await follow(browser, path)).html, /Sign in again/);
      const { code } = responseOf(await signInHere(service, browser, alice));
      const tokens = (await exchange(service, app, { code, verifier })).json;
      assert.ok(claimsOf(tokens.id_token).auth_time * 1_000 >= service.clock.now() - 2_000);
    });

    test('acr_values=mfa asks for a second factor', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const pair = await service.signIn(alice);
      const { secret } = await enrollApp(service, alice, pair.access_token);
      service.clock.advance(60_000);
      const browser = new PageClient(service.url);
      const { path, verifier } = attempt(app, { acr_values: 'mfa' });
      await follow(browser, path);
      const second = await signInHere(service, browser, alice);
      assert.match(second.html, /requires two ways to sign in/);
      assert.match(second.html, /\/sign-in\/authenticator/);
      await browser.open('/sign-in/authenticator');
      const sent = await browser.send('/sign-in/authenticator', {
        email: alice,
        code: appCode(secret, service.clock),
      });
      const { code } = responseOf(await goOn(browser, sent));
      const { acr, amr } = claimsOf((await exchange(service, app, { code, verifier })).json.id_token);
      assert.deepEqual([acr, amr], ['mfa', ['email', 'otp', 'mfa']]);
      const none = await new PageClient(service.url).open(
        attempt(app, { acr_values: 'mfa', prompt: 'none' }).path,
      );
      assert.equal(responseOf(none).error, 'login_required');
    });

    test('who has one factor is told how to add another', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const browser = new PageClient(service.url);
      await follow(browser, attempt(app, { acr_values: 'mfa' }).path);
      const page = await signInHere(service, browser, bob);
      assert.match(page.html, /Add a second way to sign in/);
      assert.match(page.html, /Open your account/);
    });

    test('another user in the same browser gets sessions of their own', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const { browser } = await signInto(service, app, alice);
      const { path, verifier } = attempt(app, { prompt: 'login' });
      await follow(browser, path);
      service.clock.advance(2_000);
      const { code } = responseOf(await signInHere(service, browser, bob));
      const tokens = (await exchange(service, app, { code, verifier })).json;
      assert.equal(claimsOf(tokens.id_token).email, bob);
    });

    test('a restart ends no session, and a removed application gets nothing more', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const { browser, tokens } = await signInto(service, app, alice);
      const environment = { PASSWORDLESS_MAGIC_LINK_BASE_URL: '', PASSWORDLESS_URL: service.url };
      const next = await startService(t, world, { beside: service, environment });
      const moved = new PageClient(next.url);
      for (const [name, value] of browser.cookies) moved.cookies.set(name, value);
      assert.ok(responseOf(await moved.open(attempt(app).path)).code);
      const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
      const renewed = await token(next, app, refresh);
      assert.equal(renewed.status, 200, renewed.text);
      await removeClient(service.database, app.id);
      const refused = await token(next, app, { ...refresh, refresh_token: renewed.json.refresh_token });
      assert.deepEqual([refused.status, refused.json.error], [401, 'invalid_client']);
    });
  });
});
