import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { PageClient, until } from '@octavo/testing';
import { alice, inTestMode } from '../testing.ts';
import { codeOf } from '../testing-pages.ts';
import {
  attempt,
  basic,
  exchange,
  follow,
  register,
  responseOf,
  signInHere,
  signInto,
  startProvider,
} from './testing.ts';

/** Attacks of RFC 9700 section 4 by what a request says: addresses to call, weaker protection, other ways back. */
await inTestMode((world) => {
  describe('requests that attack the provider', () => {
    test('no address in a request is called (SSRF)', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const trap = await startTrap(t);
      const unsigned = (claims: object) => `${encoded({ alg: 'none' })}.${encoded(claims)}.`;
      const signed = `${encoded({ alg: 'RS256', jku: trap.url, x5u: trap.url })}.${encoded({ iss: app.id, aud: service.url, client_id: app.id })}.AAAA`;
      for (const [params, error] of [
        [{ request_uri: `${trap.url}/request.jwt` }, 'request_uri_not_supported'],
        [{ request: unsigned({ client_id: app.id, redirect_uri: trap.url }) }, 'request_not_supported'],
        [{ request: signed }, 'request_not_supported'],
        [{ registration: JSON.stringify({ jwks_uri: trap.url }) }, 'registration_not_supported'],
      ] as const) {
        const { location } = await new PageClient(service.url).open(attempt(app, params).path);
        assert.match(location, new RegExp(`^https://app\\.example/callback\\?error=${error}&`));
      }
      const logins = [
        { initiate_login_uri: trap.url, login_hint: trap.url, id_token_hint: signed },
        { claims: JSON.stringify({ userinfo: { sub: { jku: trap.url } } }), ui_locales: trap.url },
      ];
      for (const params of logins) await follow(new PageClient(service.url), attempt(app, params).path);
      const assertion = {
        grant_type: 'authorization_code',
        code: 'x',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: signed,
      };
      const refused = await service.call('POST', '/oidc/token', {
        body: new URLSearchParams({ ...assertion, client_id: app.id }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
      assert.ok([400, 401].includes(refused.status), refused.text);
      const registration = { redirect_uris: ['https://mallory.example/'], jwks_uri: trap.url };
      for (const path of ['/oidc/reg', '/oidc/register', '/oidc/request', '/oidc/par', '/oidc/device/auth']) {
        const { status } = await service.call('POST', path, {
          body: JSON.stringify(registration),
          headers: { 'content-type': 'application/json', authorization: basic(app) },
        });
        assert.equal(status, 404, path);
      }
      assert.deepEqual(trap.requests, []);
    });

    test('a back channel that answers with a redirect is not followed, and has not confirmed', async (t) => {
      const service = await startProvider(t, world);
      const [inside, outside] = [await startTrap(t), await startTrap(t)];
      outside.redirect = `${inside.url}/latest/meta-data/`;
      const app = await register(service, { backChannel: `${outside.url}/back-channel` });
      const { browser } = await signInto(service, app, alice);
      await browser.open('/');
      await browser.send('/sign-out', {});
      await until(async () => outside.requests.length > 0);
      const waiting = () => service.database.kysely.selectFrom('oidc_logout').selectAll().execute();
      await until(async () => (await waiting())[0]?.tries === 1);
      assert.deepEqual([outside.requests.length, inside.requests], [1, []]);
    });

    test('PKCE cannot be left out on the way (downgrade)', async (t) => {
      const service = await startProvider(t, world);
      const browser = new PageClient(service.url);
      for (const isPublic of [false, true]) {
        const app = await register(service, { name: isPublic ? 'Public' : 'Secret', isPublic });
        const plain = { code_challenge: 'v'.repeat(43), code_challenge_method: 'plain' };
        const without = { code_challenge: undefined, code_challenge_method: undefined };
        for (const stripped of [without, plain, { code_challenge_method: undefined }]) {
          const { error, code } = responseOf(await browser.open(attempt(app, stripped).path));
          assert.deepEqual([error, code], ['invalid_request', undefined]);
        }
        const begun = attempt(app);
        const page = await follow(browser, begun.path);
        const { code } = responseOf(page.location ? page : await signInHere(service, browser, alice));
        for (const verifier of ['', 'x'.repeat(43), `${begun.verifier}x`])
          assert.equal((await exchange(service, app, { code, verifier })).status, 400);
        assert.equal((await exchange(service, app, { code, verifier: begun.verifier })).status, 200);
      }
    });

    test('a code comes back in the query of the registered address only', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const { browser } = await signInto(service, app, alice);
      for (const mode of ['web_message', 'fragment.jwt', 'query.jwt', 'none']) {
        const response = await browser.open(attempt(app, { response_mode: mode }).path);
        assert.doesNotMatch(`${response.location}${response.html}`, /[?&#]code=|name="code"/, mode);
      }
      const twice = attempt(app).path;
      const other = `${twice}&redirect_uri=${encodeURIComponent('https://mallory.example/')}`;
      const { status, location } = await browser.open(other);
      assert.deepEqual([status, location], [400, '']);
    });

    test('credentials are not sent on by a redirect, and no page of the flow can be framed or leaves its address', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service, { isFirstParty: false });
      const browser = new PageClient(service.url);
      const shown = await follow(browser, attempt(app).path);
      assert.equal((await browser.send('/sign-in', { email: alice })).status, 200);
      const sent = await browser.send('/sign-in/code', { email: alice, code: await codeOf(service, alice) });
      // 307 and 308 would make the browser send the form again.
      assert.equal(sent.status, 303);
      const consent = await follow(browser, sent.location);
      assert.match(consent.html, /Continue to App/);
      for (const { headers } of [shown, sent, consent]) {
        assert.equal(headers.get('x-frame-options'), 'DENY');
        assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
        assert.match(headers.get('referrer-policy') ?? '', /^(no-referrer|same-origin)$/);
        assert.match(headers.get('cache-control') ?? '', /no-store/);
      }
    });
  });
});

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** A server that the provider must never call. */
async function startTrap(t: TestContext): Promise<{ url: string; requests: string[]; redirect?: string }> {
  const trap: { url: string; requests: string[]; redirect?: string } = { url: '', requests: [] };
  const server = createServer((request, response) => {
    trap.requests.push(request.url ?? '');
    if (trap.redirect === undefined) response.end('{}');
    else response.writeHead(307, { location: trap.redirect }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  trap.url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  return trap;
}
