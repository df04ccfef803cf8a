import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '#kit/base/clock.ts';
import { openServiceAccounts } from '#kit/service-accounts.ts';
import { appCode } from '#kit/testing/authenticator.ts';
import { testFolder } from '#kit/testing/folder.ts';
import { sendRequest, type TestRequest } from '#kit/testing/http-client.ts';
import { PageClient } from '#kit/testing/page-client.ts';
import { loadServices, startSystem, upNames } from '../services/index.ts';
import { contextFor } from '../services/system.ts';

const right = 'correct horse battery staple';
const wrong = 'not the password';
const environment = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'silent',
  OCTAVO_DATA: testFolder('limits'),
  OCTAVO_SSO: 'off',
  ARGON2_MEMORY_KIB: '8',
  ARGON2_PASSES: '1',
  TRUST_PROXY: '1',
  PASSWORDLESS_TRUST_PROXY: '1',
  AUTH_CLIENTS: 'known:long-enough-a-secret',
};
const admins = ['passwordless', 'polls', 'quotes', 'budgets', 'portfolio'];
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
after(() => system[Symbol.asyncDispose]());
const urls = new Map((await system.addresses()).map(({ name, url }) => [name, url]));

let clients = 0;
/** Header of a client with an address of its own, so that its limits are its own. */
const newClient = () => ({ 'x-forwarded-for': `198.51.100.${++clients}` });

async function ask(service: string, path: string, request: TestRequest) {
  const { status, text, headers } = await sendRequest(`${urls.get(service)}${path}`, request);
  return { status, text, headers };
}

type Attempt = (name: 'known' | 'unknown', client: Record<string, string>) => ReturnType<typeof ask>;

const post =
  (service: string, path: string, bodyOf: (name: string) => object): Attempt =>
  (name, headers) =>
    ask(service, path, { body: bodyOf(name), headers });

const mailOf = (name: string) => `${name}@example.com`;
const byMail = (name: string) => ({ email: mailOf(name), password: wrong });
const byName = (name: string) => ({ username: name, password: wrong });

/** Sign-ins with wrong credentials: failures that are answered as such, and what comes after them. */
const table: Readonly<
  Record<string, { attempt: Attempt; refused: number; failures: number; last: 423 | 429 | 200 }>
> = {
  'gateway login': {
    attempt: post('gateway', '/api/v1/auth/login', (name) => ({
      ...byName(name === 'known' ? 'viewer' : name),
    })),
    refused: 401,
    failures: 10,
    last: 429,
  },
  'tokens login': { attempt: post('tokens', '/auth/login', byMail), refused: 401, failures: 5, last: 423 },
  'magic link request': {
    attempt: post('passwordless', '/request/magic', (name) => ({ email: mailOf(name) })),
    refused: 200,
    failures: 31,
    // It is throttled, and tells nobody.
    last: 200,
  },
  'TOTP code': {
    attempt: post('passwordless', '/totp/verify', (name) => ({ email: mailOf(name), code: '000000' })),
    refused: 401,
    failures: 5,
    last: 429,
  },
  'recovery code': {
    attempt: post('passwordless', '/recovery/verify', (name) => ({
      email: mailOf(name),
      code: 'aaaa-bbbb-cccc-dddd',
    })),
    refused: 401,
    failures: 60,
    last: 429,
  },
  'mailed code': {
    attempt: post('passwordless', '/verify/magic', (name) => ({ email: mailOf(name), code: '000000' })),
    refused: 401,
    failures: 60,
    last: 429,
  },
  'polls token': { attempt: post('polls', '/api/token/', byName), refused: 400, failures: 5, last: 429 },
  'quotes token': { attempt: post('quotes', '/api/token/', byName), refused: 401, failures: 5, last: 429 },
  'budgets login': {
    attempt: post('budgets', '/api/auth/login', byMail),
    refused: 401,
    failures: 5,
    last: 423,
  },
  'portfolio token': {
    attempt: (name, client) => {
      const authorization = `Basic ${Buffer.from(`${name}:${wrong}`).toString('base64')}`;
      return ask('portfolio', '/auth/token', { headers: { authorization, ...client } });
    },
    refused: 401,
    failures: 30,
    last: 429,
  },
  ...Object.fromEntries(
    admins.map((service) => [
      `${service} admin`,
      { attempt: signInToAdmin(service), refused: 401, failures: 5, last: 429 as const },
    ]),
  ),
};

function signInToAdmin(service: string): Attempt {
  return async (name, headers) => {
    const browser = new PageClient(urls.get(service) as string);
    await browser.open('/admin/login/', { headers });
    const {
      status,
      html,
      headers: given,
    } = await browser.send('/admin/login/', byName(`${name}-admin`), headers);
    return { status, text: /role="alert"[^>]*>(.*?)<\/(?:div|p)>/s.exec(html)?.[1] ?? html, headers: given };
  };
}

await sendRequest(`${urls.get('tokens')}/auth/register`, {
  body: { email: mailOf('known'), password: right },
  headers: newClient(),
});
await sendRequest(`${urls.get('budgets')}/api/auth/register`, {
  body: { email: mailOf('known'), password: right },
  headers: newClient(),
});
const enrolled = await sendRequest(`${urls.get('passwordless')}/totp/enroll`, {
  body: { email: mailOf('known') },
  headers: newClient(),
});
const confirmed = await sendRequest(`${urls.get('passwordless')}/totp/verify`, {
  body: { email: mailOf('known'), code: appCode(enrolled.json.secret, systemClock) },
  headers: newClient(),
});
assert.equal(confirmed.status, 200, confirmed.text);

for (const [way, { attempt, refused, failures, last }] of Object.entries(table)) {
  test(`${way}: wrong credentials are refused alike for names that exist and that do not, until it is enough`, async () => {
    const seen = new Map<string, string[]>();
    for (const name of ['known', 'unknown'] as const) {
      const client = newClient();
      const answers: string[] = [];
      for (let count = 0; count <= failures; count++) {
        const { status, text, headers } = await attempt(name, client);
        answers.push(`${status} ${sameFor(text, name)}`);
        assert.equal(status, count < failures ? refused : last, `${name}, attempt ${count + 1}: ${text}`);
        if (count === failures && last !== 200)
          assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/, 'Retry-After in seconds');
      }
      seen.set(name, answers);
    }
    assert.deepEqual(seen.get('known'), seen.get('unknown'));
  });
}

test('a service whose database is gone is not ready and says so, and is alive', {
  timeout: 30_000,
}, async () => {
  const folder = environment.OCTAVO_DATA;
  // The portal and tokens keep nothing on disk.
  const sites = [...urls].filter(([name]) => !['portal', 'tokens'].includes(name));
  const readinessOf = async (url: string) => {
    const response = await fetch(`${url}/readiness`);
    const { checks } = (await response.json()) as { checks: Record<string, string> };
    return { status: response.status, checks };
  };
  for (const [name, url] of sites) assert.equal((await readinessOf(url)).status, 200, name);
  for (const file of readdirSync(folder).filter((each) => each.includes('.sqlite')))
    rmSync(join(folder, file));
  for (const [name, url] of sites) {
    let readiness = await readinessOf(url);
    // A result is kept for a moment.
    while (readiness.status === 200) readiness = await readinessOf(url);
    const { status, checks } = readiness;
    assert.equal(status, 503, name);
    assert.match(Object.values(checks).join(), /\.sqlite was deleted or replaced/, name);
    assert.equal((await fetch(`${url}${name === 'chat' ? '/livez' : '/health'}`)).status, 200, name);
  }
  for (const name of ['portal', 'tokens'])
    assert.equal((await fetch(`${urls.get(name)}/readiness`)).status, 200);
});

/** The text of an answer without what differs by request: ids, seconds, form tokens and the name that was sent. */
function sameFor(text: string, name: string): string {
  return text
    .replaceAll(name === 'known' ? /known|viewer/g : /unknown/g, 'NAME')
    .replace(/"request_?[iI]d":"[^"]*"/, '')
    .replaceAll(/\d+/g, 'N');
}
