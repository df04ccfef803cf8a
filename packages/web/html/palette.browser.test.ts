import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '@octavo/core';
import { testBrowser } from '@octavo/testing/browser';
import { type Frame, html, layout, progress, table } from '../html.ts';
import { startTestServer, type TestServer } from '../http/testing.ts';
import { loadAssets, servePages } from '../pages.ts';

const browser = testBrowser();
const titles = ['Fog over the harbor', 'Harvest report', 'Rain'];

let server: TestServer;
before(async () => {
  const assets = loadAssets();
  server = await startTestServer((app) => {
    const pages = {
      name: 'notes',
      secret: 's'.repeat(32),
      sessionSeconds: 60,
      clock: systemClock,
      assets,
      errorPage: () => 'error',
    };
    servePages(app, pages, (routes) => {
      routes.get('/', { access: 'public' }, async (visit) => {
        const { q = '' } = visit.request.query as { q?: string };
        const frame: Frame = {
          ...visit.frame(),
          service: 'Notes',
          navigation: [
            { href: '/', label: 'Notes', icon: 'list', searches: 'q' },
            { href: '/settings', label: 'Settings', icon: 'settings' },
          ],
        };
        const rows = titles.filter((title) => title.toLowerCase().includes(q.toLowerCase()));
        const columns = [
          {
            header: 'Title',
            kind: 'main' as const,
            cell: (title: string) => html`<a href="/${title}">${title}</a>`,
          },
        ];
        return layout(frame, {
          title: 'Notes',
          main: html`<form role="search"><input name="q" aria-label="Search notes"></form>${table({ caption: 'Notes', columns, rows })}${progress({ label: 'Loading notes', value: 0 })}`,
        });
      });
      routes.get('/settings', { access: 'public' }, async (visit) =>
        layout({ ...visit.frame(), service: 'Notes', navigation: [] }, { title: 'Settings', main: html`` }),
      );
    });
  });
});
after(() => server[Symbol.asyncDispose]());

describe('keys', { skip: browser.skip }, () => {
  test('Ctrl+K goes to a page and to a record, and is accessible', async () => {
    const { page, complaints, barriers } = await browser.open({ baseUrl: server.url });
    await page.goto('/');
    await page.keyboard.press('Control+k');
    const box = page.getByRole('combobox', { name: 'Search and go to' });
    await box.waitFor();
    assert.deepEqual(await barriers(), []);
    await page.keyboard.type('harv');
    await page.getByRole('option', { name: 'Harvest report' }).waitFor();
    await page.getByRole('option', { name: 'Notes: “harv”' }).waitFor();
    assert.equal(await page.getByRole('option', { name: 'Settings' }).count(), 0);
    assert.equal(await page.getByRole('option', { name: 'Title' }).count(), 0, 'a header is no record');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/Harvest%20report');
    await page.goto('/');
    await page.keyboard.press('?');
    await box.waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/settings');
    assert.deepEqual(
      complaints.filter((text) => !text.includes('404')),
      [],
    );
  });

  test('/ goes to the search of the page, and is a letter where one types', async () => {
    const { page } = await browser.open({ baseUrl: server.url });
    await page.goto('/');
    await page.keyboard.press('/');
    await page.keyboard.type('a/b?');
    assert.equal(await page.getByRole('textbox', { name: 'Search notes' }).inputValue(), 'a/b?');
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  test('without scripts there is no button that does nothing, and themes come after the content', async () => {
    const { page } = await browser.open({ baseUrl: server.url, javaScript: false });
    await page.goto('/');
    assert.equal(await page.locator('[data-palette]:visible').count(), 0);
    assert.equal(await page.locator('main ~ form.themes').count(), 1);
  });

  test('screen readers are told of each quarter of a progress bar, once', async () => {
    const { page } = await browser.open({ baseUrl: server.url });
    await page.goto('/');
    const told = page.locator('[data-progress] [role="status"]');
    const set = (value: number) =>
      page.locator('progress').evaluate((bar: { value: number }, now) => {
        bar.value = now;
      }, value);
    await set(10);
    await set(30);
    await page.getByText('Loading notes: 25%').waitFor({ state: 'attached' });
    await set(40);
    assert.equal(await told.textContent(), 'Loading notes: 25%');
    await set(100);
    await page.getByText('Loading notes: 100%').waitFor({ state: 'attached' });
  });
});
