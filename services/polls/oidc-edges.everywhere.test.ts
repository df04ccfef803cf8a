import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import type { JWTPayload } from 'jose';
import { startPolls } from './testing.ts';

// Clocks that differ, a provider that is frozen, and names that no database can keep.
const audience = 'https://polls.example';
const provider = await TestProvider.start();
provider.person = 'ann';
provider.people.set('ann', { sub: 'ann', preferred_username: 'ann', roles: ['admin'] });
const polls = await startPolls({ environment: { ...provider.settingsFor('polls'), OIDC_ADDRESS: audience } });
provider.addClient('polls', audience);
after(async () => {
  await polls[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});
afterEach(() => {
  provider.faults = {};
  provider.person = 'ann';
  polls.clock.advance(11_000);
});

const list = '/admin/polls/question/';
const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
const now = () => Math.floor(Date.now() / 1_000);

async function callbackFor(walker: Walker): Promise<string> {
  const { location } = await walker.client.open(`/sign-in/oidc?next=${list}`);
  return (await walker.atProvider(location)).slice(audience.length);
}

async function signedIn(): Promise<PageClient> {
  const walker = new Walker(new PageClient(polls.url));
  assert.equal((await walker.client.open(await callbackFor(walker))).location, list);
  return walker.client;
}

async function write(claims: JWTPayload): Promise<number> {
  const token = await provider.accessToken(audience, { roles: ['admin'], ...claims });
  return writeWith(token);
}

async function writeWith(token: string): Promise<number> {
  const body = { question_text: 'Which one?', pub_date: '2026-02-01T00:00:00Z' };
  const options = { body, authorization: `Bearer ${token}` };
  return (await polls.call('POST', '/api/questions/', options)).status;
}

async function logOut(claims: JWTPayload): Promise<number> {
  const token = await provider.sign({ aud: 'polls', events, ...claims }, { typ: 'logout+jwt' });
  return sendLogout(token);
}

async function sendLogout(token: string): Promise<number> {
  const body = new URLSearchParams({ logout_token: token });
  const options = { body, authorization: undefined };
  return (await polls.call('POST', '/sign-in/oidc/back-channel', options)).status;
}

test('clocks may differ by a minute', async () => {
  for (const seconds of [-50, 50]) {
    const ann = await signedIn();
    assert.equal(await logOut({ sub: 'ann', iat: now() + seconds, exp: now() + seconds + 5 }), 200);
    assert.equal((await ann.open(list)).status, 302, `a logout token ${seconds} s away ends the session`);
    assert.equal(await write({ iat: now() + seconds, nbf: now() + seconds }), 201);
    assert.equal(await write({ iat: now() - 600, exp: now() + seconds }), 201);
    provider.faults.change = async (path, body) => {
      if (path !== '/token') return body;
      const [, payload = ''] = String(body.id_token).split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
      const shifted = { iat: now() + seconds, exp: now() + seconds, nbf: now() + seconds };
      return { ...body, id_token: await provider.sign({ ...claims, ...shifted }) };
    };
    assert.equal((await (await signedIn()).open(list)).status, 200);
    provider.faults = {};
  }
  const ann = await signedIn();
  assert.equal(await logOut({ sub: 'ann', iat: now() + 90 }), 400);
  assert.equal((await ann.open(list)).status, 200);
  assert.equal(await write({ nbf: now() + 90 }), 401);
  assert.equal(await write({ iat: now() - 900, exp: now() - 90 }), 401);
});

test('nothing waits twice for a frozen provider, and a failure is remembered for 5 s', async (context) => {
  assert.equal(await write({}), 201);
  // Description and keys are old, and so is the last sign of life.
  polls.clock.advance(11 * 60_000);
  context.mock.timers.enable({ apis: ['Date'], now: Date.now() + 11 * 60_000 });
  const token = await provider.accessToken(audience, { roles: ['admin'] });
  const logout = await provider.sign({ aud: 'polls', sub: 'ann', events }, { typ: 'logout+jwt' });
  provider.faults.isFrozen = true;
  const before = provider.requests.length;
  assert.equal(await writeWith(token), 503);
  const { length } = provider.requests;
  assert.equal(length - before, 1, 'a second question would wait 5 s more');
  const statuses = await Promise.all([writeWith(token), sendLogout(logout), writeWith(token)]);
  assert.deepEqual(statuses, [503, 503, 503]);
  const begun = await new PageClient(polls.url).open('/sign-in/oidc');
  assert.match(begun.location, /^\/admin\/login\//);
  assert.equal(provider.requests.length, length, 'nothing is asked while a failure is remembered');
  provider.faults = {};
  polls.clock.advance(5_000);
  assert.equal(await writeWith(token), 201);
});

test('ids and roles that are too long, or hold what no database keeps, are refused', async () => {
  const bad = ['x'.repeat(256), 'a\0b', 'a\nb', `a\ud800b`];
  for (const text of bad) {
    const words = JSON.stringify(text.slice(0, 20));
    assert.equal(await write({ sub: text }), 401, `a subject ${words}`);
    assert.equal(await write({ roles: ['admin', text] }), 401, `a role ${words}`);
    assert.equal(await logOut({ sub: text }), 400, `a subject ${words}`);
    assert.equal(await logOut({ sid: text }), 400, `a session ${words}`);
    for (const name of ['sub', 'sid', 'roles']) {
      provider.faults.change = async (path, body) => {
        if (path === '/me' && name === 'sub') return { ...body, sub: text };
        if (path !== '/token') return body;
        const [, payload = ''] = String(body.id_token).split('.');
        const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
        return { ...body, id_token: await provider.sign({ ...claims, [name]: text }) };
      };
      const walker = new Walker(new PageClient(polls.url));
      const { status, location } = await walker.client.open(await callbackFor(walker));
      assert.equal(status, 303, `${name} ${words}`);
      assert.match((await walker.client.open(location)).html, /could not be completed/);
      provider.faults = {};
    }
  }
  assert.equal(await logOut({ sub: 7 as unknown as string }), 400);
  const longest = 'x'.repeat(255);
  assert.equal(await write({ sub: longest }), 201);
  assert.equal(await write({ roles: ['admin', 'Führung', longest] }), 201);
  assert.equal(await logOut({ sub: longest, sid: longest }), 200);
});
