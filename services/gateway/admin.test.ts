import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { fieldsOf } from '#kit/admin/testing/forms.ts';
import { PageClient } from '#kit/testing/page-client.ts';
import { startTestSystem } from '../testing.ts';
import { castOf } from './testing.ts';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const bob = new PageClient(system.url);
await signIn(bob, 'admin');

const list = '/admin/posts/post/';

describe('the admin of posts', () => {
  test('admits administrators only, and tells nobody who else has an account', async () => {
    const charlie = new PageClient(system.url);
    const asked = await charlie.open(list);
    assert.equal(asked.headers.get('location'), `/admin/login/?next=${encodeURIComponent(list)}`);
    const words = /The username or the password is wrong\./;
    for (const [username, password] of [
      ['editor', system.passwords.editor],
      ['viewer', system.passwords.viewer],
      ['admin', 'wrong'],
      ['nobody', 'wrong'],
    ] as const) {
      const refused = await signIn(charlie, username, password);
      assert.equal(refused.status, 401, username);
      assert.match(refused.html, words);
    }
    assert.equal((await charlie.open('/admin/')).status, 302);
    await charlie.open('/');
    await charlie.send('/sign-in', { username: 'viewer', password: system.passwords.viewer, next: '/' });
    assert.equal((await charlie.open(list)).status, 302, 'also with a session of the pages');
    assert.match((await charlie.open('/admin/login/')).html, /You are signed in as viewer/);
    assert.equal((await bob.open('/')).status, 200, 'an administrator is signed in to the pages too');
  });

  test('adds, finds, changes and deletes a post', async () => {
    const word = `needle${Date.now()}`;
    await bob.open(`${list}add/`);
    const added = await bob.send(`${list}add/`, { title: `Hay ${word}`, body: 'In a stack', author: '77' });
    assert.equal(added.headers.get('location'), list, added.html);
    await bob.open(`${list}add/`);
    await bob.send(`${list}add/`, { title: `Own ${word}`, body: 'Mine' });
    const found = await bob.open(`${list}?q=${word.toUpperCase()}&o=1`);
    assert.match(found.html, new RegExp(`Hay ${word}[\\s\\S]*number 77[\\s\\S]*Own ${word}[\\s\\S]*admin`));
    assert.match((await bob.open(`${list}?q=${word}&userId=77`)).html, /Hay needle(?![\s\S]*Own needle)/);
    const path = /href="(\/admin\/posts\/post\/\d+\/change\/)">Hay/.exec(found.html)?.[1] ?? '';
    const form = await bob.open(path);
    const saved = await bob.send(path, { ...fieldsOf(form.html), body: 'Found' });
    assert.equal(saved.headers.get('location'), list, saved.html);
    const id = Number(/\d+/.exec(path)?.[0]);
    assert.deepEqual(
      [(await cast.bob.get(`/posts/${id}`)).json.data].map(({ title, body, userId }) => [
        title,
        body,
        userId,
      ]),
      [[`Hay ${word}`, 'Found', 77]],
    );
    await bob.open(path.replace('change', 'delete'));
    await bob.send(path.replace('change', 'delete'), { post: 'yes' });
    assert.equal((await bob.open(path)).status, 404);
    assert.equal((await cast.bob.get(`/posts/${id}`)).status, 404);
  });

  test('keeps what the posts service refuses, and names the field', async () => {
    await bob.open(`${list}add/`);
    const refused = await bob.send(`${list}add/`, { title: '\u200b', body: 'Kept' });
    assert.equal(refused.status, 422);
    assert.match(refused.html, /Title must not be blank[\s\S]*Kept<\/textarea>/);
    for (const id of ['0', 'abc', '9'.repeat(30)])
      assert.equal((await bob.open(`${list}${id}/change/`)).status, 404);
    const odd = await bob.open(`${list}?q=${'x'.repeat(300)}&userId=abc&created=never&o=9`);
    assert.equal(odd.status, 200);
    assert.match(odd.html, /The filter “userId” was left out/);
  });

  test('shows both texts when two editors save', async () => {
    const { id } = await cast.bob.create({ title: 'Twice' });
    const form = await bob.open(`${list}${id}/change/`);
    await cast.bob.put(`/posts/${id}`, { title: 'By the other' });
    const conflict = await bob.send(`${list}${id}/change/`, { ...fieldsOf(form.html), title: 'By me' });
    assert.equal(conflict.status, 409);
    assert.match(conflict.html, /By the other/);
    assert.match(conflict.html, /value="By me"/);
  });

  test('deletes and exports all that match', async () => {
    const word = `batch${Date.now()}`;
    for (const title of ['a', 'b', 'c']) await cast.bob.create({ title: `${word} ${title}` });
    const csv = await bob.open(`${list}export/?format=csv&q=${word}&o=1`);
    assert.match(csv.html, new RegExp(`${word} a[\\s\\S]*${word} b[\\s\\S]*${word} c`));
    await bob.open(`${list}?q=${word}`);
    const bulk = { action: 'delete_selected', select_across: '1' };
    const asked = await bob.send(`${list}?q=${word}`, bulk);
    assert.match(asked.html, /deletes 3 posts/);
    await bob.send(`${list}?q=${word}`, { ...bulk, post: 'yes' });
    assert.match((await bob.open(`${list}?q=${word}`)).html, /No matching posts/);
  });
});

async function signIn(
  client: PageClient,
  username: 'admin' | 'editor' | 'viewer' | 'nobody',
  password?: string,
) {
  await client.open('/admin/login/');
  const known = username === 'nobody' ? '' : system.passwords[username];
  return client.send('/admin/login/', { username, password: password ?? known });
}
