import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { openAccounts } from '@octavo/people/accounts';
import { eventually, PageClient } from '@octavo/testing';
import { addClient } from './oidc/index.ts';
import { passwordless } from './service.ts';
import type { TokenPair } from './sessions/index.ts';
import { alice, bob, charlie, inTestMode, secret, startService, type TestService } from './testing.ts';
import { signedIn } from './testing-pages.ts';

const password = 'ferries wait in fog';
const list = '/admin/sign_in/user/';

await inTestMode((world) => {
  test('staff add applications, whose secret is shown once, and give roles', async (t) => {
    const service = await startService(t, world, { environment: cheap });
    const staff = await signedInStaff(service);
    const applications = '/admin/sign_in/application/';
    await staff.open(`${applications}add/`);
    const wrong = await staff.send(`${applications}add/`, {
      name: 'My App',
      redirects: 'javascript:alert(1)',
    });
    assert.equal(wrong.status, 422);
    const redirects = 'https://app.example/one\nhttps://app.example/two';
    const added = await staff.send(`${applications}add/`, { name: 'My App', redirects, firstParty: 'on' });
    assert.equal(added.status, 303, added.html);
    const twice = await staff.send(`${applications}add/`, { name: 'my app', redirects });
    assert.match(twice.html, /Name is already registered/);
    const taken = { name: 'Other', redirects: 'https://other.example/', audience: 'https://app.example' };
    const second = await staff.send(`${applications}add/`, taken);
    assert.match(second.html, /Address of its API is already that of the application My App/);
    const { status } = await staff.send(`${applications}add/`, { ...taken, audience: '' });
    assert.equal(status, 303);
    await staff.open(`${applications}other/change/`);
    const changed = await staff.send(`${applications}other/change/`, taken);
    assert.match(changed.html, /Address of its API is already that of the application My App/);
    await staff.open(`${applications}add/`);
    const page = await staff.open(`${applications}my-app/secret/`);
    assert.equal(page.status, 200, page.html);
    const made = await staff.send(`${applications}my-app/secret/`, {});
    const shown = await staff.open(made.headers.get('location') ?? '');
    const shownSecret = /The secret is ([\w-]{43})\./.exec(shown.html)?.[1];
    assert.ok(shownSecret, shown.html);
    assert.ok(!(await staff.open(`${applications}my-app/change/`)).html.includes(shownSecret));
    const [row] = await service.database.kysely.selectFrom('oidc_client').selectAll().orderBy('id').execute();
    assert.deepEqual([row?.id, row?.first_party, row?.audience], ['my-app', 1, 'https://app.example']);
    await service.signIn(alice);
    const roles = '/admin/sign_in/role/';
    await staff.open(`${roles}add/`);
    assert.equal((await staff.send(`${roles}add/`, { email: bob, role: 'admin' })).status, 422);
    const nowhere = await staff.send(`${roles}add/`, { email: alice, role: 'admin', service: 'nosuch' });
    assert.match(nowhere.html, /Application must be one of my-app, other/);
    const superuser = await staff.send(`${roles}add/`, { email: alice, role: 'superuser' });
    assert.match(superuser.html, /Role must be one of admin, editor, viewer/);
    const given = await staff.send(`${roles}add/`, { email: alice, role: 'editor', service: 'my-app' });
    assert.equal(given.status, 303, given.html);
    assert.match((await staff.open(roles)).html, /alice@example\.com/);
  });

  test('a user with the role admin opens the admin by the sign-in of the pages, while the role lasts', async (t) => {
    const service = await startService(t, world, { environment: cheap });
    const administrator = await signedIn(service, alice);
    const staff = await signedInStaff(service);
    const roles = '/admin/sign_in/role/';
    const refused = await administrator.open(list);
    assert.doesNotMatch((await administrator.open('/')).html, /href="\/admin\/"/);
    assert.deepEqual(
      [refused.status, refused.location],
      [302, `/admin/login/?next=${encodeURIComponent(list)}`],
    );
    assert.match(
      (await administrator.open(refused.location)).html,
      /You are signed in as alice@example\.com/,
    );
    await addClient(service, { name: 'One application', redirects: ['https://app.example/'] });
    await staff.open(`${roles}add/`);
    const one = { email: alice, role: 'admin', service: 'one-application' };
    assert.equal((await staff.send(`${roles}add/`, one)).status, 303);
    assert.equal((await administrator.open(list)).status, 302);
    assert.equal((await staff.send(`${roles}add/`, { email: alice, role: 'admin' })).status, 303);
    assert.match((await administrator.open('/')).html, /href="\/admin\/"/);
    const { html } = await administrator.open(list);
    assert.match(html, /Applications[\s\S]*alice@example\.com/);
    await administrator.open(`${roles}add/`);
    assert.equal((await administrator.send(`${roles}add/`, { email: alice, role: 'editor' })).status, 303);
    const none = {
      old_password: 'x',
      new_password1: 'ferries wait in rain',
      new_password2: 'ferries wait in rain',
    };
    await administrator.open('/admin/password_change/');
    assert.match((await administrator.send('/admin/password_change/', none)).html, /none to change/);
    await service.database.kysely.deleteFrom('user_role').where('role', '=', 'admin').execute();
    assert.equal((await administrator.open(list)).status, 302);
    assert.equal((await new PageClient(service.url).open(list)).status, 302);
  });

  test('staff see, add and delete users, and end their sessions', async (t) => {
    const service = await startService(t, world, {
      environment: { ...cheap, PASSWORDLESS_ALLOW_SIGNUP: 'off' },
    });
    const stranger = new PageClient(service.url);
    assert.equal((await stranger.open(list)).status, 302);
    const staff = await signedInStaff(service);

    // Sign-up is closed, so only whom staff added gets a link.
    await service.post('/request/magic', { email: alice });
    await staff.open(`${list}add/`);
    for (const email of [` ALICE@example.com `, bob]) {
      const added = await staff.send(`${list}add/`, { email });
      assert.equal(added.headers.get('location'), list, added.html);
    }
    const twice = await staff.send(`${list}add/`, { email: alice });
    assert.equal(twice.status, 409);
    assert.match(twice.html, /E-mail address is already registered/);
    assert.equal((await staff.send(`${list}add/`, { email: 'nobody' })).status, 422);
    const tokens = await signInLater(service, alice);
    assert.equal((await service.get('/me', tokens.access_token)).json.email, alice);

    const found = await staff.open(`${list}?q=EXAMPLE&verified=true&o=1`);
    assert.match(found.html, /alice@example\.com[\s\S]*bob@example\.com/);
    assert.doesNotMatch((await staff.open(`${list}?q=ali_e`)).html, /alice@/);
    const path = new RegExp(`href="(${list}[\\w-]+/change/)[^"]*">alice`).exec(found.html)?.[1] ?? '';
    assert.match((await staff.open(path)).html, /Sessions<\/span><div class="value">1</);
    const id = path.split('/').at(-3) ?? '';
    await staff.open(list);
    const ending = { action: 'endSessions', _selected_action: id };
    assert.match((await staff.send(list, ending)).html, /End all sessions\?[\s\S]*1 user/);
    await staff.send(list, { ...ending, post: 'yes' });
    assert.equal((await service.get('/me', tokens.access_token)).status, 401);
    assert.equal((await service.mails(alice)).filter(({ kind }) => kind === 'magic-link').length, 1);
    const kinds = async () => (await service.mails(alice)).map(({ kind }) => kind);
    assert.ok((await kinds()).includes('security:signed-out-everywhere'));

    await staff.open(path.replace('change', 'delete'));
    await staff.send(path.replace('change', 'delete'), { post: 'yes' });
    assert.equal((await staff.open(path)).status, 404);
    assert.ok((await kinds()).includes('security:account-deleted'));
    assert.match(
      (await staff.open('/admin/')).html,
      /alice@example\.com[\s\S]*Deleted|Deleted[\s\S]*alice@example\.com/,
    );
    assert.equal((await staff.open(`${list}${encodeURIComponent("' or 1=1 --\0")}/change/`)).status, 404);
  });

  test('users are no staff, and staff are no users', async (t) => {
    const service = await startService(t, world, { environment: cheap });
    const user = await signedIn(service, charlie);
    assert.equal((await user.open(list)).status, 302);
    const staff = await signedInStaff(service);
    assert.match((await staff.open('/')).html, /Sign in/);
    await user.open('/admin/login/');
    await user.send('/admin/login/', { username: 'dora', password });
    assert.equal((await user.open(list)).status, 200);
    assert.match((await user.open('/')).html, /charlie@example\.com/, 'and is still signed in to the pages');
    await user.open(list);
    await user.send('/admin/logout/', {});
    assert.equal((await user.open(list)).status, 302);
    assert.match((await user.open('/')).html, /charlie@example\.com/);
  });
});

const cheap = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' };

/** Signs in by a link that is mailed after the response, as where sign-up is closed. */
async function signInLater(service: TestService, email: string): Promise<TokenPair> {
  const before = (await service.mails(email)).length;
  await service.post('/request/magic', { email });
  let link: string | undefined;
  await eventually(async () => {
    const [mail] = (await service.mails(email)).slice(before);
    link = /\/verify\/magic\?token=[\w-]+/.exec(mail?.text ?? '')?.[0];
    assert.ok(link);
  });
  const { status, json, text } = await service.get(link ?? '');
  assert.equal(status, 200, text);
  return json;
}

/** An administrator, as `octavo admin create` makes one, who is signed in. */
async function signedInStaff({ url, database, clock }: TestService): Promise<PageClient> {
  await using stack = new AsyncDisposableStack();
  const config = readConfig(passwordless.settings, { ...cheap, PASSWORDLESS_JWT_SECRET: secret });
  const accounts = await openAccounts({ database, config, clock, log: silentLog, words: [], stack });
  await accounts.create({ username: 'dora', password, isStaff: true, isSuperuser: true });
  const client = new PageClient(url);
  await client.open('/admin/login/');
  const { status } = await client.send('/admin/login/', { username: 'dora', password });
  assert.equal(status, 303);
  return client;
}
