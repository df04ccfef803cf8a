import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type PageAnswer, PageClient } from '#kit/testing/page-client.ts';
import { startTestSystem } from '../../testing.ts';
import { castOf } from '../testing.ts';
import { readersOf, signedIn } from './testing.ts';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const { alice, bob, charlie } = await readersOf(system);

const tagOf = (page: PageAnswer) => decode(/name="tag" value="([^"]+)"/.exec(page.html)?.[1] ?? '');
const decode = (text: string) => text.replaceAll('&quot;', '"').replaceAll('&amp;', '&');

describe('signing in', () => {
  test('is asked for at every page, and leads back to it', async () => {
    const stranger = new PageClient(system.url);
    for (const path of ['/', '/posts/7', '/posts/new', '/analysis', '/status', '/exports', '/posts/export']) {
      const { status, html } = await stranger.open(path);
      assert.equal(status, 200);
      assert.match(html, /<h1>Sign in<\/h1>/);
      assert.ok(html.includes(`name="next" value="${path}"`), path);
    }
    const byCurl = await fetch(system.url, { headers: { accept: '*/*' } });
    assert.equal(byCurl.status, 200);
    assert.match(await byCurl.text(), /<h1>Sign in<\/h1>/);
    const fields = { username: 'viewer', password: system.passwords.viewer, next: '/analysis' };
    const { headers } = await stranger.send('/sign-in', fields);
    assert.equal(headers.get('location'), '/analysis');
    assert.match(headers.get('set-cookie') ?? '', /^gateway_session=.*; HttpOnly; SameSite=Strict$/);
  });

  test('says one thing of an unknown name and a wrong password, and keeps the name', async () => {
    const stranger = new PageClient(system.url);
    await stranger.open('/');
    for (const username of ['viewer', 'nobody']) {
      const { status, html } = await stranger.send('/sign-in', { username, password: 'wrong', next: '/' });
      assert.equal(status, 401);
      assert.match(html, /User name or password is wrong\./);
      assert.ok(html.includes(`value="${username}"`));
    }
    const { status, html } = await stranger.send('/sign-in', { username: 'viewer', password: '', next: '/' });
    assert.equal(status, 422);
    assert.match(html, /<a href="#field-password">Password is required/);
  });

  test('never leads to another site', async () => {
    const stranger = new PageClient(system.url);
    await stranger.open('/sign-in?next=//evil.example/');
    const fields = { username: 'viewer', password: system.passwords.viewer, next: '//evil.example/' };
    assert.equal((await stranger.send('/sign-in', fields)).headers.get('location'), '/');
  });

  test('is over with signing out', async () => {
    const client = await signedIn(system, 'charlie');
    await client.send('/sign-out', {});
    assert.match((await client.open('/')).html, /<h1>Sign in<\/h1>/);
  });

  test('counts for pages only: the API knows tokens, not cookies', async () => {
    const cookie = [...bob.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(`${system.url}/api/v1/posts`, { headers: { cookie } });
    assert.equal(answer.status, 401);
  });
});

describe('who may', () => {
  test('decides which controls are there', async () => {
    const { id } = await cast.alice.create();
    const list = await charlie.open('/');
    assert.doesNotMatch(list.html, /New post|Import|Edit|Delete|Status/);
    assert.match(list.html, /Export/);
    assert.doesNotMatch((await charlie.open(`/posts/${id}`)).html, /Edit|Delete/);
    assert.match((await alice.open('/')).html, /New post[\s\S]*Edit[\s\S]*Delete/);
    assert.doesNotMatch((await alice.open('/')).html, /href="\/status"/);
    assert.match((await bob.open('/')).html, /href="\/status"/);
  });

  test('is decided again for what is sent directly', async () => {
    const { id } = await cast.alice.create({ title: 'Stays' });
    const refused = await Promise.all([
      charlie.open('/posts/new'),
      charlie.send('/posts/new', { title: 'x', body: 'y' }),
      charlie.send(`/posts/${id}/edit`, { title: 'x', body: 'y', tag: '"1"' }),
      charlie.send(`/posts/${id}/delete`, { mfaVerified: 'true' }),
      charlie.upload('/posts/import', { name: 'a.csv', content: 'title,body\na,b\n' }),
      charlie.open('/status'),
      alice.open('/status'),
    ]);
    for (const { status, html } of refused) {
      assert.equal(status, 403);
      assert.match(html, /You may not do this/);
    }
    assert.equal((await cast.alice.get(`/posts/${id}`)).json.data.title, 'Stays');
  });

  test('an editor deletes with the second factor only', async () => {
    const { id } = await cast.alice.create();
    const asked = await alice.open(`/posts/${id}/delete`);
    assert.match(asked.html, /name="mfaVerified"/);
    const refused = await alice.send(`/posts/${id}/delete`, {});
    assert.equal(refused.status, 403);
    assert.match(refused.html, /Nothing is deleted yet/);
    assert.equal((await alice.send(`/posts/${id}/delete`, { mfaVerified: 'true' })).status, 303);
    assert.equal((await cast.alice.get(`/posts/${id}`)).status, 404);
    assert.equal((await alice.send(`/posts/${id}/delete`, { mfaVerified: 'true' })).status, 404);
  });

  test('an administrator is not asked for it', async () => {
    const { id } = await cast.alice.create();
    assert.doesNotMatch((await bob.open(`/posts/${id}/delete`)).html, /mfaVerified/);
    assert.equal((await bob.send(`/posts/${id}/delete`, {})).status, 303);
  });
});

describe('the list', () => {
  test('searches, filters, sorts and pages by its address', async () => {
    const word = `haystack${Date.now()}`;
    for (let number = 1; number <= 23; number += 1)
      await cast.alice.create({ title: `${word} ${number}`, userId: 9 });
    const first = await bob.open(`/?search=${word.toUpperCase()}&userId=9&sortBy=id&sortOrder=asc`);
    assert.match(first.html, /23 posts found/);
    assert.match(first.html, new RegExp(`${word} 1<[\\s\\S]*${word} 20<`));
    assert.match(first.html, /1–20 of 23/);
    const next = decode(/href="([^"]+)">Next</.exec(first.html)?.[1] ?? '');
    assert.match((await bob.open(next)).html, /21–23 of 23/);
    assert.match((await bob.open(`/?search=${word}&userId=10`)).html, /No post fits/);
    assert.match((await bob.open(`/?search=${word}&page=9`)).html, /This page is past the end/);
  });

  test('leaves out what of its address it cannot use, and says so', async () => {
    const query = `userId=x&page=0&sortBy=nothing&search=${'x'.repeat(257)}`;
    const { status, html } = await bob.open(`/?${query}`);
    assert.equal(status, 200);
    assert.match(html, /User number must be a whole number/);
    assert.match(html, /It was left out\./);
  });

  test('shows text as text', async () => {
    const title = '<script>alert(1)</script> "quoted" & more';
    const { id } = await cast.alice.create({ title, body: '<img src=x onerror=alert(1)>' });
    for (const path of ['/', `/posts/${id}`, `/posts/${id}/edit`, `/posts/${id}/delete`]) {
      const { html } = await bob.open(path);
      assert.ok(html.includes('&lt;script&gt;alert(1)&lt;/script&gt; &quot;quoted&quot; &amp; more'), path);
      assert.doesNotMatch(html, /<script>|<img/);
    }
  });

  test('weighs under 50 kB with its stylesheet when full of long posts', async () => {
    const texts = { title: 'Long titles '.repeat(12), body: 'Long bodies '.repeat(500) };
    for (let count = 0; count < 20; count += 1) await cast.alice.create(texts);
    const { html } = await bob.open('/');
    const css = await fetch(new URL(/href="([^"]+\.css)"/.exec(html)?.[1] ?? '', system.url));
    const bytes = Buffer.byteLength(html) + (await css.arrayBuffer()).byteLength;
    assert.ok(bytes < 50_000, `${bytes} bytes`);
  });
});

describe('writing', () => {
  test('creates a post for the reader, or for the user that is given', async () => {
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
    const other = await alice.send('/posts/new', { title: 'Fog', body: 'x', userId: ' 77 ' });
    assert.equal((await cast.alice.get(other.headers.get('location') ?? '')).json.data.userId, 77);
  });

  test('names what is wrong beside the field and above, and keeps what was typed', async () => {
    const body = `${'😀'.repeat(10_001)}`;
    const { status, html } = await alice.send('/posts/new', { title: ' ', body, userId: 'seven' });
    assert.equal(status, 422);
    assert.match(html, /<a href="#field-title">Title must have some text/);
    assert.match(html, /<a href="#field-body">Body must be at most 10000 characters/);
    assert.match(html, /<a href="#field-userId">User number must be a whole number/);
    assert.match(html, /id="field-title"[^>]*aria-invalid="true"/);
    assert.ok(html.includes(`>\n${body}</textarea>`));
    assert.match(html, /value="seven"/);
  });

  test('saves an edit, and leaves text that was not touched as it is stored', async () => {
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

  test('shows both texts where somebody saved in between, and saves over theirs only when told to', async () => {
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
      /Somebody else saved this post[\s\S]*value="Of Alice"[\s\S]*mine[\s\S]*Of Bob[\s\S]*bob was here/,
    );
    assert.equal((await cast.bob.get(`/posts/${id}`)).json.data.title, 'Of Bob');
    await alice.send(`/posts/${id}/edit`, { title: 'Of Alice', body: 'mine', tag: tagOf(conflict) });
    assert.equal((await cast.bob.get(`/posts/${id}`)).json.data.title, 'Of Alice');
  });

  test('of two who save at once one is told', async () => {
    const { id } = await cast.alice.create();
    const tag = tagOf(await alice.open(`/posts/${id}/edit`));
    const saves = await Promise.all(
      ['one', 'two'].map((title) => alice.send(`/posts/${id}/edit`, { title, body: 'b', tag })),
    );
    assert.deepEqual(saves.map(({ status }) => status).sort(), [303, 409]);
  });

  test('offers to save anew what belonged to a post that is gone', async () => {
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

  test('loses nothing when the session ends in between', async () => {
    const client = await signedIn(system, 'alice');
    await client.open('/posts/new');
    client.cookies.clear();
    const asked = await client.send('/posts/new', { title: 'Long work', body: 'line 1\r\n"line 2"' });
    assert.equal(asked.status, 401);
    assert.match(asked.html, /What you typed is kept/);
    const again = await client.send('/sign-in', {
      username: 'editor',
      password: system.passwords.editor,
      next: '/posts/new',
      'kept.title': 'Long work',
      'kept.body': 'line 1\r\n"line 2"',
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

  test('a page about no post is a page', async () => {
    for (const path of [
      '/posts/999999999',
      '/posts/x',
      '/posts/0',
      '/posts/999999999/edit',
      '/posts/9e9/delete',
    ]) {
      const { status, html } = await bob.open(path);
      assert.equal(status, 404, path);
      assert.match(html, /Nothing here[\s\S]*Request <code>/);
    }
  });
});

describe('figures and files', () => {
  test('the analysis shows the numbers of the API', async () => {
    const { totalPosts, uniqueChars } = (await cast.charlie.get('/posts/analytics')).json.data;
    const { html } = await charlie.open('/analysis');
    assert.ok(html.includes(`<dt>Posts</dt><dd>${totalPosts.toLocaleString('en')}</dd>`));
    assert.ok(html.includes(`<dd>${uniqueChars.toLocaleString('en')}</dd>`));
  });

  test('an export is the file of the API', async () => {
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
    }
    assert.equal((await charlie.open('/posts/export?format=xml')).status, 400);
  });

  test('stored exports are the files of the API', async () => {
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
    assert.match(missing.html, /Nothing here/);
    assert.match((await charlie.open('/exports?page=99')).html, /stored file/);
  });

  test('stored exports that are off, or none yet, say so', async () => {
    await using bare = await startTestSystem({ OBJECT_STORE: 'off' });
    const off = await (await signedIn(bare, 'charlie')).open('/exports');
    assert.equal(off.status, 503);
    assert.match(off.html, /Exports are not stored here/);
    await using fresh = await startTestSystem();
    assert.match((await (await signedIn(fresh, 'charlie')).open('/exports')).html, /No stored exports yet/);
  });

  test('the status shows what the API says of itself', async () => {
    const { html } = await bob.open('/status');
    assert.match(html, /in-process|127\.0\.0\.1:\d+/);
    assert.match(html, /Stored exports<\/td>[^<]*<td[^>]*><span class="badge good">answers/);
    assert.match(html, /Cache<\/td>[^<]*<td[^>]*><span class="badge plain">off/);
    assert.match(html, /Up for/);
  });

  test('what is not there is a page for readers and JSON for programs', async () => {
    assert.match((await bob.open('/nowhere')).html, /Nothing here/);
    const answer = await fetch(`${system.url}/nowhere`);
    assert.equal(answer.status, 404);
    assert.match(answer.headers.get('content-type') ?? '', /json/);
  });
});
