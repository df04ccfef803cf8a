import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { appCode } from '@octavo/testing/sign-in';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { alice, claimsOf, enrollApp, inTestMode } from '../testing.ts';
import { grantRole } from '../users/index.ts';
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
  describe('the OpenID provider', () => {
    test('describes itself under its issuer, whatever host the request names', async (t) => {
      const service = await startProvider(t, world);
      const response = await service.call('GET', '/.well-known/openid-configuration', {
        headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
      });
      assert.equal(response.status, 200, response.text);
      const found = response.json;
      assert.equal(found.issuer, service.url);
      assert.equal(found.authorization_endpoint, `${service.url}/oidc/auth`);
      assert.equal(found.token_endpoint, `${service.url}/oidc/token`);
      assert.equal(found.userinfo_endpoint, `${service.url}/oidc/me`);
      assert.equal(found.jwks_uri, `${service.url}/oidc/jwks`);
      assert.equal(found.end_session_endpoint, `${service.url}/oidc/session/end`);
      assert.equal(found.revocation_endpoint, `${service.url}/oidc/token/revocation`);
      assert.deepEqual(found.response_types_supported, ['code']);
      assert.deepEqual(found.code_challenge_methods_supported, ['S256']);
      assert.deepEqual(found.id_token_signing_alg_values_supported, ['ES256']);
      assert.deepEqual(found.grant_types_supported.toSorted(), ['authorization_code', 'refresh_token']);
      assert.equal(found.authorization_response_iss_parameter_supported, true);
      assert.equal(found.backchannel_logout_supported, true);
      assert.ok(!found.registration_endpoint && !found.introspection_endpoint);
    });

    test('signs in, and gives tokens with the claims of the user', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      await service.signIn(alice);
      await grantRole(service, alice, { role: 'admin', service: undefined });
      await grantRole(service, alice, { role: 'editor', service: app.id });
      await grantRole(service, alice, { role: 'secret', service: 'another' });
      const browser = new PageClient(service.url);
      const { path, verifier, state } = attempt(app);
      const page = await follow(browser, path);
      assert.equal(page.status, 200);
      assert.match(page.html, /to continue to <strong>App<\/strong>/);
      const response = responseOf(await signInHere(service, browser, alice));
      assert.deepEqual([response.state, response.iss], [state, service.url]);
      const tokens = await exchange(service, app, { code: response.code, verifier });
      assert.equal(tokens.status, 200, tokens.text);
      const { id_token: idToken, access_token: accessToken, refresh_token: refreshToken } = tokens.json;
      const keys = createLocalJWKSet((await service.get('/oidc/jwks')).json);
      const { payload, protectedHeader } = await jwtVerify(idToken, keys, {
        issuer: service.url,
        audience: app.id,
      });
      assert.equal(protectedHeader.alg, 'ES256');
      const { sub, email, email_verified, name, roles, amr, acr, nonce } = payload;
      assert.deepEqual(
        { email, email_verified, name, roles, amr, acr, nonce },
        {
          email: alice,
          email_verified: true,
          name: 'alice',
          roles: ['admin', 'editor'],
          amr: ['email'],
          acr: 'sfa',
          nonce: 'a-nonce',
        },
      );
      assert.equal(typeof payload.auth_time, 'number');
      const me = await service.get('/oidc/me', accessToken);
      assert.deepEqual(me.json, { sub, email, email_verified, name, roles });
      const renewed = await token(service, app, { grant_type: 'refresh_token', refresh_token: refreshToken });
      assert.equal(renewed.status, 200, renewed.text);
      assert.equal(claimsOf(renewed.json.id_token).sub, sub);
      assert.notEqual(renewed.json.refresh_token, refreshToken);
    });

    test('a signed-in user goes through without a page', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const { browser } = await signInto(service, app, alice);
      const other = await register(service, { name: 'Other' });
      const again = await browser.open(attempt(other).path);
      assert.equal(again.status, 303);
      assert.ok(again.location.startsWith(callback));
      const none = await new PageClient(service.url).open(attempt(app, { prompt: 'none' }).path);
      assert.equal(responseOf(none).error, 'login_required');
    });

    test('tells no name of a user without a verified address', async (t) => {
      const service = await startProvider(t, world);
      const app = await register(service);
      const { secret } = await enrollApp(service, 'ceo@example.org');
      const browser = new PageClient(service.url);
      const { path, verifier } = attempt(app);
      await follow(browser, path);
      const code = appCode(secret, service.clock, 1);
      const sent = await browser.send('/sign-in/authenticator', { email: 'ceo@example.org', code });
      const { code: granted } = responseOf(await goOn(browser, sent));
      const { json } = await exchange(service, app, { code: granted, verifier });
      const { email, name, email_verified } = claimsOf(json.id_token);
      assert.deepEqual([email, name, email_verified], [undefined, undefined, false]);
      assert.equal((await service.get('/oidc/me', json.access_token)).json.name, undefined);
    });
  });
});
