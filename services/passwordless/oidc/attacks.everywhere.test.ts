import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { alice, bob, claimsOf, inTestMode, startService, type TestService } from '../testing.ts';
import {
  type Attempt,
  attempt,
  basic,
  callback,
  exchange,
  follow,
  register,
  responseOf,
  signInHere,
  signInto,
  startProvider,
  type TestApplication,
  token,
} from './testing.ts';

/** Attacks on providers by RFC 9700 section 2, and what must become of them. */
await inTestMode((world) => {
  describe('attacks on the provider', () => {
    test('a redirect address must match exactly: no prefix, path, port, case, query or user', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service, {
        redirects: ['https://app.example/callback', 'http://127.0.0.1:4000/cb'],
      });
      for (const redirect of [
        'https://app.example/callback/',
        'https://app.example/callback/..',
        'https://app.example/callback2',
        'https://app.example/',
        'https://app.example/Callback',
        'https://APP.example/callback',
        'https://app.example:443/callback',
        'https://app.example:8443/callback',
        'http://app.example/callback',
        'https://app.example/callback?next=//evil.example',
        'https://app.example/callback#x',
        'https://app.example@evil.example/callback',
        'https://app.example.evil.example/callback',
        'https://evil.example/callback',
        'http://127.0.0.1:4001/cb',
        'http://localhost:4000/cb',
        'javascript:alert(1)',
        '',
      ]) {
        const response = await new PageClient(service.url).open(
          attempt(app, { redirect_uri: redirect }).path,
        );
        assert.equal(response.status, 400, redirect);
        assert.equal(response.location, '', redirect);
        assert.match(response.html, /could not sign you in/, redirect);
      }
      const missing = await new PageClient(service.url).open(attempt(app, { redirect_uri: undefined }).path);
      assert.deepEqual([missing.status, missing.location], [400, '']);
    });

    test('PKCE is required, and only with S256', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      for (const wrong of [
        { code_challenge_method: 'plain' },
        { code_challenge_method: undefined },
        { code_challenge: undefined, code_challenge_method: undefined },
        { code_challenge: 'short' },
      ]) {
        const { error } = responseOf(await new PageClient(service.url).open(attempt(app, wrong).path));
        assert.equal(error, 'invalid_request', JSON.stringify(wrong));
      }
    });

    test('other flows are refused', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      for (const type of ['token', 'id_token', 'code id_token', 'code token', 'none']) {
        const response = await new PageClient(service.url).open(attempt(app, { response_type: type }).path);
        assert.match(response.location, /error=unsupported_response_type/, type);
      }
      for (const grant of [
        'password',
        'client_credentials',
        'implicit',
        'urn:ietf:params:oauth:grant-type:device_code',
      ]) {
        const response = await token(service, app, { grant_type: grant, username: alice, password: 'x' });
        assert.deepEqual([response.status, response.json.error], [400, 'unsupported_grant_type'], grant);
      }
    });

    test('a code works once: a second use ends what the first one gave', async (t) => {
      const { service, app, code, verifier } = await codeFor(t);
      const first = await exchange(service, app, { code, verifier });
      assert.equal(first.status, 200, first.text);
      invalid(await exchange(service, app, { code, verifier }));
      const { refresh_token, access_token } = first.json;
      invalid(await token(service, app, { grant_type: 'refresh_token', refresh_token }));
      assert.equal((await service.get('/oidc/me', access_token)).status, 401);
    });

    test('of uses of a code at the same time in two replicas, at most one succeeds', async (t) => {
      const { service, app, code, verifier } = await codeFor(t);
      const environment = { PASSWORDLESS_MAGIC_LINK_BASE_URL: '', PASSWORDLESS_URL: service.url };
      const replica = await startService(t, world, { beside: service, environment });
      const responses = await Promise.all(
        [service, replica, service, replica, service, replica].map((each) =>
          exchange(each, app, { code, verifier }),
        ),
      );
      const statuses = responses.map(({ status }) => status).sort();
      assert.deepEqual(statuses, [200, 400, 400, 400, 400, 400]);
    });

    test('a stolen code is useless without its verifier, at another address, and to another application', async (t) => {
      const { service, app, code, verifier } = await codeFor(t);
      const thief = await register(service, { name: 'Thief', isFirstParty: false });
      invalid(await exchange(service, thief, { code, verifier }));
      invalid(await exchange(service, app, { code, verifier: 'x'.repeat(43) }));
      const none = await token(service, app, {
        grant_type: 'authorization_code',
        code,
        redirect_uri: app.redirect,
      });
      assert.equal(none.status, 400);
      invalid(await exchange(service, app, { code, verifier, redirect_uri: 'https://app.example/other' }));
      assert.equal((await exchange(service, app, { code, verifier })).status, 200);
    });

    test('a code of one attempt does not fit the verifier of another (code injection)', async (t) => {
      const { service, app, code, browser } = await codeFor(t);
      const mine = attempt(app);
      const own = responseOf(await follow(browser, mine.path));
      invalid(await exchange(service, app, { code, verifier: mine.verifier }));
      assert.equal((await exchange(service, app, { code: own.code, verifier: mine.verifier })).status, 200);
    });

    test('a wrong secret, none, or that of another application is refused', async (t) => {
      const { service, app, code, verifier } = await codeFor(t);
      const other = await register(service, { name: 'Other' });
      for (const secret of ['wrong', other.secret, '', undefined]) {
        const response = await exchange(service, { ...app, secret }, { code, verifier });
        assert.ok([400, 401].includes(response.status), response.text);
        assert.match(response.json.error, /invalid_(client|request)/);
      }
      const stored = await service.database.kysely.selectFrom('oidc_client').selectAll().execute();
      assert.ok(stored.every((row) => row.secret_hash && !JSON.stringify(row).includes(app.secret ?? '?')));
      const hash = stored.find(({ id }) => id === app.id)?.secret_hash ?? '';
      assert.equal((await exchange(service, { ...app, secret: hash }, { code, verifier })).status, 401);
      assert.equal((await exchange(service, app, { code, verifier })).status, 200);
    });

    test('a refresh token works once, for its own application; used again, it ends the grant', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const other = await register(service, { name: 'Other' });
      const { tokens } = await signInto(service, app, alice);
      const first = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
      invalid(await token(service, other, first));
      const renewed = await token(service, app, first);
      assert.equal(renewed.status, 200, renewed.text);
      invalid(await token(service, app, first));
      invalid(await token(service, app, { ...first, refresh_token: renewed.json.refresh_token }));
      const wider = await signInto(service, app, bob, { params: { scope: 'openid' } });
      const scoped = {
        grant_type: 'refresh_token',
        refresh_token: wider.tokens.refresh_token,
        scope: 'openid roles',
      };
      assert.equal((await token(service, app, scoped)).json.error, 'invalid_scope');
    });

    test('codes, refresh tokens and sessions are stored as hashes', async (t) => {
      const { service, app, code, verifier, browser } = await codeFor(t);
      const before = await everything(service);
      const { refresh_token, access_token } = (await exchange(service, app, { code, verifier })).json;
      const cookie = browser.cookies.get('oidc_session') ?? '';
      assert.ok(code && cookie);
      const all = `${before}${await everything(service)}`;
      for (const secret of [code, refresh_token, access_token, cookie]) assert.ok(!all.includes(secret));
    });

    test('every response names its issuer, also errors (mix-up)', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const failed = await new PageClient(service.url).open(attempt(app, { prompt: 'none' }).path);
      assert.deepEqual([responseOf(failed).error, responseOf(failed).iss], ['login_required', service.url]);
      const { tokens } = await signInto(service, app, alice);
      assert.equal(claimsOf(tokens.id_token).iss, service.url);
    });

    test('a sign-out does not lead to strangers', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service, { postLogouts: ['https://app.example/bye'] });
      const { browser, tokens } = await signInto(service, app, alice);
      for (const to of [
        'https://evil.example/',
        'https://app.example/bye/',
        'https://app.example/bye?x=1',
        '//evil.example',
      ]) {
        const query = new URLSearchParams({ id_token_hint: tokens.id_token, post_logout_redirect_uri: to });
        const response = await browser.open(`/oidc/session/end?${query}`);
        assert.deepEqual([response.status, response.location], [400, ''], to);
      }
      const anonymous = new URLSearchParams({ post_logout_redirect_uri: 'https://evil.example/' });
      const page = await browser.open(`/oidc/session/end?${anonymous}`);
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
      const left = await browser.send('/oidc/session/end/confirm', { xsrf });
      assert.match(left.location, /^http:\/\/localhost:\d+\/oidc\/session\/end\/success/);
      const forged = await browser.send('/oidc/session/end/confirm', { xsrf: 'wrong', logout: 'yes' });
      assert.equal(forged.status, 400);
      assert.match((await browser.open('/')).html, /Sign out everywhere/);
      assert.equal((await follow(browser, attempt(app).path)).location.startsWith(callback), true);
    });

    test('a request of one browser cannot go on in another', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const [victim, attacker] = [new PageClient(service.url), new PageClient(service.url)];
      const begun = await attacker.open(attempt(app).path);
      const { pathname } = new URL(begun.location, service.url);
      await signInto(service, app, alice, { browser: victim });
      const page = await victim.open(pathname);
      assert.equal(page.status, 404);
      assert.match(page.html, /started in another browser/);
      assert.equal((await victim.send(`${pathname}/consent`, {})).status, 404);
    });

    test('an access token is for one audience, and no application gets one for a stranger', async (t) => {
      const service = await startProvider(t, world);
      const posts = await register(service, {
        name: 'Posts',
        redirects: ['https://app.example/posts'],
        audience: 'https://posts.example',
      });
      await register(service, { name: 'Foreign', isFirstParty: false, audience: 'https://foreign.example' });
      const { tokens } = await signInto(service, posts, alice, {
        params: { resource: 'https://posts.example' },
      });
      const { aud, client_id, iss, roles, exp, iat } = claimsOf(tokens.access_token);
      assert.deepEqual(
        [aud, client_id, iss, roles, exp - iat],
        ['https://posts.example', 'posts', service.url, [], 600],
      );
      const header = JSON.parse(Buffer.from(tokens.access_token.split('.')[0], 'base64url').toString());
      assert.deepEqual([header.typ, header.alg], ['at+jwt', 'ES256']);
      assert.equal((await service.get('/oidc/me', tokens.access_token)).status, 401);
      assert.equal(
        (await service.get('/me', tokens.access_token)).status,
        401,
        'the API has tokens of its own',
      );
      for (const resource of ['https://foreign.example', 'https://unknown.example', 'not an address']) {
        const response = await new PageClient(service.url).open(attempt(posts, { resource }).path);
        assert.match(response.location, /error=invalid_target/, resource);
      }
    });

    test('an application cannot revoke tokens of another', async (t) => {
      const service = await startProvider(t, world);
      const [app, other] = [await register(service), await register(service, { name: 'Other' })];
      const { tokens } = await signInto(service, app, alice);
      const revoke = (by: TestApplication) =>
        service.call('POST', '/oidc/token/revocation', {
          body: new URLSearchParams({ token: tokens.refresh_token }).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: basic(by) },
        });
      await revoke(other);
      assert.equal((await service.get('/oidc/me', tokens.access_token)).status, 200);
      assert.equal((await revoke(app)).status, 200);
      invalid(
        await token(service, app, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }),
      );
    });

    test('pages of other sites may not use the token endpoint, but for a public application its own', async (t) => {
      const service = await startProvider(t, world);
      const [secret, open] = [
        await register(service),
        await register(service, { name: 'Open', isPublic: true }),
      ];
      const ask = (app: TestApplication, origin: string) =>
        service.call('POST', '/oidc/token', {
          body: new URLSearchParams({
            grant_type: 'refresh_token',
            refresh_token: 'x',
            client_id: app.id,
          }).toString(),
          headers: {
            'content-type': 'application/x-www-form-urlencoded',
            origin,
            ...(app.secret !== undefined && { authorization: basic(app) }),
          },
        });
      const allowed = async (app: TestApplication, origin: string) =>
        (await ask(app, origin)).headers.get('access-control-allow-origin');
      assert.equal(await allowed(open, 'https://app.example'), 'https://app.example');
      assert.equal(await allowed(open, 'https://evil.example'), null);
      assert.equal(await allowed(secret, 'https://app.example'), null);
      const keys = await service.call('GET', '/oidc/jwks', { headers: { origin: 'https://any.example' } });
      assert.equal(keys.headers.get('access-control-allow-origin'), 'https://any.example');
    });

    test('a body that is too long and floods are refused, in the words of the protocol', async (t) => {
      const environment = {
        PASSWORDLESS_LIMIT_OIDC_PER_IP: '5',
        PASSWORDLESS_LIMIT_OIDC_PER_APPLICATION: '8',
      };
      const service = await startProvider(t, world, { environment });
      const app = await register(service);
      const long = await token(service, app, { grant_type: 'authorization_code', code: 'x'.repeat(100_000) });
      assert.ok([400, 413].includes(long.status), String(long.status));
      assert.equal(long.json.error, 'invalid_request');
      // Strangers use up what their address may do, under a wrong secret, under none, and with a broken header.
      const strangers = [
        { ...app, secret: 'wrong' },
        { ...app, secret: undefined },
        { ...app, id: '%' },
      ];
      for (let count = 0; count < 5; count++) {
        const stranger = strangers[count % 3] ?? app;
        assert.ok([400, 401].includes((await token(service, stranger, { grant_type: 'x' })).status));
      }
      for (const stranger of strangers) {
        const { status, json } = await token(service, stranger, { grant_type: 'x' });
        assert.deepEqual([status, json.error], [429, 'temporarily_unavailable']);
      }
      // The application and browsers, all at the same address, go on.
      const { browser, tokens } = await signInto(service, app, alice, {});
      const renewal = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
      assert.equal((await token(service, app, renewal)).status, 200);
      for (let count = 0; count < 6; count++)
        assert.equal((await token(service, app, { grant_type: 'x' })).status, 400);
      const over = await token(service, app, { grant_type: 'x' });
      assert.deepEqual([over.status, over.json.error], [429, 'temporarily_unavailable']);
      const other = await register(service, { name: 'Other' });
      assert.equal((await token(service, other, { grant_type: 'x' })).status, 400);
      const pages = [];
      for (let count = 0; count < 6; count++) pages.push(await browser.open(attempt(app).path));
      assert.equal(pages.at(-1)?.status, 429);
      assert.match(pages.at(-1)?.html ?? '', /Too many attempts/);
    });

    async function codeFor(
      t: Parameters<typeof startProvider>[0],
    ): Promise<
      Attempt & { service: TestService; app: TestApplication; browser: PageClient; code: string | undefined }
    > {
      const service = await startProvider(t, world);
      const app = await register(service);
      const browser = new PageClient(service.url);
      const begun = attempt(app);
      await follow(browser, begun.path);
      const { code } = responseOf(await signInHere(service, browser, alice));
      return { ...begun, service, app, browser, code };
    }
  });
});

function invalid(response: Awaited<ReturnType<typeof token>>): void {
  assert.deepEqual([response.status, response.json.error], [400, 'invalid_grant'], response.text);
}

async function everything({ database }: TestService): Promise<string> {
  return JSON.stringify(await database.kysely.selectFrom('oidc_record').selectAll().execute());
}
