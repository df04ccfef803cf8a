import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { bearer, until } from '@octavo/testing';
import { pageRoutes } from '../routes.ts';
import { startChat } from '../testing.ts';
import { eraseAccount, searched, signedIn, startPeople, stranger, uploadText } from '../testing-people.ts';

const people = await startPeople();
const { provider, audience } = people;
const settings = { ...people.signIn, CHAT_LIBRARY: 'shared' };
const chat = await startChat({ environment: settings });
after(async () => {
  await chat[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const leave = pageRoutes.leave;

test('a person leaves with all documents and chats, and comes again to none', async () => {
  const walker = await signedIn(chat, provider, 'alice');
  const { client } = walker;
  const iat = Math.floor(chat.clock.now() / 1_000);
  const alice = bearer(await provider.accessToken(audience, { sub: 'alice', iat }));
  const bob = await people.as('bob');
  await uploadText({ at: chat, headers: alice }, 'The heron nests by the weir.', { name: 'private.txt' });
  const fields = { name: 'shared.txt', visibility: 'everyone' };
  await uploadText({ at: chat, headers: alice }, 'The heron was seen in April.', fields);
  await uploadText({ at: chat, headers: bob }, 'A heron of Bob.', { name: 'bob.txt' });
  await client.open('/');
  await client.send('/ask', { query: 'Where does the heron nest?' });
  const found = async (headers: Record<string, string>) => searched({ at: chat, headers }, 'heron');
  assert.deepEqual(await found(alice), ['private.txt', 'shared.txt']);
  assert.deepEqual(await found(bob), ['bob.txt', 'shared.txt']);
  const page = await client.open('/account');
  assert.match(page.html, /Alice Berg[\s\S]*only way to sign in here[\s\S]*Erase account/);
  assert.match((await client.open('/')).html, /href="\/account"/);
  const asked = await client.open(leave);
  assert.match(asked.html, /Your chats[\s\S]*also those that you shared with everyone/);
  assert.equal((await client.send(leave, {})).status, 403);
  assert.equal((await eraseAccount(chat, walker)).location, '/');
  assert.match((await client.open('/')).html, /Your account of Chat is erased/);
  assert.doesNotMatch((await client.open('/')).html, /heron nest/);
  assert.equal((await client.open('/account')).location, '/sign-in');
  assert.deepEqual(await found(bob), ['bob.txt']);
  assert.deepEqual(await found(stranger), []);
  const refused = await chat.send('GET', '/api/documents', undefined, alice);
  assert.equal(refused.status, 401);
  const again = await signedIn(chat, provider, 'alice');
  assert.doesNotMatch((await again.client.open('/')).html, /heron nest/);
  assert.doesNotMatch((await again.client.open('/documents')).html, /private\.txt|shared\.txt/);
});

test('what is written while somebody leaves goes, too', async () => {
  const walker = await signedIn(chat, provider, 'reader');
  const iat = Math.floor(chat.clock.now() / 1_000);
  const reader = bearer(await provider.accessToken(audience, { sub: 'reader', iat }));
  const upload = (number: number) =>
    uploadText({ at: chat, headers: reader }, `Otter ${number} swims.`, {
      name: `otter-${number}.txt`,
      visibility: 'everyone',
    });
  assert.equal((await upload(0)).status, 201);
  const [left, ...uploads] = await Promise.all([
    eraseAccount(chat, walker),
    ...[1, 2, 3, 4, 5, 6].map(upload),
  ]);
  assert.equal(left.location, '/');
  for (const { status } of uploads) assert.ok([201, 401, 404, 409].includes(status), String(status));
  await chat[Symbol.asyncDispose]();
  // A start goes on with what the process did not do.
  await using next = await startChat({ environment: settings, beside: chat });
  const headers = await people.as('bob');
  await until(async () => (await searched({ at: next, headers }, 'otter')).length === 0);
});
