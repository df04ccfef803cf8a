import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { newSecret } from '@octavo/core';
import { PageClient, type PageResponse } from '@octavo/testing';
import { startService, type TestOptions, type TestService, type World } from '../testing.ts';
import { codeOf } from '../testing-pages.ts';
import { addClient, type NewClient } from './index.ts';

type Json = Response['json'];
type Response = Awaited<ReturnType<TestService['call']>>;

/** An application of the tests. */
export interface TestApplication {
  readonly id: string;
  readonly secret: string | undefined;
  readonly redirect: string;
}

export const callback = 'https://app.example/callback';

/** Starts the service under its own address as the issuer. The library has no clock but the system's, so ours begins with it. */
export async function startProvider(
  t: Parameters<typeof startService>[0],
  world: World,
  options: TestOptions = {},
): Promise<TestService> {
  const environment = { PASSWORDLESS_MAGIC_LINK_BASE_URL: '', ...options.environment };
  const service = await startService(t, world, { ...options, environment });
  if (!options.beside) service.clock.set(Date.now());
  return service;
}

export async function register(
  service: TestService,
  given: Partial<NewClient> = {},
): Promise<TestApplication> {
  const { redirects = [callback] } = given;
  const { client, secret } = await addClient(service, {
    name: 'App',
    isFirstParty: true,
    ...given,
    redirects,
  });
  return { id: client.id, secret, redirect: redirects[0] ?? '' };
}

/** A request for a code, and what its response is checked against. */
export interface Attempt {
  readonly path: string;
  readonly verifier: string;
  readonly state: string;
}

/** A request as an application makes it; `undefined` leaves a parameter out. */
export function attempt(app: TestApplication, given: Record<string, string | undefined> = {}): Attempt {
  const [verifier, state] = [newSecret(), newSecret(8)];
  const all: Record<string, string | undefined> = {
    client_id: app.id,
    redirect_uri: app.redirect,
    response_type: 'code',
    scope: 'openid email profile roles',
    state,
    nonce: 'a-nonce',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...given,
  };
  const pairs = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return { path: `/oidc/auth?${new URLSearchParams(pairs)}`, verifier, state };
}

/** Follows redirects and pages that go on by themselves, as long as they stay at the provider. */
export async function follow(browser: PageClient, path: string): Promise<PageResponse> {
  return goOn(browser, await browser.open(path));
}

export async function goOn(browser: PageClient, given: PageResponse): Promise<PageResponse> {
  let response = given;
  for (let hops = 0; hops < 10; hops++) {
    const forward = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(response.html)?.[1];
    const next = response.location || forward;
    if (!next || (/^https?:/.test(next) && !/^http:\/\/localhost:\d+\/oidc\//.test(next))) return response;
    const { pathname, search } = new URL(next, 'http://localhost');
    response = await browser.open(`${pathname}${search}`);
  }
  throw new Error('too many redirects');
}

/** Signs in on the page that is shown, with the code of the mail, and goes on. */
export async function signInHere(
  service: TestService,
  browser: PageClient,
  email: string,
): Promise<PageResponse> {
  assert.equal((await browser.send('/sign-in', { email })).status, 200);
  const sent = await browser.send('/sign-in/code', { email, code: await codeOf(service, email) });
  assert.equal(sent.status, 303, sent.html);
  return goOn(browser, sent);
}

/** The parameters of the response that an application gets. */
export function responseOf({ location }: PageResponse): Record<string, string> {
  assert.ok(location.startsWith('https://app.example/'), `not an application: ${location}`);
  return Object.fromEntries(new URL(location).searchParams);
}

/** Calls the token endpoint as an application does. */
export function token(
  service: TestService,
  app: TestApplication,
  fields: Record<string, string | undefined>,
): Promise<Response> {
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  if (app.secret === undefined) pairs.push(['client_id', app.id]);
  return service.call('POST', '/oidc/token', {
    body: new URLSearchParams(pairs).toString(),
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      ...(app.secret !== undefined && { authorization: basic(app) }),
    },
  });
}

export function basic({ id, secret = '' }: TestApplication): string {
  return `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;
}

export function exchange(
  service: TestService,
  app: TestApplication,
  {
    code,
    verifier,
    ...more
  }: { code: string | undefined; verifier: string; [name: string]: string | undefined },
): Promise<Response> {
  const fields = {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: app.redirect,
  };
  return token(service, app, { ...fields, ...more });
}

/** The whole flow of a person who is not signed in. */
export async function signInto(
  service: TestService,
  app: TestApplication,
  email: string,
  given: { params?: Record<string, string>; browser?: PageClient } = {},
): Promise<{ browser: PageClient; tokens: Json }> {
  const { browser = new PageClient(service.url) } = given;
  const { path, verifier } = attempt(app, given.params);
  await follow(browser, path);
  const { code } = responseOf(await signInHere(service, browser, email));
  const response = await exchange(service, app, { code, verifier });
  assert.equal(response.status, 200, response.text);
  return { browser, tokens: response.json };
}
