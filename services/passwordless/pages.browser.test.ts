import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { eventually } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import { alice, startService } from './testing.ts';
import { linkIn } from './testing-pages.ts';
import { enterByLink, startForBrowser, virtualAuthenticator } from './testing-webauthn.ts';

const browser = testBrowser();
const world = { databaseUrl: undefined };

describe('in a browser', { skip: browser.skip }, () => {
  test('a passkey is added, renamed, signs in by the button, and is removed, without accessibility problems', async (context) => {
    const { service, baseUrl } = await startForBrowser(context);
    const { page, complaints, barriers } = await browser.open({ baseUrl, widthPx: 390 });
    const authenticator = await virtualAuthenticator(page);
    await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
    await page.goto('/');
    assert.deepEqual(await barriers(), []);
    await page.getByLabel('E-mail').fill(alice);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
    assert.deepEqual(await barriers(), []);
    await page.goto(await linkIn(service, alice));
    assert.deepEqual(await barriers(), []);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Account', exact: true }).waitFor();
    assert.deepEqual(await barriers(), []);
    await page.getByLabel('Name').fill('Work laptop');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('The passkey “Work laptop” is added.').waitFor();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('This device already has a passkey for you.').waitFor();
    await page.getByRole('link', { name: 'Rename Work laptop' }).click();
    assert.deepEqual(await barriers(), []);
    await page.getByLabel('Name').fill('Old laptop');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'Old laptop', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByText('You are signed out.').waitFor();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByRole('heading', { name: 'Account', exact: true }).waitFor();
    assert.equal(await page.getByRole('cell', { name: /Passkey$/ }).count(), 1);
    await page.getByRole('link', { name: 'Remove Old laptop' }).click();
    await page.getByRole('button', { name: 'Remove passkey' }).click();
    await page.getByText('The passkey “Old laptop” is removed.').waitFor();
    await eventually(async () => assert.deepEqual(await authenticator.credentials(), []));
    assert.deepEqual(complaints, []);
  });

  test('a browser offers the passkey in the e-mail field', async (context) => {
    const { service, baseUrl } = await startForBrowser(context);
    const { page, complaints } = await browser.open({ baseUrl });
    await virtualAuthenticator(page);
    await enterByLink(service, page, alice);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('is added.').waitFor();
    const entered = page.waitForResponse((response) => response.url().endsWith('/sign-in/passkey'));
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    assert.equal((await entered).status(), 200);
    await page.getByRole('cell', { name: 'Passkey', exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a cloned passkey is refused, and the page says so', async (context) => {
    const { service, baseUrl } = await startForBrowser(context);
    const { page } = await browser.open({ baseUrl });
    const original = await virtualAuthenticator(page);
    await enterByLink(service, page, alice);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('is added.').waitFor();
    const [copied] = await original.credentials();
    const signOut = () => page.getByRole('button', { name: 'Sign out', exact: true }).click();
    const entered = page.waitForResponse((response) => response.url().endsWith('/sign-in/passkey'));
    await signOut();
    assert.equal((await entered).status(), 200);
    await page.getByRole('cell', { name: 'Passkey', exact: true }).waitFor();
    await original.setPresence(false);
    await signOut();
    await page.getByText('You are signed out.').waitFor();
    await original.remove();
    const clone = await virtualAuthenticator(page);
    await clone.setPresence(false);
    await clone.add({ ...copied, signCount: 0 });
    await clone.setPresence(true);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('The passkey could not be verified.').waitFor();
    assert.equal(service.lines.filter(({ event }) => event === 'passkey_cloned').length > 0, true);
  });

  test('at an address it is not set up for, the page says where passkeys work', async (context) => {
    const { service } = await startForBrowser(context);
    const { page } = await browser.open({ baseUrl: service.url.replace('localhost', '127.0.0.1') });
    await virtualAuthenticator(page);
    await page.goto('/');
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('Passkeys do not work at http://127.0.0.1').waitFor();
  });

  test('an authenticator app is set up with what the page shows, and recovery codes are shown once', async (context) => {
    const { service, baseUrl } = await startForBrowser(context);
    const { page, complaints, barriers } = await browser.open({ baseUrl, colorScheme: 'dark' });
    await enterByLink(service, page, alice);
    await page.getByRole('button', { name: 'Set up' }).click();
    await page.getByRole('img', { name: 'QR code' }).waitFor();
    assert.deepEqual(await barriers(), []);
    const [keyFile] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the key' }).click(),
    ]);
    assert.match(await readFile(await keyFile.path(), 'utf8'), /^[A-Z2-7]{32,}\n$/);
    await page.getByRole('textbox', { name: 'Code' }).fill('123');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Create codes' }).click();
    await page.getByText('They are not shown again').waitFor();
    assert.deepEqual(await barriers(), []);
    const codes = await page.locator('pre').textContent();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the codes' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'recovery-codes.txt');
    assert.equal(await readFile(await download.path(), 'utf8'), `${codes}\n`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: baseUrl });
    await page.getByRole('button', { name: 'Copy the codes' }).click();
    await page.getByText('Copied.').waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), codes);
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.getByRole('button').first().isVisible(), false);
    assert.equal(await page.locator('pre').isVisible(), true);
    await page.emulateMedia({ media: 'screen' });
    await page.getByRole('link', { name: 'I have saved them' }).click();
    await page.getByText('10 codes left').waitFor();
    assert.deepEqual(await barriers(), []);
    const others = complaints.filter((each) => !each.includes('400'));
    assert.deepEqual(others, []);
  });

  test('without scripts, passkeys are not offered and everything else works', async (context) => {
    const { service, baseUrl } = await startForBrowser(context);
    const { page } = await browser.open({ baseUrl, javaScript: false });
    await page.goto('/');
    assert.equal(await page.getByRole('button', { name: 'Use a passkey' }).isVisible(), false);
    await enterByLink(service, page, alice);
    assert.equal(await page.getByRole('button', { name: 'Add a passkey' }).isDisabled(), true);
    await page.getByText('Passkeys need JavaScript').waitFor();
  });

  test('a link from a mail has no accessibility problems', async (context) => {
    const service = await startService(context, world);
    const { page, barriers } = await browser.open({
      baseUrl: service.url,
      widthPx: 390,
      colorScheme: 'dark',
    });
    await page.goto('/verify/magic?token=x');
    assert.deepEqual(await barriers(), []);
  });
});
