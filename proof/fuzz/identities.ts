import { systemClock } from '@octavo/core';
import { sendRequest } from '@octavo/testing';
import { appCode } from '@octavo/testing/sign-in';
import type { Random } from '../random.ts';
import { password, type Services } from './services.ts';

/** A sender of requests to a service. */
export interface Identity {
  readonly role: 'stranger' | 'user' | 'administrator';
  headers: Readonly<Record<string, string>>;
  /** Signs in again, since requests may have ended the session or the account. */
  renew(): Promise<void>;
}

type SignIn = (url: string, client: Readonly<Record<string, string>>) => Promise<string | undefined>;

let people = 0;
const nextMail = () => `person${++people}@example.com`;

/** Sends JSON and returns that of the response. */
async function post(url: string, body: object, headers: Readonly<Record<string, string>>) {
  return (await sendRequest(url, { body, headers })).json;
}

const scheme = (name: string, token: unknown) => (typeof token === 'string' ? `${name} ${token}` : undefined);

/** The `Authorization` of a new user, by service. */
const users: Readonly<Record<string, SignIn>> = {
  gateway: async (url, client) =>
    scheme(
      'Bearer',
      (await post(`${url}/api/v1/auth/login`, { username: 'editor', password }, client))?.data?.token,
    ),
  tokens: async (url, client) => {
    const account = { email: nextMail(), password };
    await post(`${url}/auth/register`, account, client);
    const found = await post(`${url}/auth/login`, account, client);
    return scheme('Bearer', found?.tokens?.accessToken);
  },
  passwordless: async (url, client) => {
    const email = nextMail();
    const { secret } = await post(`${url}/totp/enroll`, { email }, client);
    if (typeof secret !== 'string') return undefined;
    const code = appCode(secret, systemClock);
    return scheme('Bearer', (await post(`${url}/totp/verify`, { email, code }, client))?.access_token);
  },
  quotes: async (url, client) => {
    const account = { username: `person${++people}`, password };
    await post(`${url}/api/register/`, account, client);
    return scheme('Bearer', (await post(`${url}/api/token/`, account, client))?.access);
  },
  budgets: async (url, client) =>
    scheme(
      'Bearer',
      (await post(`${url}/api/auth/register`, { email: nextMail(), password }, client))?.token,
    ),
  portfolio: async (url, client) => {
    const { json } = await sendRequest(`${url}/auth/token`, {
      headers: { ...client, authorization: `Basic ${Buffer.from('fuzz:fuzz').toString('base64')}` },
    });
    return scheme('Bearer', json?.access_token ?? json?.token);
  },
};

/** The `Authorization` of an administrator, by service. */
const administrators: Readonly<
  Record<
    string,
    (url: string, username: string, client: Readonly<Record<string, string>>) => Promise<string | undefined>
  >
> = {
  gateway: async (url, _username, client) =>
    scheme(
      'Bearer',
      (await post(`${url}/api/v1/auth/login`, { username: 'admin', password }, client))?.data?.token,
    ),
  polls: async (url, username, client) =>
    scheme('Token', (await post(`${url}/api/token/`, { username, password }, client))?.token),
  quotes: async (url, username, client) =>
    scheme('Bearer', (await post(`${url}/api/token/`, { username, password }, client))?.access),
};

/** A header with an address that no other request has. */
export function newClient(random: Random): Readonly<Record<string, string>> {
  const parts = [10, random.below(256), random.below(256), random.below(256)];
  return { 'x-forwarded-for': parts.join('.') };
}

/** Callers of a service's API. */
export function identitiesOf(name: string, services: Services, random: Random): Identity[] {
  const url = services.sites.get(name) ?? '';
  const stranger: Identity = { role: 'stranger', headers: {}, renew: async () => {} };
  const found = [stranger];
  const user = users[name];
  if (user) found.push(identity('user', () => user(url, newClient(random))));
  const administrator = administrators[name];
  if (administrator)
    found.push(
      identity('administrator', async () => {
        const known = await administrator(url, 'root', newClient(random));
        if (known || name === 'gateway') return known;
        // Some request has disabled the account, or deleted it.
        const username = `root${++people}`;
        await services.administrator(name, username);
        return administrator(url, username, newClient(random));
      }),
    );
  return found;
}

function identity(role: Identity['role'], signIn: () => Promise<string | undefined>): Identity {
  const self: Identity = {
    role,
    headers: {},
    async renew() {
      const authorization = await signIn();
      self.headers = authorization ? { authorization } : {};
    },
  };
  return self;
}
