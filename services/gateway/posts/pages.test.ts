import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startTestSystem } from '@octavo/octavo/testing';
import type { PageResponse } from '@octavo/testing';
import { castOf, signedIn, visitorsOf } from '../testing.ts';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const { alice, bob } = await visitorsOf(system);

const tagOf = (page: PageResponse) => decode(/name="tag" value="([^"]+)"/.exec(page.html)?.[1] ?? '');
const decode = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&');

describe('the list', () => {
  test('is searched, filtered, sorted and paged by its address', async () => {
    const word = `haystack${Date.now()}`;
    for (let number = 1; number <= 23; number += 1)
      await cast.alice.create({ title: `${word} ${number}`, userId: 9 });
    const first = await bob.open(`/?search=${word.toUpperCase()}&userId=9&sortBy=id&sortOrder=asc`);
    assert.match(first.html, /23 posts found/);
    const titles = first.html.replaceAll(/<\/?mark>/g, '');
    assert.match(titles, new RegExp(`${word} 1<[\\s\\S]*${word} 20<`));
    assert.match(first.html, /1–20 of 23/);
    const next = decode(/href="([^"]+)">Next</.exec(first.html)?.[1] ?? '');
    assert.match((await bob.open(next)).html, /21–23 of 23/);
    assert.match((await bob.open(`/?search=${word}&userId=10`)).html, /No matching posts/);
    const past = await bob.open(`/?search=${word}&page=99999`);
    assert.match(past.html, /This page is past the end/);
    assert.match(past.html, />None of 23</);
    assert.doesNotMatch(past.html, /\d–\d/);
    const last = decode(/href="([^"]+)"[^>]*>Go to the last page</.exec(past.html)?.[1] ?? '');
    assert.match((await bob.open(last)).html, /21–23 of 23/);
  });

  test('ignores invalid filters in its address, and names them', async () => {
    const query = `userId=x&page=0&sortBy=nothing&search=${'x'.repeat(257)}`;
    const { status, html } = await bob.open(`/?${query}`);
    assert.equal(status, 200);
    assert.match(html, /User must be the name or the number of a user/);
    assert.match(html, /Some filters were ignored/);
  });

  test('escapes the text of posts', async () => {
    const title = '<script>alert(1)</script> "quoted" & more';
    const { id } = await cast.alice.create({ title, body: '<img src=x onerror=alert(1)>' });
    for (const path of ['/', `/posts/${id}`, `/posts/${id}/edit`, `/posts/${id}/delete`]) {
      const { html } = await bob.open(path);
      assert.ok(html.includes('&lt;script&gt;alert(1)&lt;/script&gt; &quot;quoted&quot; &amp; more'), path);
      assert.doesNotMatch(html, /<script>|<img/);
    }
  });

  test('takes less than 16 kB to send with its stylesheet when it is full of long posts', async () => {
    const texts = { title: 'Long titles '.repeat(12), body: 'Long bodies '.repeat(500) };
    for (let count = 0; count < 20; count += 1) await cast.alice.create(texts);
    const { html } = await bob.open('/');
    const css = await fetch(new URL(/href="([^"]+\.css)"/.exec(html)?.[1] ?? '', system.url));
    const bytes = gzipSync(html).byteLength + gzipSync(await css.arrayBuffer()).byteLength;
    assert.ok(bytes < 16_000, `${bytes} bytes`);
  });
});

describe('writing', () => {
  test('creates a post for the visitor or for another user', async () => {
    await alice.open('/posts/new');
    const created = await alice.send('/posts/new', {
      title: 'Fog',
      body: '\r\nFirst\r\n\r\nlast\r\n',
      userId: '',
    });
    assert.equal(created.status, 303);
    const path = created.headers.get('location') ?? '';
    const { data } = (await cast.alice.get(path)).json;
    assert.deepEqual([data.title, data.body, data.userId], ['Fog', '\nFirst\n\nlast\n', 2]);
    const named = await alice.send('/posts/new', { title: 'Fog', body: 'x', userId: ' ADMIN ' });
    assert.equal((await cast.alice.get(named.headers.get('location') ?? '')).json.data.userId, 1);
    const other = await alice.send('/posts/new', { title: 'Fog', body: 'x', userId: ' 77 ' });
    assert.equal((await cast.alice.get(other.headers.get('location') ?? '')).json.data.userId, 77);
  });

  test('shows each problem beside its field and in a summary, and preserves the typed text', async () => {
    const body = `${'😀'.repeat(10_001)}`;
    const { status, html } = await alice.send('/posts/new', { title: ' ', body, userId: 'seven' });
    assert.equal(status, 422);
    assert.match(html, /<a href="#field-title">Title must not be empty/);
    assert.match(html, /<a href="#field-body">Body must be at most 10000 characters/);
    assert.match(html, /<a href="#field-userId">User must be the name or the number of a user/);
    assert.match(html, /id="field-title"[^>]*aria-invalid="true"/);
    assert.ok(html.includes(`>\n${body}</textarea>`));
    assert.match(html, /value="seven"/);
  });

  test('saves an edit, and leaves unchanged text as it is stored', async () => {
    const { id } = await cast.alice.create({ title: 'Old', body: 'kept\r\nas it is' });
    const form = await alice.open(`/posts/${id}/edit`);
    const saved = await alice.send(`/posts/${id}/edit`, {
      title: 'New',
      body: 'kept\r\nas it is',
      tag: tagOf(form),
    });
    assert.equal(saved.headers.get('location'), `/posts/${id}`);
    const { data } = (await cast.alice.get(`/posts/${id}`)).json;
    assert.deepEqual([data.title, data.body], ['New', 'kept\r\nas it is']);
  });

  test('shows both texts after a conflicting edit, and overwrites only on request', async () => {
    const { id } = await cast.alice.create({ title: 'Start', body: 'start' });
    const form = await alice.open(`/posts/${id}/edit`);
    await cast.bob.put(`/posts/${id}`, { title: 'Of Bob', body: 'bob was here' });
    const conflict = await alice.send(`/posts/${id}/edit`, {
      title: 'Of Alice',
      body: 'mine',
      tag: tagOf(form),
    });
    assert.equal(conflict.status, 409);
    assert.match(
      conflict.html,
      /Someone else saved this post[\s\S]*value="Of Alice"[\s\S]*mine[\s\S]*Of Bob[\s\S]*bob was here/,
    );
    assert.equal((await cast.bob.get(`/posts/${id}`)).json.data.title, 'Of Bob');
    await alice.send(`/posts/${id}/edit`, { title: 'Of Alice', body: 'mine', tag: tagOf(conflict) });
    assert.equal((await cast.bob.get(`/posts/${id}`)).json.data.title, 'Of Alice');
  });

  test('of two simultaneous saves one is a conflict', async () => {
    const { id } = await cast.alice.create();
    const tag = tagOf(await alice.open(`/posts/${id}/edit`));
    const saves = await Promise.all(
      ['one', 'two'].map((title) => alice.send(`/posts/${id}/edit`, { title, body: 'b', tag })),
    );
    assert.deepEqual(saves.map(({ status }) => status).sort(), [303, 409]);
  });

  test('offers to save the text of a deleted post as a new post', async () => {
    const { id } = await cast.alice.create();
    const tag = tagOf(await alice.open(`/posts/${id}/edit`));
    await cast.bob.delete(`/posts/${id}`);
    const { status, html } = await alice.send(`/posts/${id}/edit`, { title: 'Mine', body: 'my text', tag });
    assert.equal(status, 409);
    assert.match(
      html,
      /deleted this post while[\s\S]*action="\/posts\/new"[\s\S]*value="Mine"[\s\S]*my text/,
    );
  });

  test('loses no text when the session ends', async () => {
    const client = await signedIn(system, 'alice');
    await client.open('/posts/new');
    client.cookies.clear();
    const asked = await client.send('/posts/new', { title: 'Long work', body: 'line 1\r\n"line 2"' });
    assert.equal(asked.status, 401);
    assert.match(asked.html, /Your text is not lost/);
    const again = await client.send('/sign-in', {
      username: 'editor',
      password: system.passwords.editor,
      next: '/posts/new',
      'preserved.title': 'Long work',
      'preserved.body': 'line 1\r\n"line 2"',
    });
    assert.equal(again.status, 200);
    assert.match(
      again.html,
      /action="\/posts\/new"[\s\S]*value="Long work"[\s\S]*>\nline 1\n&quot;line 2&quot;<\/textarea>/,
    );
    const saved = await client.send('/posts/new', {
      title: 'Long work',
      body: 'line 1\r\n"line 2"',
      userId: '',
    });
    assert.equal(saved.status, 303);
  });

  test('a missing post is a page with status 404', async () => {
    for (const path of [
      '/posts/999999999',
      '/posts/x',
      '/posts/0',
      '/posts/999999999/edit',
      '/posts/9e9/delete',
    ]) {
      const { status, html } = await bob.open(path);
      assert.equal(status, 404, path);
      assert.match(html, /Page not found[\s\S]*Request <code>/);
    }
  });
});
