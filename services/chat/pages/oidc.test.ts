import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { startChat } from '../testing.ts';

const audience = 'https://chat.example';
const provider = await TestProvider.start();
provider.people.set('ann', { sub: 'ann' }).set('bob', { sub: 'bob' });
const settings = { ...provider.settingsFor('chat'), OIDC_ADDRESS: audience };
const open = await startChat({ environment: settings });
const closed = await startChat({ environment: { ...settings, OIDC_ONLY: 'on' } });
provider.addClient('chat', audience);
after(async () => {
  await open[Symbol.asyncDispose]();
  await closed[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

async function signedIn(url: string, person: string): Promise<Walker> {
  provider.person = person;
  const walker = new Walker(new PageClient(url));
  assert.equal((await walker.signIn('/')).location, '/');
  return walker;
}

test('everybody may ask, and who signs in has the same chats in every browser', async () => {
  const stranger = new PageClient(open.url);
  assert.match((await stranger.open('/')).html, /href="\/sign-in"/);
  assert.match((await stranger.open('/sign-in')).html, /Sign in with Octavo/);
  const [one, other] = [await signedIn(open.url, 'ann'), await signedIn(open.url, 'ann')];
  assert.match((await one.client.open('/')).html, /Signed in/);
  await one.client.send('/ask', { query: 'When does the ferry sail?' });
  assert.match((await other.client.open('/')).html, /ferry sail/);
  const bob = await signedIn(open.url, 'bob');
  assert.doesNotMatch((await bob.client.open('/')).html, /ferry sail/);
  const [chat = ''] = /\/chats\/[\w-]+/.exec((await other.client.open('/')).html) ?? [];
  const [unknown, others] = [await stranger.open(chat), await bob.client.open(chat)];
  assert.deepEqual([unknown.status, others.status], [404, 404]);
  assert.match(unknown.html, /belongs to another person\.[\s\S]*href="\/sign-in"[^>]*>Sign in</);
  assert.doesNotMatch(others.html, />Sign in</);
  const out = await one.client.send('/sign-out', {});
  assert.match(out.headers.get('refresh') ?? '', /session\/end/);
  assert.doesNotMatch((await one.client.open('/')).html, /ferry sail/);
});

test('with OIDC_ONLY nobody asks before signing in, in the browser or by the API', async () => {
  const stranger = new PageClient(closed.url);
  assert.equal((await stranger.open('/')).location, '/sign-in');
  assert.doesNotMatch((await stranger.open('/sign-in')).html, /API key/);
  assert.equal((await closed.send('GET', '/api/sessions')).status, 401);
  provider.person = 'ann';
  const list = async (token: string) =>
    (await closed.send('GET', '/api/sessions', undefined, { authorization: `Bearer ${token}` })).status;
  assert.equal(await list(await provider.accessToken(audience)), 200);
  assert.equal(await list(await provider.accessToken('https://quotes.example')), 401);
});

test('a session that the provider ended is that of a stranger', async () => {
  const ann = await signedIn(closed.url, 'ann');
  assert.equal((await ann.client.open('/')).status, 200);
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const token = await provider.sign({ aud: 'chat', sub: 'ann', events }, { typ: 'logout+jwt' });
  const body = new URLSearchParams({ logout_token: token });
  const { status } = await fetch(`${closed.url}/sign-in/oidc/back-channel`, { method: 'POST', body });
  assert.equal(status, 200);
  assert.equal((await ann.client.open('/')).location, '/sign-in');
});
