import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { castOf, signedIn } from '../testing.ts';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const charlie = await signedIn(system, 'charlie');

test('a page sends the same export as the API', async () => {
  const word = `export${Date.now()}`;
  await cast.alice.create({ title: word, body: '=1+1' });
  for (const format of ['json', 'csv']) {
    const path = `/posts/export?format=${format}&search=${word}`;
    const file = await charlie.open(path);
    assert.match(
      file.headers.get('content-disposition') ?? '',
      new RegExp(`^attachment; filename="posts_export_.*\\.${format}"$`),
    );
    assert.equal(file.html, (await cast.charlie.get(path)).text);
    assert.equal(file.hasMark, format === 'csv', 'for spreadsheets');
  }
  assert.equal((await charlie.open('/posts/export?format=xml')).status, 400);
});

test('a page sends the same stored exports as the API', async () => {
  await charlie.open('/posts/export?format=csv');
  const [newest] = (await cast.charlie.get('/exports')).json.data;
  const name = newest.Key.slice('exports/'.length);
  const { html } = await charlie.open('/exports');
  assert.match(html, new RegExp(`href="/exports/${name}" download[\\s\\S]*CSV[\\s\\S]*(bytes|kB)<`));
  const file = await charlie.open(`/exports/${name}`);
  assert.equal(file.html, (await cast.charlie.get(`/exports/${name}`)).text);
  assert.equal(file.headers.get('content-disposition'), `attachment; filename="${name}"`);
  const missing = await charlie.open('/exports/posts_export_20000101_000000.csv');
  assert.equal(missing.status, 404);
  assert.match(missing.html, /Page not found/);
  assert.match((await charlie.open('/exports?page=99')).html, /stored file/);
});

test('a stored export is deleted after a confirmation, by those who may', async () => {
  const [alice, bob] = [await signedIn(system, 'alice'), await signedIn(system, 'bob')];
  await bob.open('/posts/export?format=json');
  const [newest, ...others] = (await cast.bob.get('/exports')).json.data;
  const name = newest.Key.slice('exports/'.length);
  const path = `/exports/${name}/delete`;
  assert.match((await bob.open('/exports')).html, new RegExp(`href="${path}"[^>]*data-dialog`));
  assert.doesNotMatch((await charlie.open('/exports')).html, /delete/);
  assert.equal((await charlie.send(path, {})).status, 403);
  assert.match((await alice.open(path)).html, /Set up an authenticator app first/);
  assert.equal((await alice.send(path, { code: '' })).status, 422);
  assert.match((await bob.open(path)).html, new RegExp(`Delete this export[\\s\\S]*<b>${name}</b>`));
  assert.equal((await cast.bob.get('/exports')).json.data.length, others.length + 1);
  const both = await Promise.all([bob.send(path, {}), bob.send(path, {})]);
  assert.ok(both.some(({ status }) => status === 303));
  assert.match((await bob.open('/exports')).html, /is deleted/);
  assert.deepEqual((await cast.bob.get('/exports')).json.data, others);
  assert.equal((await bob.open(path)).status, 404);
  assert.equal((await bob.send(path, {})).status, 404);
  assert.equal((await bob.open('/exports/..%2Fsecret/delete')).status, 404);
});

test('the page exports all posts now', async () => {
  const { html } = await charlie.open('/exports');
  assert.match(
    html,
    /Export now[\s\S]*href="\/posts\/export\?format=json" download[\s\S]*format=csv" download/,
  );
});

test('the page says that stored exports are off, or that there are none yet', async () => {
  await using bare = await startTestSystem({ OBJECT_STORE: 'off' });
  const off = await (await signedIn(bare, 'charlie')).open('/exports');
  assert.equal(off.status, 503);
  assert.match(off.html, /Stored exports are turned off/);
  await using fresh = await startTestSystem();
  assert.match((await (await signedIn(fresh, 'charlie')).open('/exports')).html, /No stored exports yet/);
});
