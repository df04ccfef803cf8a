import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, test } from 'node:test';
import { PageClient, until } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import { password, startTokens } from '../testing.ts';
import { newPassword, type Received, startMailing } from './testing.ts';

const browser = testBrowser();
const mailing = startMailing();
const { mailsTo, register } = mailing;

describe('pages', () => {
  test('reset a password without scripts, and only by their form', async () => {
    const { email } = await register();
    const client = new PageClient(mailing.service.url);
    assert.match((await client.open('/')).html, /href="\/forgot-password"/);
    await client.open('/forgot-password');
    assert.equal((await client.send('/forgot-password', { email: '' })).status, 400);
    const asked = await client.send('/forgot-password', { email });
    assert.deepEqual([asked.status, /Check your mail/.test(asked.html)], [200, true]);
    const { token } = (await mailsTo(email, 2)).at(-1) as Received;
    const path = `/reset-password?token=${token}`;
    // A browser that comes from a mail, and the scanner of a mail server before it.
    const owner = new PageClient(mailing.service.url);
    for (const method of ['HEAD', 'GET', 'GET']) {
      const opened = await owner.open(path, { method, headers: { 'sec-fetch-site': 'cross-site' } });
      assert.equal(opened.status, 200);
    }
    const { headers } = await owner.open(path);
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    const weak = await owner.send('/reset-password', { token, newPassword: 'password' });
    assert.equal(weak.status, 400);
    assert.ok(weak.html.includes(`value="${token}"`));
    const elsewhere = { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' };
    assert.equal((await owner.send('/reset-password', { token, newPassword }, elsewhere)).status, 403);
    const done = await owner.send('/reset-password', { token, newPassword });
    assert.deepEqual([done.status, done.location], [303, '/']);
    assert.match((await owner.open('/')).html, /Your password was changed and all sessions have ended/);
    const dead = await owner.open(path);
    assert.equal(dead.status, 400);
    assert.match(dead.html, /not valid or not complete[\s\S]*href="\/forgot-password"/);
    await mailing.service.login(email, newPassword);
    // Changing the password ended the session of this form. A pause in typing before it asks late.
    assert.equal((await rate(owner)).status, 200);
  });

  test('rate a password for anybody, but not for another site', async () => {
    const stranger = new PageClient(mailing.service.url);
    const rated = await rate(stranger);
    assert.deepEqual(
      [rated.status, JSON.parse(rated.html).text],
      [200, 'Weak: it is one of the most common passwords'],
    );
    assert.equal(stranger.cookies.size, 0);
    assert.equal((await rate(stranger, { 'sec-fetch-site': 'cross-site' })).status, 403);
  });

  test('verify an address, and keep the browser signed in', async () => {
    const { email, verification } = await register();
    const client = new PageClient(mailing.service.url);
    await client.open('/');
    await client.send('/sign-in', { email, password });
    assert.match((await client.open('/')).html, /not verified/);
    const { html, status } = await client.open(`/verify-email?token=${verification}`);
    assert.equal(status, 200);
    assert.match(html, /<button class="wide">Verify<\/button>/);
    const done = await client.send('/verify-email', { token: verification });
    assert.equal(done.status, 303);
    const account = (await client.open('/')).html;
    assert.match(account, /Your e-mail address is verified[\s\S]*>verified</);
    assert.doesNotMatch(account, /Send a link to verify/);
    for (const wrong of ['/verify-email', '/verify-email?token=a&token=b', '/verify-email?token=%00'])
      assert.equal((await client.open(wrong)).status, 400, wrong);
  });
});

/** The request of the page's script while a new password is typed. */
function rate(client: PageClient, headers: Record<string, string> = {}) {
  return client.open('/password/check', {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ password: 'password', email: '' }),
  });
}

describe('without a mail server', () => {
  test('mails are on a page of this machine', async () => {
    await using local = await startTokens({ environment: { EMAIL_VERIFICATION: 'optional' } });
    const client = new PageClient(local.url);
    assert.match((await client.open('/mails')).html, /No mails yet/);
    await local.register('alice@example.com');
    const path = await until(
      async () => /href="(\/mails\/[^"]+)"/.exec((await client.open('/mails')).html)?.[1],
    );
    const { html } = await client.open(path);
    const link = /href="http:\/\/localhost:\d+(\/verify-email\?token=[\w-]+)"/.exec(html)?.[1] ?? '';
    assert.equal((await client.open(link)).status, 200);
    const sent = request(`${local.url}/mails`, { headers: { host: 'evil.example' } }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    assert.equal(response.resume().statusCode, 404);
  });

  test('production sends none, says so, and serves the rest', async () => {
    const keys = { JWT_ACCESS_SECRET: 'a'.repeat(40), JWT_REFRESH_SECRET: 'b'.repeat(40) };
    await using live = await startTokens({
      environment: { ...keys, EMAIL_VERIFICATION: 'optional' },
      nodeEnv: 'production',
    });
    await live.register('alice@example.com');
    const { status } = await live.post('/auth/forgot-password', { email: 'alice@example.com' });
    assert.equal(status, 503);
    assert.equal((await live.get('/mails')).status, 404);
    assert.match((await new PageClient(live.url).open('/forgot-password')).html, /sends no e-mail/);
    await assert.rejects(
      startTokens({ environment: { ...keys, EMAIL_VERIFICATION: 'required' }, nodeEnv: 'production' }),
      {
        message: /EMAIL_VERIFICATION/,
      },
    );
  });
});

describe('in a browser', { skip: browser.skip }, () => {
  for (const [widthPx, colorScheme] of [
    [390, 'dark'],
    [1280, 'light'],
  ] as const) {
    test(`a password is reset, and pages are accessible, ${widthPx} px, ${colorScheme}`, async () => {
      await using local = await startTokens({ environment: { EMAIL_VERIFICATION: 'optional' } });
      const email = 'alice@example.com';
      await local.register(email);
      const baseUrl = local.url.replace('127.0.0.1', 'localhost');
      const { page, barriers, complaints } = await browser.open({ widthPx, colorScheme, baseUrl });
      const check = async () => assert.deepEqual(await barriers(), [], page.url());
      await page.goto('/');
      await check();
      await page.getByRole('link', { name: 'Forgot your password?' }).click();
      await page.getByLabel('E-mail').fill(email);
      await check();
      await page.getByRole('button', { name: 'Send the link' }).click();
      await page.getByText('Check your mail').waitFor();
      await check();
      const subject = page.getByText('Octavo Accounts: Reset your password');
      await until(async () => {
        await page.goto('/mails');
        return subject.isVisible();
      });
      await page.getByRole('row', { name: 'Reset your password' }).getByRole('link').click();
      await page.locator('a[href*="/reset-password?token="]').click();
      await page.getByLabel('New password').fill(newPassword);
      await check();
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('Sign in with the new password').waitFor();
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('Password', { exact: true }).fill(newPassword);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Account', exact: true }).waitFor();
      await check();
      await page.goto('/verify-email?token=cut-off');
      await page.getByText('not valid or not complete').waitFor();
      await check();
      assert.deepEqual(
        complaints.filter((text) => !text.includes('400')),
        [],
      );
    });
  }
});
