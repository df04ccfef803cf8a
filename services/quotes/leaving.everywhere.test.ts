import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { password, startQuotes } from './testing.ts';

const audience = 'https://quotes.example';
const provider = await TestProvider.start();
const quotes = await startQuotes({
  environment: { ...provider.settingsFor('quotes'), OIDC_ADDRESS: audience },
});
provider.addClient('quotes', audience);
after(async () => {
  await quotes[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const [account, leave] = ['/account/', '/account/leave/'];

test('a reader leaves: likes go, comments and quotes stay as of a former user, tokens are dead', async () => {
  const { access, refresh } = await quotes.signIn('bob');
  const id = await quotes.add();
  const own = await quotes.add({ text: 'What stays, stays.' }, access);
  const comments = `/api/quotes/${id}/comments/`;
  await quotes.call('POST', comments, { token: access, body: { text: 'Well said.' } });
  await quotes.call('POST', `/api/quotes/${id}/like/`, { token: access });
  const likes = async () => (await quotes.call('GET', `/api/quotes/${id}/`)).json.like_set.length;
  assert.equal(await likes(), 1);
  const bob = await quotes.browser('bob');
  assert.match((await bob.open('/')).html, /href="\/account\/"/);
  assert.match((await bob.open(account)).html, /User name[\s\S]*bob[\s\S]*Erase account/);
  assert.match((await bob.open(leave)).html, /Your likes[\s\S]*comments that you wrote, as of a former user/);
  assert.equal((await bob.send(leave, { password })).location, '/');
  assert.equal(await likes(), 0);
  const [comment] = (await quotes.call('GET', comments)).json;
  assert.deepEqual([comment.user, comment.text], ['former user', 'Well said.']);
  assert.match((await quotes.browser().then((client) => client.open(`/quotes/${id}/`))).html, /former user/);
  assert.equal((await quotes.call('GET', `/api/quotes/${own}/`)).status, 200);
  const again = { token: access, body: { text: 'Still here.' } };
  assert.equal((await quotes.call('POST', comments, again)).status, 401);
  assert.equal((await quotes.call('POST', '/api/token/refresh/', { body: { refresh } })).status, 401);
  assert.equal((await bob.open(account)).status, 303);
  const dora = await quotes.browser('dora');
  assert.match((await dora.open('/admin/quotes/comment/')).html, /Well said\./);
  const edit = /href="(\/admin\/quotes\/comment\/\d+\/[^"]*)"/.exec(
    (await dora.open('/admin/quotes/comment/')).html,
  );
  assert.equal((await dora.open(edit?.[1] ?? '')).status, 200);
  // Staff delete it, and other users cannot.
  assert.equal(
    (await quotes.call('DELETE', `${comments}${comment.id}/`, { token: quotes.tokens.charlie })).status,
    403,
  );
  assert.equal(
    (await quotes.call('DELETE', `${comments}${comment.id}/`, { token: quotes.tokens.dora })).status,
    204,
  );
});

test('comments that are written while their author leaves belong to a former user, or are refused', async () => {
  const { access } = await quotes.signIn('charlie');
  const id = await quotes.add();
  const charlie = await quotes.browser('charlie');
  await charlie.open(leave);
  const comments = `/api/quotes/${id}/comments/`;
  const write = () => quotes.call('POST', comments, { token: access, body: { text: 'At once.' } });
  const [left, ...written] = await Promise.all([
    charlie.send(leave, { password }),
    ...Array.from({ length: 8 }, write),
  ]);
  assert.equal(left.location, '/');
  for (const { status, text } of written) assert.ok([201, 400, 401].includes(status), text);
  const stored = (await quotes.call('GET', comments)).json as { user: string }[];
  assert.equal(stored.length, written.filter(({ status }) => status === 201).length);
  assert.ok(stored.every(({ user }) => user === 'former user'));
});

test('an account that was connected is disconnected with its password', async () => {
  provider.people.set('alice-there', { sub: 'alice-there', preferred_username: 'alice', roles: ['admin'] });
  provider.person = 'alice-there';
  const walker = new Walker(await quotes.browser('alice'));
  const { client } = walker;
  await client.open(account);
  const lead = await client.send('/sign-in/oidc/connect', { next: account });
  await walker.finish(lead.headers.get('refresh')?.replace('0; url=', '') ?? '');
  const elsewhere = new Walker(new PageClient(quotes.url));
  await elsewhere.signIn(account);
  assert.match((await elsewhere.client.open(account)).html, /administrator/);
  const card = await client.open(account);
  assert.match(card.html, /Disconnect from Octavo/);
  await client.send('/sign-in/oidc/disconnect', { next: account, password: 'another one' });
  assert.match((await client.open(account)).html, /current password is wrong[\s\S]*connected to Octavo/);
  await client.send('/sign-in/oidc/disconnect', { next: account, password });
  const after = await client.open(account);
  assert.match(after.html, /no longer connected to Octavo[\s\S]*Connect with Octavo/);
  // The role of the provider has ended with it, and so have sessions that began there.
  assert.doesNotMatch(after.html, /administrator/);
  assert.equal((await elsewhere.client.open(account)).status, 303);
  const stranger = new Walker(new PageClient(quotes.url));
  await stranger.signIn(account);
  assert.doesNotMatch((await stranger.client.open(account)).html, /<dd>alice<\/dd>/);
});

test('an account that has a password and is connected leaves by either', async () => {
  provider.people.set('dora-there', { sub: 'dora-there', preferred_username: 'dora' });
  provider.person = 'dora-there';
  const walker = new Walker(await quotes.browser('dora'));
  const { client } = walker;
  await client.open(account);
  const lead = await client.send('/sign-in/oidc/connect', { next: account });
  await walker.finish(lead.headers.get('refresh')?.replace('0; url=', '') ?? '');
  const page = await client.open(leave);
  assert.match(page.html, /name="password"[\s\S]*Confirm with Octavo/);
  assert.equal((await client.send(leave, { password: 'another one' })).status, 401);
  const begun = await client.send(leave, { step: 'confirm' });
  quotes.clock.advance(60_000);
  await walker.finish(begun.headers.get('refresh')?.replace('0; url=', '') ?? '');
  assert.match((await client.open(leave)).html, /Octavo has confirmed that it is you/);
  assert.equal((await client.send(leave, {})).location, '/');
  assert.equal((await client.open(account)).status, 303);
});
