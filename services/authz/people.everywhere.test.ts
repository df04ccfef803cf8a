import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inTestMode, startAuthz } from './testing.ts';

await inTestMode((world) => {
  test('roles of a provider that is turned off end at the next start', async (context) => {
    const environment = { OIDC_ISSUER: 'https://accounts.example', OIDC_CLIENT_ID: 'posts' };
    const first = await startAuthz(context, world, { environment });
    const person = { subject: 'ann', name: 'ann', roles: ['admin'], keepsRole: false };
    const { account } = await first.client.identifyPerson(person, {});
    assert.equal(account?.role, 'admin');
    const roleIn = async ({ client }: typeof first) =>
      (await client.getAccount({ uid: account?.uid ?? 0 }, {})).account?.role;
    assert.equal(await roleIn(await startAuthz(context, world, { environment, beside: first })), 'admin');
    assert.equal(await roleIn(await startAuthz(context, world, { beside: first })), 'viewer');
  });
});
