import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, describe, test } from 'node:test';
import { testBrowser } from '#kit/testing/browser.ts';
import { startTestSystem } from '../../testing.ts';
import { castOf, openPages } from '../testing.ts';

const browser = testBrowser();
const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);

const open = () => openPages(browser, system, 'editor');
const csv = (name: string, text: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });

describe('importing in a browser', { skip: browser.skip }, () => {
  test('shows progress, then the counts and the invalid rows', async () => {
    const { page, complaints } = await open();
    await page.goto('/posts/import');
    const word = `import${Date.now()}`;
    const rows = Array.from(
      { length: 1_100 },
      (_, index) => `${word},${index === 700 ? '' : 'body'},${index}`,
    );
    const seen: string[] = [];
    await page.exposeFunction('see', (text: string) => seen.push(text));
    await page.evaluate(`new MutationObserver(() => {
      const detail = document.querySelector('[data-progress-detail]');
      if (detail?.textContent) see(detail.textContent);
    }).observe(document.body, { subtree: true, childList: true })`);
    await page
      .getByLabel('CSV or JSON file')
      .setInputFiles(csv('p.csv', `title,body,userId\n${rows.join('\n')}`));
    await page.getByRole('button', { name: 'Import' }).click();
    await page.getByText('Part of the file was imported').waitFor();
    const outcome = await page.locator('[data-import-outcome]').textContent();
    assert.match(outcome ?? '', /1,098 posts saved, 2 rows not saved\./);
    assert.match(outcome ?? '', /1userId must be at least 1[\s\S]*701body/);
    assert.ok(new Set(seen).size > 1 && /^\d+ %, [\d,]+ saved/.test(seen[0] ?? ''), seen.join('; '));
    const { pagination } = (await cast.alice.get(`/posts?search=${word}`)).json;
    assert.equal(pagination.totalItems, 1_098);
    assert.deepEqual(complaints, []);
  });

  test('shows the start of a file, takes the columns that are chosen, and returns the rows that failed', async () => {
    const { page, complaints, barriers } = await open();
    await page.goto('/posts/import');
    const word = `column${Date.now()}`;
    const text = `Key;Caption;Text\r\n1;${word} one;first\r\n2;;second\r\n3;"${word}; three";=third\r\n`;
    await page.getByLabel('CSV or JSON file').setInputFiles(csv('p.csv', text));
    const preview = page.locator('[data-import-preview]');
    await preview.getByText('Choose the columns of the title and the body.').waitFor();
    assert.equal(await preview.getByLabel('Body is in').inputValue(), 'Text');
    await preview.getByLabel('Title is in').selectOption('Caption');
    await preview.getByRole('cell', { name: `${word}; three` }).waitFor();
    assert.deepEqual(await barriers(), []);
    await page.getByRole('button', { name: 'Import' }).click();
    await page.getByText('2 posts saved, 1 row not saved.').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download these rows' }).click(),
    ]);
    const failed = await readFile(await download.path(), 'utf8');
    assert.match(failed, /^\uFEFFtitle,body,userId,row,problem\r\n,second,,2,title [^\r]+\r\n$/);
    const { data } = (await cast.alice.get(`/posts?search=${word}&sortOrder=asc`)).json;
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
    await page.locator('[data-import-preview]').getByRole('cell', { name: 'Dropped here' }).waitFor();
    await page.getByRole('button', { name: 'Import' }).click();
    await page.getByText('1 post saved.').waitFor();
  });

  test('survives a lost connection without saving a post twice, and can be stopped', async () => {
    const { page } = await open();
    await page.goto('/posts/import');
    const word = `lost${Date.now()}`;
    const posts = Array.from({ length: 600 }, (_, index) => ({ title: `${word} ${index}`, body: 'x' }));
    let calls = 0;
    await page.route('**/posts/import/rows', async (route) => {
      calls += 1;
      // The second batch arrives but its response is lost. The third does not arrive.
      if (calls === 2) await route.fetch();
      if (calls === 2 || calls === 3) await route.abort();
      else await route.continue();
    });
    const file = { name: 'p.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(posts)) };
    await page.getByLabel('CSV or JSON file').setInputFiles(file);
    await page.getByRole('button', { name: 'Import' }).click();
    await page.getByText('600 posts saved.').waitFor();
    assert.equal((await cast.alice.get(`/posts?search=${word}`)).json.pagination.totalItems, 600);
    await page.unroute('**/posts/import/rows');
    await page.route('**/posts/import/rows', (route) => route.abort());
    await page.getByRole('button', { name: 'Import' }).click();
    await page.getByText('The connection was lost.').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText(/You stopped the import\. 0 posts saved\./).waitFor();
  });

  test('continues after the session has ended', async () => {
    const { page } = await open();
    await page.goto('/posts/import');
    await page.context().clearCookies();
    await page.getByLabel('CSV or JSON file').setInputFiles(csv('p.csv', 'title,body\nBack again,x\n'));
    await page.getByRole('button', { name: 'Import' }).click();
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
