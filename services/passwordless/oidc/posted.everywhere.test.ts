import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { alice, inTestMode, type TestService } from '../testing.ts';
import {
  attempt,
  exchange,
  follow,
  goOn,
  register,
  responseOf,
  signInHere,
  signInto,
  startProvider,
} from './testing.ts';

await inTestMode((world) => {
  describe('requests of browsers by POST', () => {
    test('begin a sign-in, as those by GET do', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const browser = new PageClient(service.url);
      for (const isKnown of [false, true]) {
        const { path, verifier, state } = attempt(app);
        const page = await goOn(browser, await posted(service, path, browser));
        const response = responseOf(isKnown ? page : await signInHere(service, browser, alice));
        assert.equal(response.state, state);
        assert.equal((await exchange(service, app, { code: response.code, verifier })).status, 200);
      }
      const none = await posted(service, attempt(app, { prompt: 'none' }).path, new PageClient(service.url));
      const { error } = responseOf(await goOn(new PageClient(service.url), none));
      assert.equal(error, 'login_required');
    });

    test('end a session, with the ID token in no address', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service, { postLogouts: ['https://app.example/bye'] });
      const { browser, tokens } = await signInto(service, app, alice);
      const fields = { id_token_hint: tokens.id_token, post_logout_redirect_uri: 'https://app.example/bye' };
      const led = await posted(service, `/oidc/session/end?${new URLSearchParams(fields)}`, browser);
      assert.equal(led.status, 303);
      for (const part of tokens.id_token.split('.')) assert.ok(!led.location.includes(part));
      const page = await browser.open(led.location);
      assert.match(page.html, /data-submit/, 'the hint counts');
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
      const left = await browser.send('/oidc/session/end/confirm', { xsrf, logout: 'yes' });
      assert.equal(left.location, 'https://app.example/bye');
      assert.match((await follow(browser, attempt(app).path)).html, /Mail me a link/);
    });

    test('are refused if they are too long or no form, and open for a minute at their own address', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const send = (body: string, type: string) =>
        service.call('POST', '/oidc/auth', { body, headers: { 'content-type': type } });
      assert.equal((await send(`state=${'x'.repeat(5_000)}`, form)).status, 413);
      assert.equal((await send('{}', 'application/json')).status, 415);
      const browser = new PageClient(service.url);
      const { location } = await posted(service, attempt(app).path, browser);
      const elsewhere = location.replace('/oidc/auth', '/oidc/session/end');
      const changed = `${location.slice(0, -4)}AAAA`;
      for (const address of [elsewhere, changed, '/oidc/auth?form=x'])
        assert.equal((await browser.open(address)).status, 400, address);
      service.clock.advance(60_000);
      const late = await browser.open(location);
      assert.equal(late.status, 400);
      assert.match(late.html, /This request has expired/);
    });
  });
});

const form = 'application/x-www-form-urlencoded';

/** Sends the query of a path as a form, as a page of another site does. */
function posted(service: TestService, path: string, browser: PageClient) {
  const { pathname, searchParams } = new URL(path, service.url);
  return browser.open(pathname, {
    method: 'POST',
    body: searchParams,
    headers: { 'sec-fetch-site': 'cross-site', origin: 'https://app.example', cookie: '' },
  });
}
