import assert from 'node:assert/strict';
import { systemClock } from '@octavo/core';
import { openServiceAccounts } from '@octavo/people/accounts';
import { PageClient, sendRequest, type TestRequest } from '@octavo/testing';
import { appCode } from '@octavo/testing/sign-in';
import { loadServices, startSystem, upNames } from '../apps/octavo/index.ts';
import { contextFor } from '../apps/octavo/system.ts';

/** Sends wrong credentials for a name, as a client with these headers. */
export type Attempt = (
  name: 'known' | 'unknown',
  client: Readonly<Record<string, string>>,
) => Promise<{ readonly status: number; readonly text: string; readonly headers: Headers }>;

const right = 'correct horse battery staple';
const wrong = 'not the password';

/** Services whose staff have accounts of their own. */
export const admins = ['passwordless', 'polls', 'quotes', 'budgets', 'portfolio'];

/** The suite with an account for the name `known` at every sign-in, and none for `unknown`. */
export interface SignIns extends AsyncDisposable {
  readonly urls: ReadonlyMap<string, string>;
  /** One attempt for each way to sign in. */
  readonly attempts: Readonly<Record<string, Attempt>>;
  /** Headers of a client with an address of its own, so that its limits are its own. */
  newClient(): Readonly<Record<string, string>>;
}

export async function startSignIns(given: Readonly<Record<string, string>>): Promise<SignIns> {
  const environment = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    OCTAVO_SSO: 'off',
    ARGON2_PASSES: '1',
    TRUST_PROXY: '1',
    PASSWORDLESS_TRUST_PROXY: '1',
    AUTH_CLIENTS: 'known:long-enough-a-secret',
    ...given,
  };
  for (const service of await loadServices(admins)) {
    await using stack = new AsyncDisposableStack();
    const context = contextFor(service.name, { environment });
    const accounts = await openServiceAccounts(service, { environment, context, stack });
    // The token of an API and the admin share the lock of a name.
    for (const username of ['known', 'known-admin'])
      await accounts.create({ username, password: right, isStaff: true, isSuperuser: true });
  }
  const names = upNames();
  const ports = Object.fromEntries(names.map((name) => [name, 0]));
  const system = await startSystem(names, { environment, ports });
  const urls = new Map((await system.addresses()).map(({ name, url }) => [name, url]));
  let clients = 0;
  const newClient = () => ({ 'x-forwarded-for': `203.0.${++clients >> 8}.${clients & 255}` });
  await createAccounts(urls, newClient);
  return {
    urls,
    attempts: attemptsAt(urls),
    newClient,
    [Symbol.asyncDispose]: () => system[Symbol.asyncDispose](),
  };
}

async function createAccounts(
  urls: ReadonlyMap<string, string>,
  newClient: () => Readonly<Record<string, string>>,
): Promise<void> {
  const email = mailOf('known');
  const send = (service: string, path: string, body: object) =>
    sendRequest(`${urls.get(service)}${path}`, { body, headers: newClient() });
  await send('tokens', '/auth/register', { email, password: right });
  await send('budgets', '/api/auth/register', { email, password: right });
  const enrolled = await send('passwordless', '/totp/enroll', { email });
  const code = appCode(enrolled.json.secret, systemClock);
  const confirmed = await send('passwordless', '/totp/verify', { email, code });
  assert.equal(confirmed.status, 200, confirmed.text);
}

function attemptsAt(urls: ReadonlyMap<string, string>): Readonly<Record<string, Attempt>> {
  const ask = async (service: string, path: string, request: TestRequest) => {
    const { status, text, headers } = await sendRequest(`${urls.get(service)}${path}`, request);
    return { status, text, headers };
  };
  const post =
    (service: string, path: string, bodyOf: (name: string) => object): Attempt =>
    (name, headers) =>
      ask(service, path, { body: bodyOf(name), headers });
  return {
    'gateway login': post('gateway', '/api/v1/auth/login', (name) =>
      byName(name === 'known' ? 'viewer' : name),
    ),
    'tokens login': post('tokens', '/auth/login', byMail),
    'magic link request': post('passwordless', '/request/magic', (name) => ({ email: mailOf(name) })),
    'TOTP code': post('passwordless', '/totp/verify', (name) => ({ email: mailOf(name), code: '000000' })),
    'recovery code': post('passwordless', '/recovery/verify', (name) => ({
      email: mailOf(name),
      code: 'aaaa-bbbb-cccc-dddd',
    })),
    'mailed code': post('passwordless', '/verify/magic', (name) => ({ email: mailOf(name), code: '000000' })),
    'polls token': post('polls', '/api/token/', byName),
    'quotes token': post('quotes', '/api/token/', byName),
    'budgets login': post('budgets', '/api/auth/login', byMail),
    'portfolio token': (name, client) => {
      const authorization = `Basic ${Buffer.from(`${name}:${wrong}`).toString('base64')}`;
      return ask('portfolio', '/auth/token', { headers: { authorization, ...client } });
    },
    ...Object.fromEntries(
      admins.map((service) => [`${service} admin`, signInToAdmin(urls.get(service) as string)]),
    ),
  };
}

function signInToAdmin(url: string): Attempt {
  return async (name, headers) => {
    const browser = new PageClient(url);
    await browser.open('/admin/login/', { headers });
    const response = await browser.send('/admin/login/', byName(`${name}-admin`), headers);
    const { status, html } = response;
    const text = /role="alert"[^>]*>(.*?)<\/(?:div|p)>/s.exec(html)?.[1] ?? html;
    return { status, text, headers: response.headers };
  };
}

const mailOf = (name: string) => `${name}@example.com`;
const byMail = (name: string) => ({ email: mailOf(name), password: wrong });
const byName = (name: string) => ({ username: name, password: wrong });
