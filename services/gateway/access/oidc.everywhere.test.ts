import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { PageClient } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { Person } from '../testing.ts';

const audience = 'https://posts.example';
const proven = { email: 'somebody@example.com', email_verified: true };
const provider = await TestProvider.start();
provider.people
  .set('ann', { sub: 'ann', preferred_username: 'Änn', roles: ['admins'] })
  .set('ed', { sub: 'ed', preferred_username: 'editor', roles: ['writers'] })
  .set('vic', { sub: 'vic', preferred_username: 'vic', ...proven });
const system = await startTestSystem({
  ...provider.settingsFor('posts'),
  OIDC_ADDRESS: audience,
  MFA_ASSERTION: 'signed',
  OIDC_ROLE_MAP: 'admins=admin,writers=editor',
});
provider.addClient('posts', audience);
after(async () => {
  await system[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

async function signedIn(person: string): Promise<Walker> {
  provider.person = person;
  const walker = new Walker(new PageClient(system.url));
  assert.equal((await walker.signIn('/account')).location, '/account');
  await walker.client.open('/account');
  return walker;
}

test('roles of the provider are those of the account, and a person without one is a viewer', async () => {
  const page = await new PageClient(system.url).open('/');
  assert.match(page.html, /Sign in with Octavo[\s\S]*name="password"/);
  const ann = await (await signedIn('ann')).client.open('/account');
  assert.match(ann.html, /Ann[\s\S]*admin: full access[\s\S]*connected to Octavo/);
  const ed = await (await signedIn('ed')).client.open('/account');
  assert.match(ed.html, /editor2[\s\S]*editor: reads and writes/);
  const vic = await signedIn('vic');
  assert.match((await vic.client.open('/account')).html, /viewer: reads posts/);
  provider.people.set('vic', { sub: 'vic', roles: ['writers'] });
  const again = await signedIn('vic');
  assert.match((await again.client.open('/account')).html, /vic[\s\S]*editor: reads and writes/);
  // The other browser has a token of before. What authz allowed is cached for a second.
  assert.match((await vic.client.open('/posts')).html, /vic[\s\S]{0,200}editor/);
});

test('who proved no address has no access, by pages and by the API, and gets no account', async () => {
  const unproven = { email: 'ceo@example.org', email_verified: false };
  for (const claims of [{}, unproven, { ...unproven, roles: ['superuser'] }]) {
    provider.people.set('mallory', { sub: 'mallory', preferred_username: 'mallory', ...claims });
    provider.person = 'mallory';
    const walker = new Walker(new PageClient(system.url));
    const refused = await walker.signIn('/account');
    assert.match(refused.location, /sign-in/);
    assert.match((await walker.client.open(refused.location)).html, /people with a verified e-mail address/);
    assert.match((await walker.client.open('/account')).html, /<h1>Sign in<\/h1>/);
    const token = await provider.accessToken(audience, claims);
    assert.equal((await new Person(system.url, token).call('GET', '/posts')).status, 403);
  }
  const { admin } = system.passwords;
  const staff = new PageClient(system.url);
  await staff.open('/');
  await staff.send('/sign-in', { username: 'admin', password: admin, next: '/' });
  const { html } = await staff.open('/users');
  assert.match(html, /editor2/);
  assert.doesNotMatch(html, /mallory/);
});

test('OIDC_DEFAULT_ROLE=none asks everybody for a role', async (t) => {
  const strict = await startTestSystem({
    ...provider.settingsFor('posts'),
    OIDC_ADDRESS: audience,
    OIDC_DEFAULT_ROLE: 'none',
  });
  t.after(() => strict[Symbol.asyncDispose]());
  provider.people
    .set('wendy', { sub: 'wendy', ...proven })
    .set('rita', { sub: 'rita', roles: ['viewer'], ...proven });
  const signIn = async (person: string) => {
    provider.person = person;
    const walker = new Walker(new PageClient(strict.url));
    const { location } = await walker.signIn('/account');
    return walker.client.open(location);
  };
  assert.match((await signIn('wendy')).html, /You need a role at Octavo to use Posts/);
  assert.match((await signIn('rita')).html, /viewer: reads posts/);
  const status = async (person: string, claims: object) => {
    provider.person = person;
    const token = await provider.accessToken(audience, { ...proven, ...claims });
    return (await new Person(strict.url, token).call('GET', '/posts')).status;
  };
  assert.deepEqual([await status('wendy', {}), await status('rita', { roles: ['viewer'] })], [403, 200]);
});

test('who has an account connects it', async () => {
  provider.people.set('viewer-there', { sub: 'viewer-there', roles: [], ...proven });
  provider.person = 'viewer-there';
  const walker = new Walker(new PageClient(system.url));
  await walker.client.open('/account');
  const { viewer } = system.passwords;
  await walker.client.send('/sign-in', { username: 'viewer', password: viewer, next: '/account' });
  assert.match((await walker.client.open('/account')).html, /Connect with Octavo/);
  const lead = await walker.client.send('/sign-in/oidc/connect', { next: '/account' });
  await walker.finish(lead.headers.get('refresh')?.replace('0; url=', '') ?? '');
  assert.match((await walker.client.open('/account')).html, /connected to Octavo/);
  assert.match((await (await signedIn('viewer-there')).client.open('/account')).html, />viewer</);
});

test('a session ends with a sign-out here or there, for its token too', async () => {
  const [ann, other] = [await signedIn('ann'), await signedIn('ann')];
  const out = await ann.client.send('/sign-out', {});
  assert.match(out.headers.get('refresh') ?? '', /session\/end/);
  assert.equal((await other.client.open('/account')).status, 200);
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const token = await provider.sign({ aud: 'posts', sub: 'ann', events }, { typ: 'logout+jwt' });
  const body = new URLSearchParams({ logout_token: token });
  const told = await fetch(`${system.url}/sign-in/oidc/back-channel`, { method: 'POST', body });
  assert.equal(told.status, 200);
  // What authz allowed is cached for a second.
  const ended = async () => /<h1>Sign in<\/h1>/.test((await other.client.open('/account')).html);
  for (let tries = 0; tries < 100 && !(await ended()); tries++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(await ended(), true);
});

test('the API takes access tokens of the provider, with the role that they name', async () => {
  const status = async (token: string, method: string, path: string) =>
    (await new Person(system.url, token).call(method, path, method === 'POST' ? { body: post } : {})).status;
  const post = { title: 'A title', body: 'A body' };
  provider.person = 'frank';
  const reader = await provider.accessToken(audience, proven);
  assert.equal(await status(reader, 'GET', '/posts'), 200);
  assert.equal(await status(reader, 'POST', '/posts'), 403);
  const writer = await provider.accessToken(audience, { roles: ['writers'] });
  assert.equal(await status(writer, 'POST', '/posts'), 201);
  assert.equal(await status(reader, 'POST', '/posts'), 403, 'each token has its own role');
  const created = await new Person(system.url, writer).create();
  const deleted = (token: string) => status(token, 'DELETE', `/posts/${created.id}`);
  const weak = await provider.accessToken(audience, { roles: ['writers'], amr: ['email'] });
  const strong = await provider.accessToken(audience, { roles: ['writers'], amr: ['email', 'otp', 'mfa'] });
  assert.deepEqual([await deleted(writer), await deleted(weak), await deleted(strong)], [403, 403, 200]);
  assert.equal(await status(await provider.accessToken('https://quotes.example'), 'GET', '/posts'), 401);
  assert.equal(await status(`${reader.slice(0, -8)}AAAAAAAA`, 'GET', '/posts/nothing/here'), 401);
});
