import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { PageClient } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { Person } from '../testing.ts';

const provider = await TestProvider.start();
provider.people.set('ed', { sub: 'ed', preferred_username: 'ed', roles: ['editor'] });
const audience = 'https://posts.example';
const system = await startTestSystem({ ...provider.settingsFor('posts'), OIDC_ADDRESS: audience });
provider.addClient('posts', audience);
after(async () => {
  await system[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const leave = '/account/leave';

async function signedIn(): Promise<Walker> {
  provider.person = 'ed';
  const walker = new Walker(new PageClient(system.url));
  assert.equal((await walker.signIn('/account')).location, '/account');
  return walker;
}

test('who has no password leaves by a fresh sign-in, and the posts stay', async () => {
  const walker = await signedIn();
  const { client } = walker;
  const page = await client.open('/account');
  assert.match(page.html, /You change your password and second factor in Octavo[\s\S]*Erase account/);
  assert.doesNotMatch(page.html, /Last set/);
  const token = JSON.parse((await client.open('/docs/token')).html).token as string;
  const { id } = await new Person(system.url, token).create();
  const asked = await client.open(leave);
  assert.match(asked.html, /Posts that you wrote, as of a former user[\s\S]*Confirm with Octavo/);
  assert.equal((await client.send(leave, { password: 'anything' })).status, 403);
  const begun = await client.send(leave, { step: 'confirm' });
  await walker.finish(begun.headers.get('refresh')?.replace('0; url=', '') ?? '');
  await client.open(leave);
  assert.equal((await client.send(leave, {})).location, '/sign-in');
  assert.match((await client.open('/account')).html, /<h1>Sign in<\/h1>/);
  // What authz allowed is cached for a second.
  const isStale = async () => (await new Person(system.url, token).call('GET', '/posts')).status === 401;
  for (let tries = 0; tries < 100 && !(await isStale()); tries++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(await isStale(), true);
  const again = await signedIn();
  const post = await again.client.open(`/posts/${id}`);
  assert.equal(post.status, 200);
  assert.match(post.html, /former user/);
  assert.match((await again.client.open('/account')).html, /<dd>ed<\/dd>/);
});

test('who has a password leaves with it, and not without', async () => {
  const client = new PageClient(system.url);
  await client.open('/account');
  const { viewer } = system.passwords;
  await client.send('/sign-in', { username: 'viewer', password: viewer, next: '/account' });
  assert.doesNotMatch((await client.open(leave)).html, /Confirm with Octavo/);
  const wrong = await client.send(leave, { password: 'not this one' });
  assert.equal(wrong.status, 401);
  assert.match(wrong.html, /The current password is wrong/);
  assert.equal((await client.send(leave, { password: viewer })).location, '/sign-in');
  await client.open('/account');
  const back = await client.send('/sign-in', { username: 'viewer', password: viewer, next: '/account' });
  assert.equal(back.status, 401);
});
