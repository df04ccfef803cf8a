import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, describe, test } from 'node:test';
import { systemClock } from '@octavo/core';
import { startTestSystem } from '@octavo/octavo/testing';
import { type TabOptions, testBrowser } from '@octavo/testing/browser';
import type { Page } from 'playwright-core';
import { setUpApp } from './account/testing.ts';
import { castOf, openPages, signedIn } from './testing.ts';

const browser = testBrowser();
const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);

const editorsApp = signedIn(system, 'alice').then((client) =>
  setUpApp(client, system.passwords.editor, systemClock),
);

const open = (role: 'admin' | 'editor' | 'viewer', options?: TabOptions) =>
  openPages(browser, system, role, options);
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const csv = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });

describe('in a browser', { skip: browser.skip }, () => {
  test('the keyboard is enough to sign in, and to write, change and delete a post', async () => {
    const { page, complaints } = await browser.open({ baseUrl: system.url });
    const { keyboard } = page;
    const app = await editorsApp;
    await page.goto('/');
    await keyboard.type('editor');
    await keyboard.press('Tab');
    await keyboard.type(system.passwords.editor);
    await keyboard.press('Enter');
    await heading(page, 'Posts');
    await page.getByRole('link', { name: 'New post' }).first().press('Enter');
    await heading(page, 'New post');
    await keyboard.type('Typed by hand');
    await keyboard.press('Tab');
    await keyboard.type('First line\nsecond 😀');
    await keyboard.press('Control+Enter');
    await heading(page, 'Typed by hand');
    await page.getByText('The post is saved.').waitFor();
    await page.getByRole('link', { name: 'Edit', exact: true }).press('Enter');
    await page.getByLabel('Title').press('End');
    await keyboard.type(', twice');
    await keyboard.press('Enter');
    await heading(page, 'Typed by hand, twice');
    await page.getByRole('link', { name: 'Delete' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Delete “Typed by hand, twice”?' });
    await dialog.waitFor();
    await keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Delete' }).press('Enter');
    await dialog.waitFor();
    await keyboard.type(app.code());
    await keyboard.press('Enter');
    await page.getByText(/Post \d+ is deleted\./).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a typed password can be shown, and is hidden again when it is sent', async () => {
    const { page, complaints, barriers } = await browser.open({ baseUrl: system.url });
    await page.goto('/');
    const password = page.locator('input[name="password"]');
    await page.getByLabel('User name').fill('editor');
    await password.fill('not-it');
    await page.getByRole('button', { name: 'Show password' }).click();
    assert.equal(await password.getAttribute('type'), 'text');
    assert.deepEqual(await barriers(), []);
    await page.getByRole('button', { name: 'Hide password' }).click();
    assert.equal(await password.getAttribute('type'), 'password');
    await page.getByRole('button', { name: 'Show password' }).click();
    await password.fill(system.passwords.editor);
    await page.evaluate(`document.addEventListener('submit', () =>
      sessionStorage.setItem('type', document.querySelector('[name="password"]').type))`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await heading(page, 'Posts');
    assert.equal(await page.evaluate(`sessionStorage.getItem('type')`), 'password');
    assert.deepEqual(complaints, []);
  });

  test('the first invalid field has the focus, and typed text survives a reload', async () => {
    const { page, complaints } = await open('editor');
    await page.goto('/posts/new');
    await page.getByLabel('Title').fill('Half');
    await page.getByLabel('Body').fill('a thought');
    assert.equal(await page.locator('[data-count="title"]').textContent(), '4 of 500');
    await page.reload();
    await page.getByText('What you typed here before was restored.').waitFor();
    assert.equal(await page.getByLabel('Body').inputValue(), 'a thought');
    await page.getByRole('combobox', { name: 'User' }).fill('nobody');
    await page.getByRole('button', { name: 'Create post' }).click();
    await page.getByText('User must be the name or the number of a user').first().waitFor();
    assert.equal(await page.evaluate('document.activeElement.name'), 'userId');
    await page.getByRole('combobox', { name: 'User' }).fill('');
    await page.getByRole('button', { name: 'Create post' }).click();
    await heading(page, 'Half');
    // The draft is dropped when the scripts of this page have run.
    await page.waitForLoadState();
    await page.goto('/posts/new');
    assert.equal(await page.getByLabel('Body').inputValue(), '');
    assert.deepEqual(
      complaints.filter((line) => !line.includes('422')),
      [],
    );
  });

  test('a search marks its matches, and Escape closes the export menu', async () => {
    const word = `needle${Date.now()}`;
    await cast.alice.create({ title: 'Hay', body: `some ${word} in it` });
    const { page } = await open('viewer');
    await page.getByLabel('Search in title and body').fill(word.toUpperCase());
    await page.keyboard.press('Enter');
    await page.getByText('1 post found').waitFor();
    assert.equal(await page.locator('mark').textContent(), word);
    await page.getByText('Export these', { exact: true }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'As JSON' }).click(),
    ]);
    assert.match(download.suggestedFilename(), /^posts_export_\d{8}_\d{6}\.json$/);
    const posts = JSON.parse(await readFile(await download.path(), 'utf8'));
    assert.deepEqual(
      posts.map(({ title }: { title: string }) => title),
      ['Hay'],
    );
    const csvFile = page.getByRole('link', { name: 'As CSV' });
    await page.keyboard.press('Escape');
    await csvFile.waitFor({ state: 'hidden' });
  });

  test('times are in the time zone of the browser, with the exact time as title', async () => {
    const { id, createdAt } = await cast.alice.create();
    const { page } = await open('viewer');
    await page.goto(`/posts/${id}`);
    const local = new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'medium',
      timeStyle: 'short',
      timeZone: 'Asia/Kolkata',
    });
    const time = page.locator('time').first();
    assert.equal(await time.textContent(), local.format(new Date(createdAt)));
    assert.equal(await time.getAttribute('title'), createdAt);
    assert.equal(await time.getAttribute('datetime'), createdAt);
  });

  test('the theme changes at once and is remembered', async () => {
    const { page } = await open('viewer', { colorScheme: 'light' });
    const background = () => page.evaluate('getComputedStyle(document.body).color') as Promise<string>;
    const light = await background();
    await page.getByRole('button', { name: 'Dark theme' }).click();
    const dark = await background();
    assert.notEqual(dark, light);
    await page.goto('/analysis');
    assert.equal(await background(), dark);
    await page.getByRole('button', { name: 'System theme' }).click();
    assert.equal(await background(), light);
  });

  test('on a phone, the menu has all entries, and closes by Escape, its button, or a tap beside it', async () => {
    const { page, barriers } = await open('admin', { widthPx: 390, colorScheme: 'dark' });
    const menu = page.getByRole('button', { name: 'Menu', exact: true });
    const status = page.getByRole('link', { name: 'Status' });
    const closings = [
      () => page.keyboard.press('Escape'),
      () => page.getByRole('button', { name: 'Close menu' }).click(),
      () => page.mouse.click(20, 400),
    ];
    for (const close of closings) {
      assert.equal(await status.isVisible(), false);
      await menu.press('Enter');
      await status.waitFor();
      assert.deepEqual(await barriers(), []);
      await close();
      await status.waitFor({ state: 'hidden' });
    }
    await menu.click();
    await status.click();
    await heading(page, 'Status');
    await page.setViewportSize({ width: 1280, height: 800 });
    assert.equal(await menu.isVisible(), false);
    assert.equal(await page.getByRole('button', { name: 'Close menu' }).isVisible(), false);
  });

  test('the pressed theme stands out from the others in the dark', async () => {
    const { page } = await open('viewer', { colorScheme: 'dark' });
    const contrast = await page.evaluate(`
      const light = (element) => getComputedStyle(element).backgroundColor.match(/\\d+/g).map(Number)[0];
      const form = document.querySelector('[data-themes]');
      light(form.querySelector('[aria-pressed="true"]')) - light(form)`);
    assert.ok((contrast as number) > 24, String(contrast));
  });

  test('a slow page is announced', async () => {
    const { page } = await open('viewer');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/analysis', async (route) => {
      await released;
      await route.continue();
    });
    // While a page waits for the next one, the test can observe it only through the console.
    const announced = page.waitForEvent('console', (message) => message.text() === 'announced');
    await page.evaluate(`
      const link = document.querySelector('a[href="/analysis"]');
      new MutationObserver(() => console.log('announced'))
        .observe(document.documentElement, { attributeFilter: ['data-waiting'] });
      setTimeout(() => link.click())`);
    await announced;
    release();
    await heading(page, 'Analysis');
    assert.equal(await page.locator('html[data-waiting]').count(), 0);
  });

  test('a viewer sees no controls for writing', async () => {
    const { page } = await open('viewer');
    for (const name of ['New post', 'Import', 'Edit', 'Delete', 'Status']) {
      assert.equal(await page.getByRole('link', { name }).count(), 0, name);
    }
  });

  test('the analysis has charts and shows their numbers', async () => {
    await cast.alice.create({ title: 'a', body: 'bbbb' });
    const { page, complaints } = await open('viewer');
    await page.getByRole('link', { name: 'Analysis' }).click();
    await page.getByRole('img', { name: 'Posts by hour of the day, UTC' }).waitFor();
    await page.getByRole('img', { name: 'Posts by day and sentiment, UTC' }).waitFor();
    await page.getByRole('link', { name: '52 weeks' }).click();
    await page.getByRole('img', { name: 'Posts by week and sentiment, UTC' }).waitFor();
    const hours = page.locator('section', { hasText: 'by hour (UTC)' });
    assert.equal(await hours.locator('.plot .hit').count(), 24);
    assert.ok((await page.locator('.bars rect').count()) > 10);
    await hours.getByText('Show the numbers').click();
    assert.equal(await hours.locator('.numbers tbody tr').count(), 24);
    assert.deepEqual(complaints, []);
  });
});

describe('without scripts', { skip: browser.skip }, () => {
  test('everything works with links and forms', async () => {
    const { page, complaints } = await open('editor', { javaScript: false, widthPx: 390 });
    await page.getByRole('link', { name: 'New post' }).click();
    await page.getByLabel('Title').fill('Plain');
    await page.getByLabel('Body').fill('no scripts');
    await page.getByRole('button', { name: 'Create post' }).click();
    await heading(page, 'Plain');
    await page.getByRole('button', { name: 'Dark theme' }).click();
    assert.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
    await page.getByRole('link', { name: 'Delete' }).click();
    await page.getByLabel('Code').fill((await editorsApp).code(1));
    await page.getByRole('button', { name: 'Delete post' }).click();
    await page.getByText(/Post \d+ is deleted\./).waitFor();
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    await page.getByRole('navigation').getByRole('link', { name: 'Import' }).click();
    await page.getByLabel('CSV or JSON file').setInputFiles(csv('p.csv', 'title,body\nOne,x\nTwo,\n'));
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Import 1 post' }).click();
    await page.getByText('1 post saved, 1 row not saved.').waitFor();
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, 'Sign in');
    assert.deepEqual(complaints, []);
  });

  test('a visitor who follows a link from another site is still signed in', async () => {
    const { page } = await open('viewer');
    const elsewhere = system.url.replace('127.0.0.1', 'localhost');
    await page.goto(`${elsewhere}/health`);
    await page.evaluate(`location.href = '${system.url}/analysis'`);
    await heading(page, 'Analysis');
  });
});

describe('accessibility of what no link leads to', { skip: browser.skip }, () => {
  for (const [widthPx, colorScheme] of [
    [390, 'dark'],
    [1280, 'light'],
  ] as const) {
    test(`at ${widthPx} px in ${colorScheme}`, async () => {
      const { id } = await cast.alice.create({
        title: 'w'.repeat(500),
        body: `${'long'.repeat(500)}\n\n<b>`,
      });
      const { page, barriers, complaints } = await open('admin', { widthPx, colorScheme });
      const account = ['password', 'second-factor', 'second-factor/confirm', 'second-factor/remove'];
      const paths = [
        '/?search=nothing-has-this',
        `/posts/${id}`,
        `/posts/${id}/edit`,
        '/users?search=nobody-has-this',
        '/users/2/disable',
        ...account.map((path) => `/account/${path}`),
      ];
      for (const path of paths) {
        await page.goto(path);
        assert.deepEqual(await barriers(), [], path);
      }
      await page.goto(`/posts/${id}`);
      await page.getByRole('link', { name: 'Delete' }).click();
      await page.getByRole('dialog').waitFor();
      assert.deepEqual(await barriers(), [], 'dialog');
      assert.deepEqual(complaints, []);
    });
  }
});
