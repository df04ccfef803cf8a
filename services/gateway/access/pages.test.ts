import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { PageClient } from '#kit/testing/page-client.ts';
import { startTestSystem } from '../../testing.ts';
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
    assert.equal((await cast.alice.get(`/posts/${id}`)).json.data.title, 'Stays');
  });

  test('lets an editor delete only with a second factor', async () => {
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

  test('lets an administrator delete without it', async () => {
    const { id } = await cast.alice.create();
    assert.doesNotMatch((await bob.open(`/posts/${id}/delete`)).html, /mfaVerified/);
    assert.equal((await bob.send(`/posts/${id}/delete`, {})).status, 303);
  });
});

test('an unknown address is a page for browsers and JSON for programs', async () => {
  assert.match((await bob.open('/nowhere')).html, /Page not found/);
  const response = await fetch(`${system.url}/nowhere`);
  assert.equal(response.status, 404);
  assert.match(response.headers.get('content-type') ?? '', /json/);
});
