import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openServiceAccounts } from '@octavo/people/accounts';
import { PageClient, testFolder } from '@octavo/testing';
import { loadServices, startSystem, upNames } from '../apps/octavo/index.ts';
import { contextFor } from '../apps/octavo/system.ts';

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security?: readonly object[];
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

test('the documents of every API begin with its resources and end with the probes', {
  timeout: 60_000,
}, async () => {
  const names = upNames();
  const environment = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    OCTAVO_DATA: testFolder('api-docs'),
    ARGON2_MEMORY_KIB: '8',
    ARGON2_PASSES: '1',
  };
  const ports = Object.fromEntries(names.map((name) => [name, 0]));
  await using system = await startSystem(names, { environment, ports });
  const undescribed: string[] = [];
  for (const { name, url } of await system.addresses()) {
    const { paths } = (await (await fetch(new URL('/openapi.json', url))).json()) as Document;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        what: `${name} ${method} ${path}`,
        ...operation,
      })),
    );
    const isProbe = operations.map((each) => each.tags?.includes('Probes') ?? false);
    assert.deepEqual(isProbe, isProbe.toSorted(), `${name}: probes come last`);
    for (const { what, summary, description = '', tags: own, security = [], responses } of operations) {
      assert.ok(summary && own?.length, what);
      const needsSignIn = security.length > 0 && security.every((each) => Object.keys(each).length > 0);
      assert.equal(needsSignIn && !responses[401], false, `${what}: 401 is among its responses`);
      // The sentence about who may call an operation is made for each, and comes last.
      const written = description.replace(/(^|\n\n)Needs (no sign-in|`)[^\n]*$/, '');
      if (written.trim() === '' || written === summary) undescribed.push(what);
      assert.ok(
        own.every((tag) => /^[A-Z]/.test(tag)),
        `${what}: tags are written in sentence case`,
      );
    }
    const page = await (await fetch(new URL('/docs', url))).text();
    assert.match(page, /<h1>[A-Z][^<]+<\/h1>/, name);
    const home = /<header class="home"><a href="([^"]+)"/.exec(page)?.[1];
    assert.ok(home, `${name}: /docs leads back to the pages`);
    // Some begin with the sign-in, which is 401.
    assert.ok([200, 401].includes((await fetch(new URL(home, url))).status), `${name} ${home}`);
  }
  assert.deepEqual(undescribed, [], 'operations without a description of their own');
});

test('a signed-in user of the pages can try the API at /docs with a token', {
  timeout: 60_000,
}, async () => {
  const [email, password] = ['alice@example.com', 'ferries wait in fog'];
  const environment = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    OCTAVO_SSO: 'off',
    OCTAVO_DATA: testFolder('api-docs-tokens'),
    DEMO_EDITOR_PASSWORD: password,
    ARGON2_MEMORY_KIB: '8',
    ARGON2_PASSES: '1',
  };
  // Accounts made before the start.
  const local = { isLocal: true, fields: { username: 'alice', password } };
  const services = {
    gateway: { fields: { username: 'editor', password }, read: '/api/v1/posts' },
    tokens: { register: '/auth/register', fields: { email, password }, read: '/auth/me' },
    budgets: { register: '/api/auth/register', fields: { email, password }, read: '/api/budgets' },
    polls: { ...local, signIn: '/admin/login/', read: '/api/questions/', scheme: 'Token' },
    quotes: { ...local, signIn: '/accounts/login/', read: '/api/quotes/' },
    portfolio: { ...local, signIn: '/admin/login/', read: '/api/team' },
  };
  const staffed = Object.entries(services).filter(([, service]) => 'isLocal' in service);
  for (const service of await loadServices(staffed.map(([name]) => name))) {
    await using stack = new AsyncDisposableStack();
    const context = contextFor(service.name, { environment });
    const accounts = await openServiceAccounts(service, { environment, context, stack });
    await accounts.create({ username: 'alice', password, isStaff: true, isSuperuser: false });
  }
  const names = Object.keys(services);
  const ports = Object.fromEntries(names.map((name) => [name, 0]));
  await using system = await startSystem(names, { environment, ports });
  for (const [name, service] of Object.entries(services)) {
    const url = (await system.urlOf(name)) ?? '';
    if ('register' in service) {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ email, password });
      assert.equal((await fetch(url + service.register, { method: 'POST', headers, body })).status, 201);
    }
    const alice = new PageClient(url);
    const token = async () =>
      JSON.parse((await alice.open('/docs/token', { headers: { accept: 'application/json' } })).html).token;
    assert.equal(await token(), null, `${name}: a stranger has none`);
    const signIn = 'signIn' in service ? service.signIn : '/sign-in';
    await alice.open(name === 'tokens' ? '/' : signIn);
    const { status, html } = await alice.send(signIn, service.fields);
    assert.ok([302, 303].includes(status), html);
    const scheme = 'scheme' in service ? service.scheme : 'Bearer';
    const headers = { authorization: `${scheme} ${await token()}` };
    assert.equal((await fetch(url + service.read, { headers })).status, 200, name);
    // Public lists refuse a token that is not valid, too.
    const wrong = { authorization: `${headers.authorization}x` };
    assert.equal((await fetch(url + service.read, { headers: wrong })).status, 401, name);
    assert.match((await alice.open('/docs/try')).html, /data-token="\/docs\/token"/);
  }
});
