import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { password, startBudgets } from '../testing.ts';

const audience = 'https://budgets.example';
const provider = await TestProvider.start();
provider.people
  .set('ann', { sub: 'ann', preferred_username: 'ann', roles: ['admin'] })
  .set('erin', { sub: 'erin', preferred_username: 'Erin', email: 'erin@example.com', email_verified: true });
const budgets = await startBudgets({
  environment: { ...provider.settingsFor('budgets'), OIDC_ADDRESS: audience },
});
provider.addClient('budgets', audience);
after(async () => {
  await budgets[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const newWalker = () => new Walker(new PageClient(budgets.url));

test('a person signs in with the provider, and signs out of both', async () => {
  provider.person = 'erin';
  const walker = newWalker();
  const { client } = walker;
  assert.match((await client.open('/sign-in')).html, /Sign in with Octavo[\s\S]*name="password"/);
  assert.equal((await walker.signIn('/settings')).location, '/settings');
  const page = await client.open('/settings');
  assert.match(page.html, /erin@example\.com/);
  assert.match(page.html, /connected to Octavo/);
  assert.match(page.html, /Erin/);
  const out = await client.send('/sign-out', {});
  assert.match(out.headers.get('refresh') ?? '', /session\/end/);
  assert.match((await client.open('/settings')).html, /<h1>Sign in<\/h1>/);
});

test('an address alone does not connect a person to an account', async () => {
  const alice = await budgets.person();
  provider.people.set('eve', { sub: 'eve', email: alice.email, email_verified: true });
  provider.person = 'eve';
  const walker = newWalker();
  await walker.signIn('/settings');
  const { html } = await walker.client.open('/settings');
  assert.ok(!html.includes(alice.email));
  assert.doesNotMatch(html, /accounts\.invalid|is not verified yet/);
  assert.match(html, /Signed in/);
});

test('the admin is for people with the role, beside the account of the pages', async () => {
  provider.person = 'erin';
  const erin = newWalker();
  await erin.signIn('/admin/');
  assert.equal((await erin.client.open('/admin/')).status, 302);
  provider.person = 'ann';
  const ann = newWalker();
  assert.match((await ann.client.open('/admin/login/')).html, /Sign in with Octavo/);
  assert.equal((await ann.signIn('/admin/')).location, '/admin/');
  assert.equal((await ann.client.open('/admin/')).status, 200);
  assert.match((await ann.client.open('/settings')).html, /<h1>Sign in<\/h1>/);
});

test('the API takes access tokens of the provider for this service', async () => {
  const read = async (token: string) =>
    (await fetch(`${budgets.url}/api/budgets`, { headers: { authorization: `Bearer ${token}` } })).status;
  provider.person = 'frank';
  const token = await provider.accessToken(audience);
  assert.equal(await read(token), 200);
  assert.equal(await read(token), 200);
  assert.equal(await read(await provider.accessToken('https://quotes.example')), 401);
  assert.equal(await read(`${token.slice(0, -8)}AAAAAAAA`), 401);
});

/** Confirms on the page that it is them. */
async function confirm(walker: Walker): Promise<void> {
  const { client } = walker;
  await client.open('/settings/erase');
  const begun = await client.send('/settings/erase', { step: 'confirm' });
  budgets.clock.advance(60_000);
  await walker.finish(begun.headers.get('refresh')?.replace('0; url=', '') ?? '');
}

test('who has no password erases the account by a fresh sign-in, and comes again to an empty one', async () => {
  provider.people.set('gus', {
    sub: 'gus',
    preferred_username: 'Gus',
    email: 'gus@example.com',
    email_verified: true,
  });
  provider.person = 'gus';
  const walker = newWalker();
  const { client } = walker;
  await walker.signIn('/settings');
  const page = await client.open('/settings');
  assert.doesNotMatch(page.html, /Current password/);
  assert.match(page.html, /gus@example\.com[\s\S]*You change your e-mail address and password in Octavo/);
  assert.match(page.html, new RegExp(`href="${provider.url}"`));
  const headers = { 'content-type': 'application/json' };
  const iat = Math.floor(budgets.clock.now() / 1_000);
  const token = await provider.accessToken(audience, { iat });
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${budgets.url}${path}`, { ...init, headers: { ...headers, authorization: `Bearer ${token}` } });
  const body = JSON.stringify({ name: 'Food', limit: 100, currency: 'EUR', period: 'monthly' });
  const made = await call('/api/budgets', { method: 'POST', body });
  assert.equal(made.status, 201, await made.text());
  const refused = await client.send('/settings/erase', { password: 'anything' });
  assert.equal(refused.status, 403);
  await confirm(walker);
  assert.match(
    (await client.open('/settings/erase')).html,
    /budgets, expenses[\s\S]*Octavo has confirmed that it is you/,
  );
  assert.equal((await client.send('/settings/erase', {})).location, '/sign-in');
  assert.match((await client.open('/settings')).html, /<h1>Sign in<\/h1>/);
  assert.equal((await call('/api/budgets')).status, 401);
  const again = newWalker();
  await again.signIn('/budgets');
  const empty = await again.client.open('/budgets');
  assert.equal(empty.status, 200);
  assert.doesNotMatch(empty.html, /Food/);
  assert.match((await again.client.open('/settings')).html, /gus@example\.com/);
});

test('of two forms that erase an account at once, one does', async () => {
  const person = await budgets.person('twice');
  const client = new PageClient(budgets.url);
  await client.open('/sign-in');
  await client.send('/sign-in', { email: person.email, password });
  await client.open('/settings/erase');
  const sent = await Promise.all([1, 2].map(() => client.send('/settings/erase', { password })));
  const statuses = sent.map(({ status }) => status).sort();
  assert.equal(statuses[0], 303);
  assert.ok([401, 303].includes(statuses[1] ?? 0) && statuses.join() !== '303,303', statuses.join());
});
