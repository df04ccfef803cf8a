import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PageClient, type PageResponse } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { password, startPolls } from './testing.ts';

const audience = 'https://polls.example';
const provider = await TestProvider.start();
const polls = await startPolls({ environment: { ...provider.settingsFor('polls'), OIDC_ADDRESS: audience } });
provider.addClient('polls', audience);
after(async () => {
  await polls[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const [account, leave] = ['/account/', '/account/leave/'];
let made = 0;

/** A browser signed in by the provider, as a new person. */
async function connected(roles: readonly string[] = []): Promise<Walker & { sub: string }> {
  made += 1;
  const sub = `person${made}`;
  provider.people.set(sub, { sub, preferred_username: sub, roles });
  return Object.assign(await signedIn(sub), { sub });
}

async function signedIn(sub: string): Promise<Walker> {
  provider.person = sub;
  const walker = new Walker(new PageClient(polls.url));
  assert.equal((await walker.signIn(account)).location, account);
  return walker;
}

/** A browser signed in with a password. */
async function withPassword(username: string): Promise<PageClient> {
  const client = new PageClient(polls.url);
  await client.open('/admin/login/');
  const response = await client.send('/admin/login/', { username, password, next: account });
  assert.equal(response.status, 303);
  return client;
}

async function create(username: string, rights: Record<string, string> = {}): Promise<PageClient> {
  const alice = await withPassword('alice');
  await alice.open('/admin/auth/user/add/');
  const fields = { username, password, is_active: '1', ...rights };
  assert.equal((await alice.send('/admin/auth/user/add/', fields)).status, 303);
  return withPassword(username);
}

/** Makes a poll on the page. */
async function make(client: PageClient, question_text: string): Promise<void> {
  await client.open('/polls/new/');
  const rules = { max_choices: '1', results: 'always', duplicates: 'none', visibility: 'listed' };
  const sent = { question_text, choice_1: 'Yes', choice_2: 'No', ...rules };
  assert.equal((await client.send('/polls/new/', sent)).status, 303);
}

/** Begins the confirmation on the page, and returns the address at the provider. */
async function begin({ client }: Walker): Promise<URL> {
  await client.open(leave);
  const lead = await client.send(leave, { step: 'confirm' });
  polls.clock.advance(60_000);
  return new URL(lead.headers.get('refresh')?.replace('0; url=', '') ?? '');
}

async function confirm(walker: Walker): Promise<PageResponse> {
  const url = await begin(walker);
  assert.equal((await walker.finish(url.href)).location, leave);
  return walker.client.open(leave);
}

const isGone = async (client: PageClient) => (await client.open(account)).status === 303;

test('a person leaves with the password, and the polls stay', async () => {
  const dora = await create('dora', { is_staff: '1' });
  await make(dora, 'Tea?');
  const { token } = (await polls.call('POST', '/api/token/', { body: { username: 'dora', password } })).json;
  const other = await withPassword('dora');
  const page = await dora.open(account);
  assert.match(page.html, /href="\/account\/leave\/"/);
  const asked = await dora.open(leave);
  assert.match(asked.html, /These are erased[\s\S]*API tokens[\s\S]*These stay[\s\S]*Polls that you made/);
  const wrong = await dora.send(leave, { password: 'not this one' });
  assert.equal(wrong.status, 401);
  assert.match(wrong.html, /Your current password is wrong/);
  assert.equal((await dora.send(leave, {})).status, 422);
  const left = await dora.send(leave, { password });
  assert.equal(left.location, '/polls/');
  assert.match((await dora.open('/polls/')).html, /Your account of Polls is erased[\s\S]*Tea\?/);
  for (const client of [dora, other]) assert.ok(await isGone(client));
  const refused = await polls.call('GET', '/api/questions/', { authorization: `Token ${token}` });
  assert.equal(refused.status, 401);
  const alice = await withPassword('alice');
  assert.doesNotMatch((await alice.open('/admin/')).html, /\bdora\b/);
  assert.doesNotMatch((await alice.open('/admin/auth/user/')).html, /\bdora\b/);
  const again = await create('dora', { is_staff: '1' });
  assert.match((await again.open('/polls/mine/')).html, /not made|No polls|none/i);
});

test('a connected person leaves by a fresh sign-in, and comes again as a new person', async () => {
  const erin = await connected();
  const iat = Math.floor(polls.clock.now() / 1_000);
  const token = await provider.accessToken(audience, { iat });
  const read = async (bearer: string) =>
    (await polls.call('GET', '/api/questions/', { authorization: `Bearer ${bearer}` })).status;
  assert.equal(await read(token), 200);
  await make(erin.client, 'Whose?');
  const asked = await erin.client.open(leave);
  assert.match(asked.html, /Confirm with Octavo/);
  assert.doesNotMatch(asked.html, /name="password"/);
  const refused = await erin.client.send(leave, { password: 'anything' });
  assert.equal(refused.status, 403);
  assert.match(refused.html, /Confirm with Octavo first/);
  const url = await begin(erin);
  assert.equal(url.searchParams.get('prompt'), 'login');
  assert.equal(url.searchParams.get('max_age'), '0');
  assert.equal((await erin.finish(url.href)).location, leave);
  assert.match((await erin.client.open(leave)).html, /Octavo has confirmed that it is you/);
  assert.equal((await erin.client.send(leave, {})).location, '/polls/');
  assert.ok(await isGone(erin.client));
  assert.equal(await read(token), 401);
  const again = await signedIn(erin.sub);
  assert.doesNotMatch((await again.client.open('/polls/mine/')).html, /Whose\?/);
  assert.match((await again.client.open('/polls/')).html, /Whose\?/);
});

test('a confirmation is of the person, fresh, for one session and once', async () => {
  const erin = await connected();
  const frank = await connected();
  // Another person signs in at the provider.
  const url = await begin(erin);
  assert.equal((await erin.finish(url.href)).location, leave);
  assert.match((await erin.client.open(leave)).html, /as another person/);
  assert.equal((await erin.client.send(leave, {})).status, 403);
  // The provider did not ask, or says nothing of it.
  provider.person = erin.sub;
  for (const auth_time of [Math.floor(Date.now() / 1_000) - 3_600, undefined]) {
    const stale = await begin(erin);
    provider.faults = {
      async change(path, body) {
        if (path !== '/token') return body;
        const [, payload = ''] = String(body.id_token).split('.');
        const { nonce, sub, aud } = JSON.parse(Buffer.from(payload, 'base64url').toString());
        return { ...body, id_token: await provider.sign({ nonce, sub, aud, auth_time }) };
      },
    };
    await erin.finish(stale.href);
    provider.faults = {};
    assert.match((await erin.client.open(leave)).html, /did not ask you to sign in again/);
    assert.equal((await erin.client.send(leave, {})).status, 403);
  }
  // It is worth nothing in another session, even of the same person.
  await confirm(erin);
  const second = await signedIn(erin.sub);
  for (const [name, value] of erin.client.cookies)
    if (name.endsWith('_confirmed')) second.client.cookies.set(name, value);
  await second.client.open(leave);
  assert.equal((await second.client.send(leave, {})).status, 403);
  // It expires.
  polls.clock.advance(5 * 60_000 + 1_000);
  assert.doesNotMatch((await erin.client.open(leave)).html, /has confirmed/);
  // A callback that is sent again confirms nothing.
  const once = await begin(erin);
  const back = await erin.atProvider(once.href);
  const path = back.slice(new URL(back).origin.length);
  const cookies = new Map(erin.client.cookies);
  assert.equal((await erin.client.open(path)).location, leave);
  const replay = new PageClient(polls.url);
  for (const [name, value] of cookies) replay.cookies.set(name, value);
  await replay.open(path);
  assert.doesNotMatch((await replay.open(leave)).html, /has confirmed/);
  // Two forms at the same time: one erases, the other finds no account.
  await erin.client.open(leave);
  const sent = await Promise.all([erin.client.send(leave, {}), erin.client.send(leave, {})]);
  const statuses = sent.map(({ status }) => status).sort();
  assert.equal(statuses[0], 303, statuses.join());
  assert.ok([401, 403].includes(statuses[1] ?? 0), statuses.join());
  assert.equal((await frank.client.open(account)).status, 200);
});

test('of the last two administrators who leave at once, one stays', async () => {
  const carol = await create('carol', { is_staff: '1', is_superuser: '1' });
  const alice = await withPassword('alice');
  for (const client of [carol, alice]) await client.open(leave);
  const sent = await Promise.all([carol, alice].map((client) => client.send(leave, { password })));
  assert.deepEqual(sent.map(({ status }) => status).sort(), [303, 409]);
  const stays = sent[0]?.status === 409 ? carol : alice;
  const refused = await stays.send(leave, { password });
  assert.equal(refused.status, 409);
  assert.match(refused.html, /You are the last administrator\. Make another user an administrator first\./);
  assert.equal((await stays.open('/admin/')).status, 200);
});

test('a connected account is disconnected only if it has a password', async () => {
  const erin = await connected();
  assert.match((await erin.client.open(account)).html, /only way to sign in here/);
  assert.match((await erin.client.open(account)).html, /Change your e-mail address or password in Octavo/);
  await erin.client.send('/sign-in/oidc/disconnect', { next: account, password });
  assert.match((await erin.client.open(account)).html, /is your only way to sign in here/);
});
