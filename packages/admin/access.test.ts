import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { fieldsOf } from './testing/forms.ts';
import { addBooks, password, startLibrary } from './testing/start.ts';

const minute = 60_000;

test('a wrong password, an unknown name and no staff get the same words; five lock for 15 minutes', async () => {
  const { url, accounts, clock } = await startLibrary();
  await accounts.create({ username: 'alice', password, isStaff: true, isSuperuser: true });
  await accounts.create({ username: 'reader', password });
  const client = new PageClient(url);
  await client.open('/admin/login/');
  const words = async (username: string, given: string) => {
    const { status, html } = await client.send('/admin/login/', { username, password: given });
    const notice = /notice bad"[^>]*>([\s\S]*?)<\/div>/.exec(html)?.[1] ?? '';
    return [status, notice.replace(/<[^>]+>/g, '').trim()];
  };
  const wrong = [401, 'The username or the password is wrong.'];
  assert.deepEqual(await words('alice', 'wrong'), wrong);
  assert.deepEqual(await words('nobody', password), wrong);
  assert.deepEqual(await words('reader', password), wrong);
  for (let failure = 2; failure <= 5; failure++) assert.deepEqual(await words('ALICE', 'wrong'), wrong);
  assert.deepEqual(await words('alice', password), [
    429,
    'Too many wrong passwords. Try again in 15 minutes.',
  ]);
  const locked = await client.send('/admin/login/', { username: 'alice', password });
  assert.equal(locked.headers.get('retry-after'), '900');
  clock.advance(15 * minute);
  assert.equal((await client.send('/admin/login/', { username: 'alice', password })).status, 303);
  const empty = await new PageClient(url).open('/admin/login/');
  assert.equal(empty.status, 200);
});

test('next leads only to this site', async () => {
  const { url, accounts } = await startLibrary();
  await accounts.create({ username: 'alice', password, isStaff: true, isSuperuser: true });
  for (const next of [
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    'javascript:alert(1)',
    '/\tevil',
  ]) {
    const client = new PageClient(url);
    await client.open(`/admin/login/?next=${encodeURIComponent(next)}`);
    const { headers } = await client.send('/admin/login/', { username: 'alice', password, next });
    assert.equal(headers.get('location'), '/admin/', next);
    const again = await client.open(`/admin/login/?next=${encodeURIComponent(next)}`);
    assert.equal(again.headers.get('location'), '/admin/');
  }
});

test('cookies are strict and HttpOnly, over HTTPS Secure with a __Host- name, and another site cannot post', async () => {
  const { url, accounts } = await startLibrary();
  await accounts.create({ username: 'alice', password, isStaff: true, isSuperuser: true });
  const client = new PageClient(url);
  const secure = { 'x-forwarded-proto': 'https' };
  await client.open('/admin/login/', { headers: secure });
  const { headers } = await client.send('/admin/login/', { username: 'alice', password }, secure);
  assert.match(
    headers.get('set-cookie') ?? '',
    /^__Host-library_session=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  );
  const alice = new PageClient(url);
  await alice.open('/admin/login/');
  await alice.send('/admin/login/', { username: 'alice', password });
  await alice.open('/admin/');
  const typed = { title: 'A', genre: 'novel', published: '2026-01-01T00:00', added: '2026-01-01T00:00' };
  const crossSite = await alice.send('/admin/library/book/add/', typed, { 'sec-fetch-site': 'cross-site' });
  assert.equal(crossSite.status, 403);
  const noToken = await alice.send('/admin/library/book/add/', { ...typed, _csrf: '' });
  assert.equal(noToken.status, 403);
  assert.match(noToken.html, /not from one of our pages/);
  const page = await alice.open('/admin/library/book/');
  assert.match(
    page.headers.get('content-security-policy') ?? '',
    /^default-src 'self';.*frame-ancestors 'none'$/,
  );
  assert.doesNotMatch(page.html, /<script(?![^>]*src=)|style=|onclick=/);
});

test('who may only view sees lists, objects and history without controls, and 403 for the rest', async () => {
  const { signedIn, database } = await startLibrary();
  const viewer = await signedIn('viewer', ['library/book:view', 'library/notice:view']);
  const [id] = await addBooks(database, [{ title: 'A' }]);
  const list = await viewer.open('/admin/library/book/');
  assert.equal(list.status, 200);
  assert.doesNotMatch(list.html, /Add book|_selected_action|Import/);
  assert.doesNotMatch((await viewer.open('/admin/')).html, /Authors|Users/);
  const object = await viewer.open(`/admin/library/book/${id}/change/`);
  assert.equal(object.status, 200);
  assert.match(object.html, /You may view books but not change them/);
  assert.doesNotMatch(object.html, /name="title"|_save/);
  assert.equal((await viewer.open(`/admin/library/book/${id}/history/`)).status, 200);
  assert.equal((await viewer.open('/admin/library/book/export/?format=csv')).status, 200);
  for (const path of [
    'book/add/',
    `book/${id}/delete/`,
    'book/import/',
    'author/',
    'author/add/',
    'notice/add/',
  ])
    assert.equal((await viewer.open(`/admin/library/${path}`)).status, 403, path);
  for (const path of ['book/add/', `book/${id}/change/`, `book/${id}/delete/`, 'book/import/confirm/'])
    assert.equal(
      (await viewer.send(`/admin/library/${path}`, { title: 'B', post: 'yes' })).status,
      403,
      path,
    );
  for (const action of ['delete_selected', 'lend', 'nothing'])
    assert.equal(
      (await viewer.send('/admin/library/book/', { action, _selected_action: String(id) })).status,
      403,
    );
  assert.equal((await viewer.open('/admin/auth/user/')).status, 403);
});

test('each permission opens what it names', async () => {
  const { signedIn, database } = await startLibrary();
  const [id] = await addBooks(database, [{ title: 'A' }]);
  await database.kysely
    .insertInto('copy')
    .values({ book_id: id, shelf: 'a', is_main: 0 } as never)
    .execute();
  const adder = await signedIn('adder', ['library/book:add']);
  assert.equal((await adder.open('/admin/library/book/')).status, 403);
  assert.equal((await adder.open('/admin/library/book/add/')).status, 200);
  const changer = await signedIn('changer', ['library/book:change']);
  const form = await changer.open(`/admin/library/book/${id}/change/`);
  assert.doesNotMatch(form.html, /name="copy-0-shelf"/, 'children need permissions of their own');
  const typed = { ...fieldsOf(form.html), title: 'B', 'copy-0-id': '1', 'copy-0-shelf': 'changed' };
  assert.equal((await changer.send(`/admin/library/book/${id}/change/`, typed)).status, 303);
  const copies = await database.kysely.selectFrom('copy').select('shelf').execute();
  assert.deepEqual(copies, [{ shelf: 'a' }]);
  const deleter = await signedIn('deleter', ['library/book:delete']);
  const asked = await deleter.open(`/admin/library/book/${id}/delete/`);
  assert.match(asked.html, /You do not have permission to delete copies/);
  assert.equal((await deleter.send(`/admin/library/book/${id}/delete/`, { post: 'yes' })).status, 409);
  const nobody = await signedIn('nobody', []);
  assert.match((await nobody.open('/admin/')).html, /You do not have permission to view anything here/);
});

test('only administrators change and delete the accounts of staff', async () => {
  const { signedIn, accounts } = await startLibrary();
  await signedIn('alice');
  await signedIn('bob', []);
  await accounts.create({ username: 'charlie', password });
  const all = ['add', 'change', 'delete'].map((action) => `auth/user:${action}`);
  const manager = await signedIn('manager', all);
  for (const [name, status] of [
    ['alice', 403],
    ['bob', 403],
    ['charlie', 303],
  ] as const) {
    const path = `/admin/auth/user/${(await accounts.byUsername(name))?.id}`;
    const { html } = await manager.open(`${path}/change/`);
    const typed = { ...fieldsOf(html), email: 'new@library.example', is_superuser: 'true', is_staff: 'true' };
    assert.equal((await manager.send(`${path}/change/`, typed)).status, status, name);
    const next = { password: 'another fine phrase' };
    assert.equal((await manager.send(`${path}/password/`, next)).status, status, name);
    assert.equal((await accounts.byUsername(name))?.isSuperuser, name === 'alice');
    assert.equal((await manager.send(`${path}/delete/`, { post: 'yes' })).status, status, name);
  }
});

test('the own password is changed with the current one, and ends other sessions', async () => {
  const { url, signedIn } = await startLibrary();
  const alice = await signedIn('alice');
  const elsewhere = new PageClient(url);
  await elsewhere.open('/admin/login/');
  await elsewhere.send('/admin/login/', { username: 'alice', password });
  await alice.open('/admin/password_change/');
  const path = '/admin/password_change/';
  const next = 'another fine phrase';
  const tries = [
    [{ old_password: '', new_password1: next, new_password2: next }, 422, 'Current password is required'],
    [
      { old_password: password, new_password1: next, new_password2: 'other' },
      422,
      'must be the same as above',
    ],
    [
      { old_password: 'wrong', new_password1: next, new_password2: next },
      401,
      'Your current password is wrong',
    ],
    [
      { old_password: password, new_password1: 'short', new_password2: 'short' },
      400,
      'must be at least 8 characters',
    ],
  ] as const;
  for (const [fields, status, text] of tries) {
    const response = await alice.send(path, fields);
    assert.equal(response.status, status);
    assert.ok(response.html.includes(text), text);
    assert.doesNotMatch(response.html, /another fine phrase/);
  }
  const done = await alice.send(path, { old_password: password, new_password1: next, new_password2: next });
  assert.equal(done.headers.get('location'), '/admin/');
  assert.match((await alice.open('/admin/')).html, /Your password was changed/);
  assert.equal((await elsewhere.open('/admin/')).status, 302);
});

test('the one-time link creates the first administrator once', async () => {
  const { url, accounts } = await startLibrary();
  const token = await accounts.createSetupToken();
  const alice = new PageClient(url);
  assert.equal((await alice.open('/admin/setup/?token=wrong')).status, 404);
  const path = `/admin/setup/?token=${token}`;
  assert.match((await alice.open(path)).html, /Create the administrator/);
  const weak = await alice.send('/admin/setup/', {
    token: token as string,
    username: 'alice',
    password: 'short',
  });
  assert.equal(weak.status, 400);
  assert.match(weak.html, /The password must be at least 8 characters/);
  const made = await alice.send('/admin/setup/', { token: token as string, username: 'alice', password });
  assert.equal(made.headers.get('location'), '/admin/');
  assert.match((await alice.open('/admin/')).html, /Administrator/);
  assert.equal((await new PageClient(url).open(path)).status, 404);
});

test('a session ends when the account does', async () => {
  const { signedIn, database } = await startLibrary();
  const bob = await signedIn('bob', ['library/book:view']);
  assert.equal((await bob.open('/admin/library/book/')).status, 200);
  await database.kysely.deleteFrom('auth_membership').execute();
  assert.equal((await bob.open('/admin/library/book/')).status, 403, 'permissions count at once');
  await database.kysely.updateTable('auth_user').set({ is_staff: 0 }).execute();
  const asked = await bob.open('/admin/library/book/');
  assert.equal(asked.status, 302);
  assert.match(
    (await bob.open(asked.headers.get('location') as string)).html,
    /You are signed in as bob, who may not open this page/,
  );
});
