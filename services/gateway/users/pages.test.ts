import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { FakeClock } from '@octavo/core';
import { startTestSystem } from '@octavo/octavo/testing';
import { PageClient } from '@octavo/testing';
import { setUpApp } from '../account/testing.ts';
import { assertError, castOf, Person, visitorsOf } from '../testing.ts';

const clock = new FakeClock();
const system = await startTestSystem({}, clock);
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const { alice, bob, charlie } = await visitorsOf(system);
await bob.open('/users');

let added = 0;

/** A new user, by the pages of Bob. */
async function addUser(role = 'editor') {
  added += 1;
  const username = `Dora.${added}`;
  const { status, html } = await bob.send('/users/new', { username, role });
  assert.equal(status, 200, html);
  const password = passwordIn(html);
  const uid = Number(/href="\/users\/(\d+)"/.exec(html)?.[1]);
  return { username, password, uid, html };
}

function passwordIn(html: string): string {
  return /Password<\/dt><dd><code>([\w-]{16})<\/code>/.exec(html)?.[1] ?? '';
}

async function login(username: string, password: string) {
  const response = await cast.stranger.post('/auth/login', { username, password });
  return { response, person: new Person(system.url, response.json.data?.token) };
}

describe('the list of users', () => {
  test('is for administrators, and each change is checked again', async () => {
    assert.match((await bob.open('/')).html, /href="\/users"/);
    const { uid, username, password } = await addUser();
    for (const client of [alice, charlie]) {
      assert.doesNotMatch((await client.open('/')).html, /href="\/users"/);
      const refused = await Promise.all([
        client.open('/users'),
        client.open('/users/new'),
        client.open(`/users/${uid}`),
        client.open(`/users/${uid}/disable`),
        client.send('/users/new', { username: 'mallory', role: 'admin' }),
        client.send(`/users/${uid}/role`, { role: 'admin' }),
        client.send(`/users/${uid}/disable`, {}),
        client.send(`/users/${uid}/enable`, {}),
        client.send(`/users/${uid}/password`, {}),
        client.send(`/users/${uid}/second-factor`, {}),
      ]);
      for (const { status, html } of refused) {
        assert.equal(status, 403);
        assert.match(html, /You do not have access/);
      }
    }
    const { response } = await login(username, password);
    assert.equal(response.json.data.role, 'editor');
    assert.match((await bob.open('/users?search=mallory')).html, /No matching users/);
    const stranger = new PageClient(system.url);
    assert.match((await stranger.open('/users')).html, /<h1>Sign in<\/h1>/);
    assert.equal((await bob.send(`/users/${uid}/disable`, { _csrf: 'forged' })).status, 403);
    assert.equal((await login(username, password)).response.status, 200);
  });

  test('is searched and paged by its address', async () => {
    for (let number = 0; number < 22; number += 1) {
      await bob.send('/users/new', { username: `pages-${number}@example.com`, role: 'viewer' });
    }
    const first = await bob.open('/users?search=PAGES-');
    assert.match(first.html, /22 users found[\s\S]*pages-0@example\.com[\s\S]*1–20 of 22/);
    assert.match(first.html, /href="\/users\?search=PAGES-&amp;page=2">Next</);
    const second = await bob.open('/users?search=PAGES-&page=2');
    assert.match(second.html, /pages-21@example\.com[\s\S]*21–22 of 22/);
    assert.match((await bob.open('/users?search=PAGES-&page=9')).html, /This page is past the end/);
    for (const query of ['page=0', 'page=x', 'page=1e99', 'search=a&search=b', 'search=%00', 'search=%F0']) {
      assert.equal((await bob.open(`/users?${query}`)).status, 200, query);
    }
    assert.match((await bob.open('/users?search=%3Cscript%3E')).html, /value="&lt;script&gt;"/);
  });
});

describe('adding a user', () => {
  test('shows a password once, which works', async () => {
    const { username, password, uid, html } = await addUser('viewer');
    assert.match(html, /It is not shown again/);
    const { person, response } = await login(username, password);
    assert.deepEqual([response.json.data.username, response.json.data.role], [username, 'viewer']);
    assert.equal((await person.get('/posts')).status, 200);
    for (const path of ['/users', `/users/${uid}`]) {
      assert.ok(!(await bob.open(path)).html.includes(password), path);
    }
  });

  test('says beside the field what is wrong', async () => {
    const { username } = await addUser();
    const cases: [string, number, RegExp][] = [
      ['', 422, /User name must be 1 to 128/],
      ['two words', 422, /User name must be 1 to 128/],
      [username.toUpperCase(), 409, /User name is already taken/],
    ];
    for (const [name, status, pattern] of cases) {
      const shown = await bob.send('/users/new', { username: name, role: 'editor' });
      assert.equal(shown.status, status);
      assert.match(shown.html, pattern);
      assert.ok(shown.html.includes(`value="${name}"`) && shown.html.includes('value="editor" selected'));
      assert.doesNotMatch(shown.html, /<code>/);
    }
    const noRole = await bob.send('/users/new', { username: 'somebody', role: 'root' });
    assert.equal(noRole.status, 422);
    assert.match(noRole.html, /Role must be one of/);
  });
});

describe('an administrator', () => {
  test('changes a role, which applies at once', async () => {
    const { username, password, uid } = await addUser('viewer');
    const { person } = await login(username, password);
    assertError(await person.post('/posts', { title: 'a', body: 'b' }), 403, 'FORBIDDEN');
    assert.match((await bob.open(`/users/${uid}`)).html, /value="viewer" selected/);
    const changed = await bob.send(`/users/${uid}/role`, { role: 'editor' });
    assert.equal(changed.headers.get('location'), `/users/${uid}`);
    assert.match((await bob.open(`/users/${uid}`)).html, /is now an editor[\s\S]*value="editor" selected/);
    assert.equal((await person.post('/posts', { title: 'a', body: 'b' })).status, 201);
    assert.equal((await bob.send(`/users/${uid}/role`, { role: 'root' })).status, 422);
  });

  test('disables a user and enables them again', async () => {
    const { username, password, uid } = await addUser();
    const { person } = await login(username, password);
    assert.match((await bob.open(`/users/${uid}/disable`)).html, /Disable Dora\.\d+\?/);
    await bob.send(`/users/${uid}/disable`, {});
    clock.advance(1_000);
    assertError(await person.get('/posts'), 403, 'FORBIDDEN');
    assertError((await login(username, password)).response, 401, 'INVALID_CREDENTIALS');
    assert.match((await bob.open(`/users/${uid}`)).html, />disabled<[\s\S]*>Enable</);
    await bob.send(`/users/${uid}/enable`, {});
    assert.match((await bob.open(`/users/${uid}`)).html, />active</);
    assert.equal((await login(username, password)).response.status, 200);
  });

  test('resets a password, which ends the tokens of the user', async () => {
    const { username, password, uid } = await addUser();
    const { person } = await login(username, password);
    assert.equal((await person.get('/posts')).status, 200);
    await bob.open(`/users/${uid}/password`);
    const { html } = await bob.send(`/users/${uid}/password`, {});
    clock.advance(1_000);
    assertError(await person.get('/posts'), 401, 'UNAUTHORIZED');
    assertError((await login(username, password)).response, 401, 'INVALID_CREDENTIALS');
    assert.equal((await login(username, passwordIn(html))).response.status, 200);
  });

  test('removes the authenticator app of a user', async () => {
    const { username, password, uid } = await addUser();
    const dora = new PageClient(system.url);
    await dora.open('/');
    await dora.send('/sign-in', { username, password, next: '/' });
    await setUpApp(dora, password, clock);
    assert.match((await bob.open(`/users/${uid}`)).html, /Remove authenticator app/);
    await bob.open(`/users/${uid}/second-factor`);
    assert.equal((await bob.send(`/users/${uid}/second-factor`, {})).status, 303);
    assert.doesNotMatch((await bob.open(`/users/${uid}`)).html, /Remove authenticator app/);
    assert.match((await dora.open('/account')).html, />off</);
  });

  test('cannot lock themselves out', async () => {
    const own = await bob.open('/users/1');
    assert.match(own.html, /This is you/);
    assert.doesNotMatch(own.html, /Disable|Change role|Reset password/);
    const refused = await Promise.all([
      bob.send('/users/1/role', { role: 'viewer' }),
      bob.send('/users/1/disable', {}),
      bob.send('/users/1/password', {}),
      bob.send('/users/1/second-factor', {}),
    ]);
    for (const { status, html } of refused) {
      assert.equal(status, 403);
      assert.match(html, /your own account/);
    }
    assert.equal((await cast.bob.get('/admin/status')).status, 200);
  });

  test('gets 404 for a user that does not exist', async () => {
    for (const path of ['/users/999999', '/users/x', '/users/0', '/users/999999/disable', '/users/1e3']) {
      assert.equal((await bob.open(path)).status, 404, path);
    }
    assert.equal((await bob.send('/users/999999/disable', {})).status, 404);
  });
});

describe('posts', () => {
  test('show the name of their user', async () => {
    const { username, password } = await addUser();
    const { person } = await login(username, password);
    const { id } = await person.create();
    const { id: foreign } = await person.create({ userId: 987_654 });
    const escaped = username.replace('.', '\\.');
    const inList = new RegExp(`data-label="User">${escaped}</td>`);
    assert.match((await alice.open('/')).html, inList);
    assert.match((await alice.open('/')).html, /data-label="User">987654<\/td>/);
    assert.match((await alice.open(`/posts/${id}`)).html, new RegExp(`title="All posts[^>]*>${escaped}</a>`));
    assert.match((await alice.open(`/posts/${foreign}`)).html, /title="All posts[^>]*>987654<\/a>/);
    assert.match((await bob.open(`/posts/${id}/delete`)).html, new RegExp(`of user ${escaped} and`));
    assert.match((await bob.open(`/posts/${foreign}/delete`)).html, /of user 987654 and/);
  });
});
