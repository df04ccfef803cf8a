import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { PageClient } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import * as openid from 'openid-client';
import { alice } from '../testing.ts';
import { codeOf } from '../testing-pages.ts';
import { basic, callback, follow, goOn, register, signInHere, startProvider } from './testing.ts';

/** Applications with third-party clients. */
const world = { databaseUrl: undefined };
const run = promisify(execFile);
const browser = testBrowser();

test('openid-client signs in, refreshes, reads claims and signs out', async (t) => {
  const service = await startProvider(t, world);
  const app = await register(service, { postLogouts: ['https://app.example/bye'] });
  const options = { execute: [openid.allowInsecureRequests] };
  const config = await openid.discovery(new URL(service.url), app.id, app.secret, undefined, options);
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [openid.randomState(), openid.randomNonce()];
  const address = openid.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: 'openid email roles',
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
  });
  const visitor = new PageClient(service.url);
  await follow(visitor, `${address.pathname}${address.search}`);
  const { location } = await signInHere(service, visitor, alice);
  const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
  const tokens = await openid.authorizationCodeGrant(config, new URL(location), checks);
  const claims = tokens.claims();
  assert.deepEqual([claims?.email, claims?.roles], [alice, []]);
  const me = await openid.fetchUserInfo(config, tokens.access_token, claims?.sub ?? '');
  assert.equal(me.email, alice);
  const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
  assert.equal(renewed.claims()?.sub, claims?.sub);
  await openid.tokenRevocation(config, renewed.refresh_token ?? '');
  await assert.rejects(openid.refreshTokenGrant(config, renewed.refresh_token ?? ''), {
    error: 'invalid_grant',
  });
  const end = openid.buildEndSessionUrl(config, {
    id_token_hint: tokens.id_token ?? '',
    post_logout_redirect_uri: 'https://app.example/bye',
  });
  const page = await visitor.open(`${end.pathname}${end.search}`);
  assert.match(page.html, /Sign out/);
});

describe('in a browser', { skip: browser.skip }, () => {
  test('oidc-client-ts signs in and out from a page of another site, with consent', async (t) => {
    const service = await startProvider(t, world);
    const origin = await servePage(t);
    const app = await register(service, {
      name: 'Browser app',
      redirects: [`${origin}/`],
      postLogouts: [`${origin}/`],
      isPublic: true,
      isFirstParty: false,
    });
    const { page } = await browser.open({ baseUrl: service.url });
    await page.goto(`${origin}/?authority=${encodeURIComponent(service.url)}&client=${app.id}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('to continue to Browser app').waitFor();
    await page.getByLabel('E-mail').fill(alice);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
    await page.getByLabel('Code').fill(await codeOf(service, alice));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Continue to Browser app?' }).waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText(`Hello ${alice}`).waitFor();
    await page.getByRole('button', { name: 'Renew' }).click();
    await page.getByText('Renewed').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign out' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${origin}/**`);
    await page.goto(`${service.url}/`);
    await page.getByRole('button', { name: 'Mail me a link' }).waitFor();
  });
});

const python = '/usr/bin/python3';
const hasAuthlib =
  existsSync(python) &&
  (await run(python, ['-c', 'import authlib, requests']).then(
    () => true,
    () => false,
  ));
if (!hasAuthlib && process.env.CI === 'true') throw new Error('python3-authlib is not installed');
const withoutAuthlib = hasAuthlib ? false : 'python3-authlib and python3-requests are not installed';

test('authlib of Python signs in and verifies the ID token', { skip: withoutAuthlib }, async (t) => {
  const service = await startProvider(t, world);
  const app = await register(service);
  const python3 = (step: string, ...args: string[]) =>
    run(python, ['-c', script, step, service.url, app.id, app.secret ?? '', callback, ...args], {
      env: { ...process.env, AUTHLIB_INSECURE_TRANSPORT: '1' },
    });
  const begun = JSON.parse((await python3('begin')).stdout);
  const visitor = new PageClient(service.url);
  const { pathname, search } = new URL(begun.address);
  await follow(visitor, `${pathname}${search}`);
  const { location } = await signInHere(service, visitor, alice);
  const { stdout } = await python3('end', begun.state, begun.verifier, location);
  assert.equal(JSON.parse(stdout).email, alice);
});

test('curl alone can do the flow', async (t) => {
  const service = await startProvider(t, world);
  const app = await register(service);
  const { verifier, path } = await import('./testing.ts').then(({ attempt }) => attempt(app));
  const visitor = new PageClient(service.url);
  await follow(visitor, path);
  const { location } = await goOn(visitor, await signInHere(service, visitor, alice));
  const code = new URL(location).searchParams.get('code') ?? '';
  const fields = { grant_type: 'authorization_code', code, redirect_uri: callback, code_verifier: verifier };
  const body = Object.entries(fields).flatMap(([name, value]) => ['--data-urlencode', `${name}=${value}`]);
  const authorization = `authorization: ${basic(app)}`;
  const { stdout } = await run('curl', ['-sS', `${service.url}/oidc/token`, '-H', authorization, ...body]);
  assert.equal(JSON.parse(stdout).token_type, 'Bearer');
});

const script = `
import json, sys
from authlib.integrations.requests_client import OAuth2Session
from authlib.jose import JsonWebKey, jwt
import requests
step, issuer, client_id, secret, redirect, *rest = sys.argv[1:]
found = requests.get(issuer + '/.well-known/openid-configuration').json()
session = OAuth2Session(client_id, secret, scope='openid email', redirect_uri=redirect, code_challenge_method='S256')
if step == 'begin':
    verifier = 'v' * 64
    address, state = session.create_authorization_url(found['authorization_endpoint'], code_verifier=verifier)
    print(json.dumps({'address': address, 'state': state, 'verifier': verifier}))
else:
    state, verifier, response = rest
    token = session.fetch_token(found['token_endpoint'], authorization_response=response, state=state, code_verifier=verifier)
    keys = JsonWebKey.import_key_set(requests.get(found['jwks_uri']).json())
    claims = jwt.decode(token['id_token'], keys, claims_options={'iss': {'value': issuer}, 'aud': {'value': client_id}})
    claims.validate()
    print(json.dumps({'email': claims['email']}))
`;

/** A page on an origin of its own, with the browser build of oidc-client-ts. */
async function servePage(t: { after(end: () => void): void }): Promise<string> {
  const library = readFileSync(
    new URL('../../../node_modules/oidc-client-ts/dist/browser/oidc-client-ts.min.js', import.meta.url),
  );
  const html = `<!doctype html><meta charset="utf-8"><title>App</title><script src="/library.js"></script>
<button id="in">Sign in</button><button id="renew">Renew</button><button id="out">Sign out</button><p id="state"></p><script src="/app.js"></script>`;
  const app = `
    const given = new URL(location.href).searchParams;
    if (given.has('authority')) localStorage.setItem('settings', JSON.stringify({ authority: given.get('authority'), client_id: given.get('client') }));
    const manager = new oidc.UserManager({ ...JSON.parse(localStorage.getItem('settings')), redirect_uri: location.origin + '/',
      post_logout_redirect_uri: location.origin + '/', scope: 'openid email', loadUserInfo: true, automaticSilentRenew: false });
    const show = (text) => { document.querySelector('#state').textContent = text; };
    document.querySelector('#in').onclick = () => manager.signinRedirect();
    document.querySelector('#out').onclick = () => manager.signoutRedirect();
    document.querySelector('#renew').onclick = () => manager.signinSilent().then(() => show('Renewed'), (error) => show(String(error)));
    if (given.has('code')) manager.signinCallback().then((user) => show('Hello ' + user.profile.email), (error) => show(String(error)));
  `;
  const server = createServer((request, response) => {
    if (request.url === '/library.js')
      return response.setHeader('content-type', 'text/javascript').end(library);
    if (request.url === '/app.js') return response.setHeader('content-type', 'text/javascript').end(app);
    return response.setHeader('content-type', 'text/html').end(html);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
}
