import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { createLog } from '@octavo/core/log';
import { PageClient, testFolder, testMode } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { startPolls, type TestPolls } from './testing.ts';

// What a session and its roles outlive: a sign-out, a logout token, and a start with another provider or none.
const audience = 'https://polls.example';
const provider = await TestProvider.start();
provider.person = 'ann';
const lines: string[] = [];
const log = createLog({ service: 'polls', destination: { write: (line) => void lines.push(line) } });
const dataFolder = testFolder('polls');
const { databaseUrl: DATABASE_URL } = await testMode();
const settings = { ...provider.settingsFor('polls'), OIDC_ADDRESS: audience };
provider.addClient('polls', audience);
const start = (given: Record<string, string>) =>
  startPolls({ environment: { ...given, DATABASE_URL }, folder: dataFolder, log });
let polls: TestPolls = await start(settings);
after(async () => {
  await polls[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
beforeEach(() => {
  provider.people.set('ann', { sub: 'ann', preferred_username: 'ann', roles: ['admin'] });
  provider.faults = {};
});

const list = '/admin/polls/question/';
const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
const isStaff = async (client: PageClient) => (await client.open(list)).status === 200;

async function signedIn(): Promise<PageClient> {
  polls.clock.advance(11_000);
  const { client, callback } = await calledBack();
  assert.equal((await client.open(callback)).location, list);
  return client;
}

async function calledBack(): Promise<{ client: PageClient; callback: string }> {
  const walker = new Walker(new PageClient(polls.url));
  const { location } = await walker.client.open(`/sign-in/oidc?next=${list}`);
  return { client: walker.client, callback: (await walker.atProvider(location)).slice(audience.length) };
}

/** Starts the service again, and opens it in the same browser. */
async function restarted(given: Record<string, string>, { cookies }: PageClient): Promise<PageClient> {
  await polls[Symbol.asyncDispose]();
  polls = await start(given);
  const client = new PageClient(polls.url);
  for (const [name, value] of cookies) client.cookies.set(name, value);
  return client;
}

test('a sign-out answers once, whether the provider is there or not', async () => {
  for (const isDown of [false, true]) {
    const ann = await signedIn();
    assert.equal(await isStaff(ann), true);
    provider.faults = { isDown };
    polls.clock.advance(11_000);
    await ann.send('/admin/logout/', {});
    provider.faults = {};
    assert.equal(await isStaff(ann), false);
  }
  assert.deepEqual(
    lines.filter((line) => line.includes('already sent')),
    [],
  );
});

test('a logout token for a session ends those that know none, and leaves others of the person', async () => {
  let sid: unknown;
  const resigned = (change: (claims: Record<string, unknown>) => Record<string, unknown>) => {
    provider.faults.change = async (path, body) => {
      if (path !== '/token') return body;
      const [, payload = ''] = String(body.id_token).split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
      return { ...body, id_token: await provider.sign(change(claims)) };
    };
  };
  resigned((claims) => {
    sid = claims.sid;
    return claims;
  });
  const meant = await signedIn();
  resigned(({ sid: _, ...claims }) => claims);
  const without = await signedIn();
  provider.faults = {};
  const other = await signedIn();
  provider.person = 'bob';
  provider.people.set('bob', { sub: 'bob', roles: ['admin'] });
  const bob = await signedIn();
  provider.person = 'ann';
  const token = await provider.sign({ aud: 'polls', sub: 'ann', sid, events }, { typ: 'logout+jwt' });
  const body = new URLSearchParams({ logout_token: token });
  const told = await polls.call('POST', '/sign-in/oidc/back-channel', { body, authorization: undefined });
  assert.equal(told.status, 200);
  assert.equal(typeof sid, 'string');
  const staff = await Promise.all([meant, without, other, bob].map(isStaff));
  assert.deepEqual(staff, [false, false, true, true]);
});

test('no account gets a name that mixes letters of two scripts', async () => {
  const names = { аdmin: 'dmin', Αlice: 'lice', Анна: 'Анна', Zoë: 'Zoë', 山田: '山田' };
  for (const [given, shown] of Object.entries(names)) {
    provider.person = `called ${shown.length} ${shown.codePointAt(0)}`;
    provider.people.set(provider.person, { sub: provider.person, preferred_username: given, roles: [] });
    const client = await signedIn();
    const { html } = await client.open('/admin/login/');
    assert.ok(
      html.includes(`You are signed in as ${shown},`),
      `${given}: ${html.match(/signed in as [^,]*/)}`,
    );
  }
  provider.person = 'ann';
});

test('roles of a provider that is turned off, or changed, end at the next start', async () => {
  const ann = await signedIn();
  assert.equal(await isStaff(ann), true);
  let again = await restarted(settings, ann);
  assert.equal(await isStaff(again), true, 'a restart changes nothing');
  again = await restarted({}, again);
  assert.equal(await isStaff(again), false);
  assert.match((await again.open('/admin/login/')).html, /signed in as ann/, 'the session goes on');
  again = await restarted(settings, again);
  assert.equal(await isStaff(again), false);
  const back = await signedIn();
  assert.equal(await isStaff(back), true);
  await using other = await TestProvider.start();
  again = await restarted({ ...settings, OIDC_ISSUER: other.url }, back);
  assert.equal(await isStaff(again), false);
});
