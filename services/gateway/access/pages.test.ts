import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { PageClient } from '@octavo/testing';
import { castOf, signedIn, visitorsOf } from '../testing.ts';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const { alice, bob, charlie } = await visitorsOf(system);

describe('signing in', () => {
  test('is required for every page, and leads back to it', async () => {
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

  test('gives the same message for an unknown name and a wrong password, and keeps the name', async () => {
    const stranger = new PageClient(system.url);
    await stranger.open('/');
    for (const username of ['viewer', 'nobody']) {
      const { status, html } = await stranger.send('/sign-in', { username, password: 'wrong', next: '/' });
      assert.equal(status, 401);
      assert.match(html, /The user name or the password is wrong\./);
      assert.ok(html.includes(`value="${username}"`));
    }
    const { status, html } = await stranger.send('/sign-in', { username: 'viewer', password: '', next: '/' });
    assert.equal(status, 422);
    assert.match(html, /<a href="#field-password">Password is required/);
  });

  test('never redirects to another site', async () => {
    const stranger = new PageClient(system.url);
    await stranger.open('/sign-in?next=//evil.example/');
    const fields = { username: 'viewer', password: system.passwords.viewer, next: '//evil.example/' };
    assert.equal((await stranger.send('/sign-in', fields)).headers.get('location'), '/');
  });

  test('ends with signing out', async () => {
    const client = await signedIn(system, 'charlie');
    await client.send('/sign-out', {});
    assert.match((await client.open('/')).html, /<h1>Sign in<\/h1>/);
  });

  test('counts for pages only: the API ignores cookies', async () => {
    const cookie = [...bob.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(`${system.url}/api/v1/posts`, { headers: { cookie } });
    assert.equal(response.status, 401);
  });
});

describe('access to pages', () => {
  test('decides which controls are shown', async () => {
    const { id } = await cast.alice.create();
    const list = await charlie.open('/');
    assert.doesNotMatch(list.html, /New post|Import|Edit|Delete|Status/);
    assert.match(list.html, /Export/);
    assert.doesNotMatch((await charlie.open(`/posts/${id}`)).html, /Edit|Delete/);
    assert.match((await alice.open('/')).html, /New post[\s\S]*Edit[\s\S]*Delete/);
    assert.doesNotMatch((await alice.open('/')).html, /href="\/status"/);
    assert.match((await bob.open('/')).html, /href="\/status"/);
  });

  test('is checked again when a form is sent directly', async () => {
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
      assert.match(html, /You do not have access/);
    }
    const [viewers, editors] = [await charlie.open('/'), await alice.open('/')];
    assert.deepEqual(navigationOf(refused[0]?.html), navigationOf(viewers.html));
    assert.deepEqual(navigationOf(refused.at(-1)?.html), navigationOf(editors.html));
    assert.equal((await cast.alice.get(`/posts/${id}`)).json.data.title, 'Stays');
  });

  test('lets an administrator delete without a second factor', async () => {
    const { id } = await cast.alice.create();
    assert.doesNotMatch((await bob.open(`/posts/${id}/delete`)).html, /name="code"|Set up/);
    assert.equal((await bob.send(`/posts/${id}/delete`, {})).status, 303);
  });
});

test('an unknown address is a page for browsers and JSON for programs', async () => {
  const { html } = await bob.open('/nowhere');
  assert.match(html, /Page not found/);
  assert.deepEqual(navigationOf(html), navigationOf((await bob.open('/')).html));
  assert.equal(navigationOf(html).length, 8);
  const response = await fetch(`${system.url}/nowhere`);
  assert.equal(response.status, 404);
  assert.match(response.headers.get('content-type') ?? '', /json/);
});

test('the navigation marks where a page belongs, and nothing where it belongs nowhere', async () => {
  const { id } = await cast.alice.create();
  const marked = async (path: string) =>
    /href="([^"]+)" aria-current="page"/.exec((await bob.open(path)).html)?.[1];
  for (const path of ['/', '/?page=2', '/posts/new', `/posts/${id}/edit`])
    assert.equal(await marked(path), '/');
  assert.equal(await marked('/posts/import'), '/posts/import');
  assert.equal(await marked('/users/1'), '/users');
  for (const path of ['/account', '/nowhere']) assert.equal(await marked(path), undefined, path);
});

test('the analysis names the users who wrote', async () => {
  await cast.alice.create();
  assert.match((await bob.open('/analysis')).html, /Posts per user[\s\S]*>editor</);
});

/** The addresses in the navigation. */
function navigationOf(html = ''): string[] {
  const navigation = /<nav aria-label="Main">.*?<\/nav>/s.exec(html)?.[0] ?? '';
  return [...navigation.matchAll(/href="([^"]+)"/g)].map(([, href]) => href ?? '');
}
