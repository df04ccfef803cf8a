import assert from 'node:assert/strict';
import { after, mock, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { PageClient } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { password, startPolls } from './testing.ts';

const provider = await TestProvider.start();
provider.people
  .set('ann', {
    sub: 'ann',
    preferred_username: 'Alice',
    email: 'ann@example.com',
    email_verified: true,
    roles: ['staff-of-polls'],
  })
  .set('erin', { sub: 'erin', preferred_username: 'erin', roles: ['staff-of-polls'] })
  .set('bob', { sub: 'bob', preferred_username: 'bob b' })
  .set('dave', { sub: 'dave', preferred_username: 'dave', roles: ['staff-of-polls'] })
  .set('carol', { sub: 'carol', preferred_username: 'carol', roles: ['admin', 'staff-of-polls'] });
// The checks of roles run by an interval, which the tests move on.
mock.timers.enable({ apis: ['setInterval'] });
const polls = await startPolls({
  environment: { ...provider.settingsFor('polls'), OIDC_ROLE_MAP: 'staff-of-polls=admin' },
});
provider.addClient('polls', polls.url);
after(async () => {
  await polls[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
  mock.timers.reset();
});

const list = '/admin/polls/question/';

/** A browser signed in by the provider. */
async function signedIn(person: string): Promise<Walker> {
  provider.person = person;
  // What the service knew of the provider's state is old by then.
  polls.clock.advance(11_000);
  const walker = new Walker(new PageClient(polls.url));
  assert.equal((await walker.signIn(list)).location, list);
  return walker;
}

const isStaff = async ({ client }: Walker) => (await client.open(list)).status === 200;

/** Lets the service check roles after a time, until the condition holds. */
async function checked(minutes: number, condition: () => Promise<boolean>): Promise<void> {
  polls.clock.advance(minutes * 60_000);
  for (let tries = 0; tries < 500; tries++) {
    mock.timers.tick(30_000);
    if (await condition()) return;
    await wait(20);
    // A check that was under way as the time moved on counts as one of that time.
    if (tries % 20 === 19) polls.clock.advance(30_000);
  }
  assert.fail('it did not happen');
}

test('an administrator of the provider signs in to the admin, under a name that is free', async () => {
  const stranger = new PageClient(polls.url);
  const page = await stranger.open(`/admin/login/?next=${list}`);
  assert.match(page.html, /href="\/sign-in\/oidc\?next=%2Fadmin%2Fpolls%2Fquestion%2F">Sign in with Octavo</);
  assert.match(page.html, /name="password"/);
  assert.match(page.html, /<title>Sign in · Polls admin</);
  const maker = await stranger.open('/admin/login/?next=/polls/new/');
  assert.match(maker.html, /<title>Sign in · Polls</, 'makers of polls are not on their way to the admin');
  const ann = await signedIn('ann');
  const { status, html } = await ann.client.open(list);
  assert.equal(status, 200);
  assert.match(html, /Alice2[\s\S]*Administrator/);
  const again = await signedIn('ann');
  assert.match((await again.client.open(list)).html, /Alice2/, 'the same account the second time');
});

test('a person without a role gets an account that may not open the admin', async () => {
  const bob = await signedIn('bob');
  assert.equal((await bob.client.open(list)).status, 302);
  assert.match(
    (await bob.client.open('/admin/login/')).html,
    /signed in as bob-b, who may not open this page/,
  );
  const guess = new PageClient(polls.url);
  await guess.open('/admin/login/');
  const refused = await guess.send('/admin/login/', { username: 'bob-b', password, next: '/admin/' });
  assert.equal(refused.status, 401, 'it has no password');
});

test('two tabs do not disturb each other', async () => {
  provider.person = 'ann';
  const walker = new Walker(new PageClient(polls.url));
  const one = await walker.client.open('/sign-in/oidc?next=/admin/auth/user/');
  const other = await walker.client.open(`/sign-in/oidc?next=${list}`);
  assert.equal((await walker.finish(one.location)).location, '/admin/auth/user/');
  assert.equal((await walker.finish(other.location)).location, list);
});

test('an account is connected by its owner, and not twice', async () => {
  provider.person = 'carol';
  const walker = new Walker(new PageClient(polls.url));
  const { client } = walker;
  await client.open('/admin/login/');
  await client.send('/admin/login/', { username: 'alice', password });
  const page = await client.open('/admin/password_change/');
  assert.match(page.html, /Connect with Octavo/);
  const next = '/admin/password_change/';
  const lead = await client.send('/sign-in/oidc/connect', { next });
  const url = lead.headers.get('refresh')?.replace('0; url=', '') ?? '';
  assert.equal(new URL(url).searchParams.get('prompt'), 'login');
  assert.equal((await walker.finish(url)).location, next);
  assert.match((await client.open(next)).html, /is connected[\s\S]*connected to Octavo/);
  const elsewhere = await signedIn('carol');
  assert.match((await elsewhere.client.open(list)).html, /<[^>]*>alice</);

  const bob = new Walker(new PageClient(polls.url));
  await bob.client.open('/admin/login/');
  await bob.client.send('/admin/login/', { username: 'bob', password });
  await bob.client.open(next);
  const taken = await bob.client.send('/sign-in/oidc/connect', { next });
  const callback = await bob.finish(taken.headers.get('refresh')?.replace('0; url=', '') ?? '');
  assert.equal(callback.location, next);
  assert.match((await bob.client.open(next)).html, /connected to another account/);
  bob.client.token = 'forged';
  assert.equal((await bob.client.send('/sign-in/oidc/connect', { next })).status, 403);
});

test('a role that is taken away ends by itself', async () => {
  const ann = await signedIn('ann');
  const person = provider.people.get('ann');
  assert.ok(person);
  await checked(5, () => isStaff(ann));
  provider.people.set('ann', { ...person, roles: [] });
  await checked(5, async () => !(await isStaff(ann)));
  assert.match((await ann.client.open('/admin/login/')).html, /signed in as Alice2/, 'the session goes on');
  provider.people.set('ann', person);
  const again = await signedIn('ann');
  assert.equal(await isStaff(again), true);
});

test('while the provider is away, sessions go on, and roles for an hour', async () => {
  const ann = await signedIn('ann');
  provider.faults = { isDown: true };
  const { length } = provider.requests;
  await checked(7, async () => provider.requests.length > length);
  assert.equal(await isStaff(ann), true);
  provider.faults = {};
  const before = provider.requests.length;
  await checked(1, async () => provider.requests.slice(before).includes('/token'));
  assert.equal(await isStaff(ann), true);
  provider.faults = { isDown: true };
  await checked(70, async () => {
    polls.clock.advance(60_000);
    return !(await isStaff(ann));
  });
  assert.match((await ann.client.open('/admin/login/')).html, /signed in as Alice2/, 'the session goes on');
  provider.faults = {};
});

test('without a refresh token roles end in less than 10 minutes', async () => {
  provider.faults = { hasNoRefresh: true };
  const dave = await signedIn('dave');
  provider.faults = {};
  await checked(5, () => isStaff(dave));
  await checked(4.5, async () => !(await isStaff(dave)));
});

test('signing out goes on to the provider, and ends the grant there', async () => {
  const ann = await signedIn('ann');
  const other = await signedIn('ann');
  await ann.client.open(list);
  const out = await ann.client.send('/admin/logout/', {});
  const url = out.headers.get('refresh')?.replace('0; url=', '') ?? '';
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/session\/end\?id_token_hint=/);
  assert.equal(await ann.atProvider(url), `${polls.url}/`);
  assert.equal((await ann.client.open(list)).status, 302);
  assert.equal(await isStaff(other), true, 'another browser stays signed in');
  const { length } = provider.requests;
  await checked(0, async () => provider.requests.slice(length).includes('/token/revocation'));
});

test('a sign-out at the provider ends the session here, also if its message was lost', async () => {
  for (const losesLogouts of [false, true]) {
    const ann = await signedIn('dave');
    assert.equal(await isStaff(ann), true);
    provider.faults = { losesLogouts };
    await ann.atProvider(`${provider.url}/session/end?client_id=polls`, {}).catch(() => {});
    if (!losesLogouts) assert.equal(await isStaff(ann), false);
    await checked(5, async () => !(await isStaff(ann)));
    assert.doesNotMatch((await ann.client.open('/admin/login/')).html, /You are signed in as/);
    provider.faults = {};
  }
});

test('a logout token ends the sessions that it names, once', async () => {
  const [ann, other] = [await signedIn('ann'), await signedIn('carol')];
  const claims = { aud: 'polls', sub: 'ann', events: { [logoutEvent]: {} } };
  const token = await provider.sign(claims, { typ: 'logout+jwt' });
  assert.equal(await sendLogout(token), 200);
  assert.equal((await ann.client.open(list)).status, 302);
  assert.equal(await isStaff(other), true);

  const again = await signedIn('ann');
  assert.equal(await sendLogout(token), 400, 'a replay');
  assert.equal(await isStaff(again), true);
  assert.equal(await sendLogout(await provider.sign(claims, { typ: 'logout+jwt' })), 200);
  assert.equal((await again.client.open(list)).status, 302);
});

test('a deleted account takes its connection along, and its owner gets a new one', async () => {
  const erin = await signedIn('erin');
  await using database = await polls.openDatabase();
  const identities = () =>
    database.kysely.selectFrom('oidc_identity').select(['account']).where('subject', '=', 'erin').execute();
  const sessions = () =>
    database.kysely.selectFrom('oidc_session').select('key').where('subject', '=', 'erin').execute();
  const [before] = await identities();
  assert.equal((await sessions()).length, 1);
  const alice = new PageClient(polls.url);
  await alice.open('/admin/login/');
  await alice.send('/admin/login/', { username: 'alice', password });
  const path = `/admin/auth/user/${before?.account}/delete/`;
  await alice.open(path);
  assert.equal((await alice.send(path, { post: 'yes' })).location, '/admin/auth/user/');
  assert.deepEqual(await identities(), []);
  assert.deepEqual(await sessions(), []);
  assert.equal(await isStaff(erin), false);
  assert.equal(await isStaff(await signedIn('erin')), true);
  assert.equal((await identities()).length, 1);
});

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

async function sendLogout(token: string): Promise<number> {
  const body = new URLSearchParams({ logout_token: token });
  const { status } = await polls.call('POST', '/sign-in/oidc/back-channel', {
    body,
    authorization: undefined,
  });
  return status;
}
