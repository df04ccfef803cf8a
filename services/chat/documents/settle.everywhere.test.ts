import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { configOf, openServiceDatabase } from '@octavo/data/service';
import { PageClient, until } from '@octavo/testing';
import { Walker } from '@octavo/testing/sign-in';
import { chat as service } from '../service.ts';
import type { Tables } from '../tables.ts';
import { startChat, type TestChat } from '../testing.ts';
import { searched as sourcesOf, startPeople, stranger, uploadText as upload } from '../testing-people.ts';

const { provider, signIn, as } = await startPeople();
after(() => provider[Symbol.asyncDispose]());

/** Gives a database what an earlier version had left: one library for all, whoever uploaded. */
async function asBefore(
  old: TestChat,
  owners: Readonly<Record<string, string>>,
  isMadeAgain = false,
): Promise<void> {
  await using database = await openServiceDatabase<Tables>(
    service,
    configOf(service, old.environment),
    old.context,
  );
  const { kysely } = database;
  await kysely.updateTable('library').set({ key: 'unsettled' }).where('key', '=', 'shared').execute();
  if (isMadeAgain) await kysely.insertInto('library').values({ key: 'shared' }).execute();
  for (const [filename, owner] of Object.entries(owners))
    await kysely.updateTable('document').set({ owner }).where('filename', '=', filename).execute();
}

test('after an upgrade documents of people are private and others public, until an administrator shares them', async () => {
  await using old = await startChat();
  const files = ['of-alice.txt', 'of-bob.txt', 'of-nobody.txt'];
  for (const name of files)
    await upload({ at: old, headers: stranger }, `The lantern of ${name} is green.`, { name });
  await using first = await startChat({ environment: signIn, beside: old });
  const account = async (sub: string) =>
    (await upload({ at: first, headers: await as(sub) }, `${sub} is here.`)).document.owner;
  const owners = { 'of-alice.txt': await account('alice'), 'of-bob.txt': await account('bob') };
  await asBefore(old, owners);
  await using chat = await startChat({ environment: signIn, beside: old });
  const query = 'Which lantern is green?';
  const found = async (headers: Record<string, string>) => sourcesOf({ at: chat, headers }, query);
  const [alice, bob, admin] = [await as('alice'), await as('bob'), await as('admin')];
  assert.deepEqual(await found(stranger), ['of-nobody.txt'], 'at once');
  await until(async () => (await found(alice)).length > 0 && (await found(bob)).length > 0);
  assert.deepEqual([await found(alice), await found(bob)], [['of-alice.txt'], ['of-bob.txt']]);
  assert.deepEqual(await found(admin), []);
  provider.person = 'admin';
  const browser = new PageClient(chat.url);
  await new Walker(browser).signIn('/');
  assert.match(
    (await browser.open('/documents')).html,
    /3 documents that everyone could read before the upgrade/,
  );
  await browser.send('/documents/formerly-shared', { choice: 'share' });
  chat.clock.advance(60_000);
  await using next = await startChat({ environment: signIn, beside: old });
  const later = async (headers: Record<string, string>) => sourcesOf({ at: next, headers }, query);
  await until(async () => (await later(admin)).length === 3);
  assert.deepEqual([await later(alice), await later(stranger)], [files, files]);
  assert.doesNotMatch((await browser.open('/documents')).html, /before the upgrade/);
});

test('after an upgrade a shared library is everyone’s', async () => {
  await using old = await startChat();
  await upload({ at: old, headers: stranger }, 'The lantern is green.', { name: 'of-alice.txt' });
  await asBefore(old, { 'of-alice.txt': 'person:alice' });
  await using chat = await startChat({ environment: { ...signIn, CHAT_LIBRARY: 'shared' }, beside: old });
  for (const headers of [stranger, await as('bob')])
    assert.deepEqual(await sourcesOf({ at: chat, headers }, 'Which lantern is green?'), ['of-alice.txt']);
});

test('a library that an older replica has made again meanwhile takes the documents', async () => {
  await using old = await startChat();
  await upload({ at: old, headers: stranger }, 'The lantern is green.', { name: 'lantern.txt' });
  await asBefore(old, {}, true);
  await using chat = await startChat({ beside: old });
  const asked = { at: chat, headers: stranger };
  await until(async () => (await sourcesOf(asked, 'Which lantern is green?')).join() === 'lantern.txt');
});
