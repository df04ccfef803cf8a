import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig, systemClock } from '@octavo/core';
import { PageClient, testContext } from '@octavo/testing';
import { follow, register, signInHere, startProvider } from '../services/passwordless/oidc/testing.ts';
import { alice } from '../services/passwordless/testing.ts';
import { grantRole } from '../services/passwordless/users/index.ts';
import { polls } from '../services/polls/service.ts';

const address = 'https://polls.example';

test('an administrator signs in to polls with a code by mail, and out of both', async (t) => {
  const provider = await startProvider(t, { databaseUrl: undefined });
  const issuer = (await provider.call('GET', '/.well-known/openid-configuration')).json.issuer;
  const app = await register(provider, {
    redirects: [`${address}/sign-in/oidc/callback`],
    postLogouts: [`${address}/`],
  });
  const settings = {
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: app.id,
    OIDC_CLIENT_SECRET: app.secret,
    OIDC_ADDRESS: address,
  };
  const context = testContext('polls', { clock: systemClock });
  const running = await polls.start(readConfig(polls.settings, settings), context, {});
  t.after(() => running[Symbol.asyncDispose]());
  await provider.signIn(alice);
  await grantRole(provider, alice, { role: 'admin', service: undefined });

  const [site, there] = [new PageClient(running.url ?? ''), new PageClient(provider.url)];
  const begun = await site.open('/sign-in/oidc?next=/admin/');
  assert.equal(begun.status, 303);
  await follow(there, pathOf(begun.location));
  const back = await signInHere(provider, there, alice);
  assert.ok(back.location.startsWith(`${address}/sign-in/oidc/callback`), back.location);
  assert.equal((await site.open(pathOf(back.location))).location, '/admin/');
  const admin = await site.open('/admin/');
  assert.equal(admin.status, 200);
  assert.match(admin.html, /Administrator/);
  const out = await site.send('/admin/logout/', {});
  const leaving = out.headers.get('refresh')?.replace('0; url=', '') ?? '';
  assert.match(leaving, /\/oidc\/session\/end\?id_token_hint=/);
  const asked = await there.open(pathOf(leaving));
  assert.equal(asked.status, 200);
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(asked.html)?.[1] ?? '';
  const left = await there.send('/oidc/session/end/confirm', { xsrf, logout: 'yes' });
  assert.equal(left.location.replace(/\?.*/, ''), `${address}/`);
});

function pathOf(url: string): string {
  return url.slice(new URL(url).origin.length);
}
