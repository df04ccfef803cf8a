import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { until } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import type { Page } from 'playwright-core';
import { castOf, openPages } from '../testing.ts';

const browser = testBrowser();
const system = await startTestSystem({ EVENT_STREAM: 'off' });
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);

const open = () => openPages(browser, system, 'editor');
const csv = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });

describe('importing in a browser', { skip: browser.skip }, () => {
  test('shows progress, then the counts and the invalid rows', async () => {
    const { page, complaints, barriers } = await open();
    const word = `import${Date.now()}`;
    const rows = Array.from(
      { length: 60_000 },
      (_, index) => `${word},${index === 700 ? '' : 'body'},${index === 0 ? 0 : 7}`,
    );
    await upload(page, csv('p.csv', `title,body,userId\n${rows.join('\n')}`));
    await page.getByRole('heading', { name: 'p.csv' }).waitFor();
    assert.deepEqual(await barriers(), []);
    await page.getByRole('button', { name: 'Import the whole file' }).click();
    const detail = page.locator('[data-progress-detail]');
    await detail.getByText(/^\d+%, [\d,]+ saved, 2 not saved/).waitFor();
    // The page with the result may come while this one is looked at.
    const during = await barriers().catch((error: Error) => {
      if (!/context was destroyed|navigat/i.test(error.message)) throw error;
      return [];
    });
    assert.deepEqual(during, []);
    await page.getByText('Part of the file was imported').waitFor();
    await page.getByText('59,998 posts saved, 2 rows not saved.').waitFor();
    const table = await page.getByRole('table').textContent();
    assert.match(table ?? '', /1\s*userId must be at least 1[\s\S]*701\s*body/);
    assert.deepEqual(await barriers(), []);
    const { pagination } = (await cast.alice.get(`/posts?search=${word}`)).json;
    assert.equal(pagination.totalItems, 59_998);
    assert.deepEqual(complaints, []);
  });

  test('shows the start of a file, takes the columns that are chosen, and returns the rows that failed', async () => {
    const { page, complaints, barriers } = await open();
    const word = `column${Date.now()}`;
    const text = `Key;Caption;Text\r\n1;${word} one;first\r\n2;;second\r\n3;"${word}; three";=third\r\n`;
    await upload(page, csv('p.csv', text));
    await page.getByText('Choose the column of the title.').waitFor();
    assert.equal(await page.getByLabel('Body').inputValue(), 'Text');
    await page.getByLabel('Title').selectOption('Caption');
    await page.getByRole('button', { name: 'Update preview' }).click();
    await page.getByRole('cell', { name: `${word}; three` }).waitFor();
    assert.deepEqual(await barriers(), []);
    await page.getByRole('button', { name: 'Import 2 posts' }).click();
    await page.getByText('2 posts saved, 1 row not saved.').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download these rows' }).click(),
    ]);
    const failed = await readFile(await download.path(), 'utf8');
    assert.match(failed, /^\uFEFFtitle,body,author,row,problem\r\n,second,,2,title [^\r]+\r\n$/);
    const data = await until(
      async () => (await cast.alice.get(`/posts?search=${word}&sortOrder=asc`)).json.data,
    );
    assert.deepEqual(
      data.map(({ title, body }: Record<string, unknown>) => [title, body]),
      [
        [`${word} one`, 'first'],
        [`${word}; three`, '=third'],
      ],
    );
    assert.deepEqual(complaints, []);
  });

  test('takes a file that is dropped anywhere on the page', async () => {
    const { page } = await open();
    await page.goto('/posts/import');
    const dropped = await page.evaluateHandle(`(() => {
      const files = new DataTransfer();
      files.items.add(new File(['title,body\\nDropped here,x\\n'], 'dropped.csv', { type: 'text/csv' }));
      return files;
    })()`);
    await page.dispatchEvent('main', 'dragover', { dataTransfer: dropped });
    await page.locator('[data-drop].over').waitFor();
    await page.dispatchEvent('main', 'drop', { dataTransfer: dropped });
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('cell', { name: 'Dropped here' }).waitFor();
    await page.getByRole('button', { name: 'Import 1 post' }).click();
    await page.getByText('1 post saved.').waitFor();
  });

  test('survives a lost connection without saving a post twice, and can be stopped', async () => {
    const { page } = await open();
    const word = `lost${Date.now()}`;
    const posts = Array.from({ length: 1_600 }, (_, index) => ({ title: `${word} ${index}`, body: 'x' }));
    const file = { name: 'p.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(posts)) };
    await upload(page, file);
    let calls = 0;
    await page.route('**/posts/import/*', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      calls += 1;
      // The first time all is saved but the response is lost. The second request does not arrive.
      if (calls === 1) await route.fetch();
      if (calls <= 2) await route.abort();
      else await route.continue();
    });
    await page.getByRole('button', { name: 'Import the whole file' }).click();
    await page.getByText('1,600 posts saved.').waitFor();
    assert.equal((await cast.alice.get(`/posts?search=${word}`)).json.pagination.totalItems, 1_600);
    await upload(page, file);
    await page.unroute('**/posts/import/*');
    await page.route('**/posts/import/*', (route) =>
      route.request().method() === 'POST' ? route.abort() : route.continue(),
    );
    await page.getByRole('button', { name: 'Import the whole file' }).click();
    await page.getByText('The connection was lost.').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Nothing has been saved yet.').waitFor();
  });

  test('continues after the session has ended', async () => {
    const { page } = await open();
    await upload(page, csv('p.csv', 'title,body\nBack again,x\n'));
    const button = page.getByRole('button', { name: 'Import 1 post' });
    await button.waitFor();
    await page.context().clearCookies();
    await button.click();
    await page.getByText('Your session has ended.').waitFor();
    const other = await page.context().newPage();
    await other.goto('/');
    await other.getByLabel('User name').fill('editor');
    await other.getByLabel('Password').fill(system.passwords.editor);
    await other.getByRole('button', { name: 'Sign in' }).click();
    await other.getByRole('heading', { level: 1, name: 'Posts' }).waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('1 post saved.').waitFor();
  });
});

async function upload(page: Page, file: ReturnType<typeof csv>): Promise<void> {
  await page.goto('/posts/import');
  await page.getByLabel('CSV or JSON file').setInputFiles(file);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('Nothing has been saved yet.').waitFor();
  // A click before the module has run would send the form by itself.
  await page.waitForLoadState();
}
