import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PageClient } from '@octavo/testing';
import { alice } from '../testing.ts';
import { attempt, exchange, follow, register, responseOf, signInHere, startProvider } from './testing.ts';

test('cookies are Secure where the address is https, also without a trusted proxy', async (t) => {
  const environment = { PASSWORDLESS_URL: 'https://sign-in.example' };
  const service = await startProvider(t, { databaseUrl: undefined }, { environment });
  const app = await register(service);
  const browser = new PageClient(service.url);
  const lines: string[] = [];
  const open = browser.open.bind(browser);
  browser.open = async (path, init) => {
    const response = await open(path, init);
    lines.push(...response.headers.getSetCookie());
    return response;
  };
  const { path, verifier } = attempt(app);
  await follow(browser, path);
  const { code } = responseOf(await signInHere(service, browser, alice));
  assert.equal((await exchange(service, app, { code, verifier })).status, 200);
  for (const name of ['__Host-passwordless_session', '__Host-oidc_session', '__Host-oidc_session.sig'])
    assert.ok(browser.cookies.has(name), name);
  const sessions = lines.filter((line) => /^__Host-/.test(line));
  assert.ok(sessions.length > 2);
  for (const line of sessions) assert.match(line, /; Secure/i);
  assert.ok(!lines.some((line) => /^(passwordless|oidc)_session/i.test(line)));
  const page = await browser.open('/');
  assert.match(page.html, /Sign out everywhere/);
});
