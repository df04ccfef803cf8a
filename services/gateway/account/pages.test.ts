import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { FakeClock } from '@octavo/core';
import { startTestSystem } from '@octavo/octavo/testing';
import { PageClient } from '@octavo/testing';
import { assertError, castOf, Person, signedIn } from '../testing.ts';
import { setUpApp, TestApp } from './testing.ts';

const clock = new FakeClock();
const secondMs = 1_000;
const minuteMs = 60 * secondMs;

async function start() {
  const system = await startTestSystem({}, clock);
  after(() => system[Symbol.asyncDispose]());
  return system;
}

async function signIn(url: string, username: string, password: string) {
  const client = new PageClient(url);
  await client.open('/');
  const { status } = await client.send('/sign-in', { username, password, next: '/' });
  await client.open('/account');
  return { client, status };
}

describe('the own account', async () => {
  const system = await start();

  test('is shown to everybody, with a link on each page', async () => {
    for (const [person, name] of [
      ['alice', 'editor'],
      ['bob', 'admin'],
      ['charlie', 'viewer'],
    ] as const) {
      const client = await signedIn(system, person);
      assert.match((await client.open('/')).html, /href="\/account"/);
      const { status, html } = await client.open('/account');
      assert.equal(status, 200);
      assert.match(html, new RegExp(`User name</dt><dd>${name}<[\\s\\S]*Role</dt><dd>${name}:`));
      assert.match(html, /Change password[\s\S]*Set up an app/);
    }
  });

  test('is not for strangers, and its forms need their token', async () => {
    const stranger = new PageClient(system.url);
    for (const path of [
      '/account',
      '/account/password',
      '/account/second-factor',
      '/account/second-factor/confirm',
      '/account/second-factor/remove',
    ]) {
      assert.match((await stranger.open(path)).html, /<h1>Sign in<\/h1>/);
    }
    const alice = await signedIn(system, 'alice');
    for (const path of [
      '/account/password',
      '/account/second-factor',
      '/account/second-factor/confirm',
      '/account/second-factor/remove',
    ]) {
      assert.equal((await alice.send(path, { _csrf: 'forged' })).status, 403, path);
    }
  });
});

describe('changing the password', async () => {
  const system = await start();
  const { alice: program, stranger } = await castOf(system);
  const old = { username: 'editor', password: system.passwords.editor };
  const next = 'a new password of the editor';

  test('shows what is wrong beside the field, and never a password', async () => {
    const alice = await signedIn(system, 'alice');
    await alice.open('/account/password');
    const cases: [Record<string, string>, number, RegExp][] = [
      [
        { currentPassword: 'wrong', newPassword: next, repeated: next },
        401,
        /field-currentPassword-error[\s\S]*The current password is wrong/,
      ],
      [
        { currentPassword: old.password, newPassword: 'short', repeated: 'short' },
        422,
        /New password must be at least 8 characters/,
      ],
      [
        { currentPassword: old.password, newPassword: next, repeated: 'another' },
        422,
        /New password again must be the same/,
      ],
      [
        { currentPassword: old.password, newPassword: old.password, repeated: old.password },
        422,
        /must differ from the current password/,
      ],
      [
        { currentPassword: '', newPassword: '', repeated: '' },
        422,
        /Current password is required[\s\S]*New password is required/,
      ],
    ];
    for (const [fields, status, pattern] of cases) {
      const shown = await alice.send('/account/password', fields);
      assert.equal(shown.status, status, shown.html);
      assert.match(shown.html, pattern);
      assert.match(shown.html, /Your password is not changed yet/);
      assert.ok(!shown.html.includes(next) && !shown.html.includes(old.password));
    }
    assert.equal((await program.get('/posts')).status, 200);
  });

  test('keeps this session, and ends older tokens and sessions within five seconds', async () => {
    const alice = await signedIn(system, 'alice');
    const elsewhere = await signedIn(system, 'alice');
    const before = new Map(alice.cookies);
    await alice.open('/account/password');
    const changed = await alice.send('/account/password', {
      currentPassword: old.password,
      newPassword: next,
      repeated: next,
    });
    assert.equal(changed.status, 303);
    assert.match((await alice.open('/account')).html, /Your password is changed/);
    clock.advance(2 * secondMs);
    assertError(await program.get('/posts'), 401, 'UNAUTHORIZED');
    assert.match((await elsewhere.open('/account')).html, /<h1>Sign in<\/h1>/);
    assert.equal((await alice.open('/account')).status, 200);
    assert.match((await alice.open('/')).html, /<h1>Posts<\/h1>/);
    const stolen = new PageClient(system.url);
    for (const [name, value] of before) stolen.cookies.set(name, value);
    assert.match((await stolen.open('/')).html, /<h1>Sign in<\/h1>/);
    assertError(await stranger.post('/auth/login', old), 401, 'INVALID_CREDENTIALS');
    const login = await stranger.post('/auth/login', { username: 'editor', password: next });
    assert.equal((await new Person(system.url, login.json.data.token).get('/posts')).status, 200);
  });

  test('is limited after wrong passwords, which do not lock the sign-in', async () => {
    const { client } = await signIn(system.url, 'viewer', system.passwords.viewer);
    const guess = { currentPassword: 'guess', newPassword: next, repeated: next };
    for (let count = 0; count < 10; count += 1) {
      assert.equal((await client.send('/account/password', guess)).status, 401);
    }
    const limited = await client.send('/account/password', guess);
    assert.equal(limited.status, 429);
    assert.match(limited.html, /Too many/);
    assert.equal((await signIn(system.url, 'viewer', system.passwords.viewer)).status, 303);
  });
});

describe('the second factor', async () => {
  const system = await start();
  const { alice: program } = await castOf(system);
  const alice = await signedIn(system, 'alice');
  const password = system.passwords.editor;

  test('is needed by an editor to delete, and the page says how to get it', async () => {
    const { id } = await program.create();
    const asked = await alice.open(`/posts/${id}/delete`);
    assert.match(asked.html, /Set up an authenticator app first[\s\S]*href="\/account\/second-factor"/);
    assert.doesNotMatch(asked.html, /type="checkbox"|<button class="danger">/);
    const attempts: Record<string, string>[] = [{}, { mfaVerified: 'true' }, { code: '123456' }];
    for (const fields of attempts) {
      const refused = await alice.send(`/posts/${id}/delete`, fields);
      assert.ok(refused.status === 422 || refused.status === 423, String(refused.status));
      assert.match(refused.html, /Set up an authenticator app first/);
    }
    assert.equal((await program.get(`/posts/${id}`)).status, 200);
  });

  test('is set up with the password, and its key is shown once', async () => {
    await alice.open('/account/second-factor');
    const refused = await alice.send('/account/second-factor', { password: 'wrong' });
    assert.equal(refused.status, 401);
    assert.match(refused.html, /field-password-error[\s\S]*The current password is wrong/);
    const shown = await alice.send('/account/second-factor', { password });
    assert.match(shown.html, /<svg role="img" aria-label="QR code/);
    assert.match(shown.html, /href="otpauth:\/\/totp\/Octavo:editor\?secret=[A-Z2-7]{32}/);
    assert.equal(shown.headers.get('cache-control'), 'no-store');
    const app = new TestApp(shown.html, clock);
    for (const code of ['', 'abc', app.code(5)]) {
      const wrong = await alice.send('/account/second-factor/confirm', { code });
      assert.ok(wrong.status === 401 || wrong.status === 422, String(wrong.status));
      assert.match(wrong.html, /field-code-error/);
      assert.doesNotMatch(wrong.html, /<svg role="img"|otpauth/);
      assert.ok(!wrong.html.replaceAll(' ', '').includes(app.key));
    }
    const confirmed = await alice.send('/account/second-factor/confirm', { code: app.code() });
    assert.equal(confirmed.headers.get('location'), '/account');
    assert.match((await alice.open('/account')).html, /authenticator app is set up[\s\S]*>on</);
    assert.equal((await alice.open('/account/second-factor')).headers.get('location'), '/account');
    assert.equal((await alice.send('/account/second-factor', { password })).status, 303);
    clock.advance(minuteMs);
    await alice.send('/account/second-factor/remove', { code: app.code() });
    assert.match((await alice.open('/account')).html, /Your authenticator app is removed[\s\S]*>off</);
  });

  test('confirms a deletion by a code, and the next ones for five minutes', async () => {
    const app = await setUpApp(alice, password, clock);
    clock.advance(5 * minuteMs);
    const ids = await Promise.all([1, 2, 3].map(async () => (await program.create()).id));
    const [first, second, third] = ids;
    assert.match((await alice.open(`/posts/${first}/delete`)).html, /name="code"/);
    const wrong = await alice.send(`/posts/${first}/delete`, { code: app.code(5) });
    assert.equal(wrong.status, 401);
    assert.match(wrong.html, /Nothing is deleted yet[\s\S]*field-code-error[\s\S]*The code is wrong/);
    assert.equal((await program.get(`/posts/${first}`)).status, 200);
    const code = app.code();
    assert.equal((await alice.send(`/posts/${first}/delete`, { code })).status, 303);
    assert.doesNotMatch((await alice.open(`/posts/${second}/delete`)).html, /name="code"/);
    clock.advance(5 * minuteMs - 1);
    assert.equal((await alice.send(`/posts/${second}/delete`, {})).status, 303);
    clock.advance(1);
    assert.equal((await alice.send(`/posts/${third}/delete`, {})).status, 422);
    // A code works once.
    assert.equal((await alice.send(`/posts/${third}/delete`, { code })).status, 401);
    assert.equal((await program.get(`/posts/${third}`)).status, 200);
    assert.equal((await alice.send(`/posts/${third}/delete`, { code: app.code() })).status, 303);
  });

  test('confirms only the session that gave the code', async () => {
    const { id } = await program.create();
    const other = await signedIn(system, 'alice');
    assert.match((await other.open(`/posts/${id}/delete`)).html, /name="code"/);
    assert.equal((await other.send(`/posts/${id}/delete`, { code: '' })).status, 422);
    assertError(await program.delete(`/posts/${id}`), 403, 'FORBIDDEN');
  });

  test('is removed with a code, after which nothing is confirmed', async (context) => {
    const fresh = await startTestSystem({}, clock);
    context.after(() => fresh[Symbol.asyncDispose]());
    const { alice: writer } = await castOf(fresh);
    const { id } = await writer.create();
    const editor = await signedIn(fresh, 'alice');
    const app = await setUpApp(editor, fresh.passwords.editor, clock);
    assert.match((await editor.open(`/posts/${id}/delete`)).html, /<button class="danger">/);
    assert.match((await editor.open('/account/second-factor/remove')).html, /name="code"/);
    assert.equal((await editor.send('/account/second-factor/remove', { code: app.code(5) })).status, 401);
    assert.equal((await editor.send('/account/second-factor/remove', { code: app.code() })).status, 303);
    assert.equal((await editor.send(`/posts/${id}/delete`, {})).status, 422);
    assert.equal((await writer.get(`/posts/${id}`)).status, 200);
    assert.match((await editor.open(`/posts/${id}/delete`)).html, /Set up an authenticator app first/);
  });

  test('is limited after five wrong codes', async () => {
    clock.advance(15 * minuteMs);
    const { id } = await program.create();
    const guess = () => alice.send(`/posts/${id}/delete`, { code: '999999' });
    await alice.open(`/posts/${id}/delete`);
    for (let count = 0; count < 5; count += 1) assert.equal((await guess()).status, 401);
    const limited = await guess();
    assert.equal(limited.status, 429);
    assert.match(limited.html, /Too many wrong codes\. Try again in 15 minutes\./);
  });
});
