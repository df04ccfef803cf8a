import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { configOf, inspectService, openServiceDatabase } from '@octavo/data/service';
import type { AccountTables } from '@octavo/people/accounts';
import { PageClient } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { Registry } from 'prom-client';
import { portfolio } from './service.ts';
import { addAdministrator, startPortfolio } from './testing.ts';

const audience = 'https://portfolio.example';
const password = 'ferries wait in fog';
const provider = await TestProvider.start();
provider.people.set('ann', { sub: 'ann', preferred_username: 'ann', roles: ['admin'] });
const quick = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' };
const settings = {
  ...provider.settingsFor('portfolio'),
  ...quick,
  OIDC_ADDRESS: audience,
  OIDC_NAME: 'Acme',
};
const running = await startPortfolio({ environment: { ...settings, OIDC_ONLY: 'on' } });
provider.addClient('portfolio', audience);
after(async () => {
  await running[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

test('an administrator of the provider signs in to the admin, by the button alone', async () => {
  provider.person = 'ann';
  const { client } = new Walker(new PageClient(running.url));
  const page = await client.open('/admin/login/');
  assert.match(page.html, /Sign in with Acme/);
  assert.doesNotMatch(page.html, /name="password"/);
  const back = await new Walker(client).signIn('/admin/');
  assert.equal(back.location, '/admin/');
  assert.equal((await client.open('/admin/')).status, 200);
});

test('without passwords, a right one does not sign in', async () => {
  await addAdministrator(running, 'alice', password);
  const client = new PageClient(running.url);
  await client.open('/admin/login/');
  const refused = await client.send('/admin/login/', { username: 'alice', password, next: '/admin/' });
  assert.equal(refused.status, 403);
  assert.equal((await client.open('/admin/')).status, 302);
});

test('a user without a password leaves, and the token of the page is worth nothing', async () => {
  provider.people.set('erin', { sub: 'erin', preferred_username: 'erin' });
  provider.person = 'erin';
  const walker = new Walker(new PageClient(running.url));
  await walker.signIn('/account/');
  const { client } = walker;
  const { token } = JSON.parse((await client.open('/docs/token')).html) as { token: string };
  const read = async () => (await running.get('/api/team', { authorization: `Bearer ${token}` })).status;
  assert.equal(await read(), 200);
  assert.match(
    (await client.open('/account/leave/')).html,
    /Records that you imported[\s\S]*Confirm with Acme/,
  );
  const begun = await client.send('/account/leave/', { step: 'confirm' });
  running.clock.advance(60_000);
  await walker.finish(begun.headers.get('refresh')?.replace('0; url=', '') ?? '');
  await client.open('/account/leave/');
  assert.equal((await client.send('/account/leave/', {})).location, '/');
  assert.equal((await client.open('/account/')).status, 303);
  assert.equal(await read(), 401);
});

test('the API takes access tokens of the provider for this service', async () => {
  const read = async (token: string) =>
    (await running.get('/api/team', { authorization: `Bearer ${token}` })).status;
  assert.equal(await read(await provider.accessToken(audience)), 200);
  assert.equal(await read(await provider.accessToken('https://quotes.example')), 401);
  assert.equal(await read(running.token), 200);
  const { environment, context } = running;
  await using database = await openServiceDatabase<AccountTables>(
    portfolio,
    configOf(portfolio, environment),
    { ...context, metrics: new Registry() },
  );
  const block = (isActive: number) =>
    database.kysely
      .updateTable('auth_user')
      .set({ is_active: isActive })
      .where('username', '=', 'ann')
      .execute();
  provider.person = 'ann';
  const token = await provider.accessToken(audience);
  await block(0);
  assert.equal(await read(token), 401, 'the account is blocked');
  await block(1);
  assert.equal(await read(token), 200);
});

test('of services that share an environment, each may be a client of its own', () => {
  const shared = { OIDC_ISSUER: provider.url, OIDC_CLIENT_ID: 'any', POLLS_OIDC_CLIENT_ID: 'polls' };
  assert.equal(configOf(portfolio, shared).OIDC_CLIENT_ID, 'any');
  const own = { ...shared, PORTFOLIO_OIDC_CLIENT_ID: 'mine' };
  assert.equal(configOf(portfolio, own).OIDC_CLIENT_ID, 'mine');
  assert.deepEqual(inspectService(portfolio, own).problems, {});
});

test('settings that do not fit are refused', async () => {
  const start = (given: Record<string, string>) => startPortfolio({ environment: { ...quick, ...given } });
  await assert.rejects(start({ OIDC_ISSUER: 'http://accounts.example' }), /OIDC_ISSUER must be an address/);
  await assert.rejects(start({ OIDC_ISSUER: 'https://accounts.example' }), /OIDC_CLIENT_ID is required/);
  await assert.rejects(start({ OIDC_ONLY: 'on' }), /OIDC_ISSUER is required/);
  await assert.rejects(start({ OIDC_ROLE_MAP: 'admins' }), /OIDC_ROLE_MAP must be theirs=ours/);
});
