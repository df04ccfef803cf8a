import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testBrowser } from '@octavo/testing/browser';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { menuMax } from './table/list.ts';
import { type Library, password, startLibrary } from './testing/start.ts';

const postgres = await testDatabaseUrl();
const browser = testBrowser();

describe('choices of a large table on SQLite', () => cases(undefined));
describe('choices of a large table on PostgreSQL', { skip: postgres.skip }, () => cases(postgres.url));

function cases(url: string | undefined): void {
  test('are found by words and by number, and shown to those who may see them', async () => {
    const library = await startLibrary(url);
    const [first] = await addAuthors(library);
    const alice = await library.signedIn('alice');
    const choices = async (q: string) => {
      const { html } = await alice.open(`/admin/library/author/choices/?q=${encodeURIComponent(q)}`);
      return JSON.parse(html).choices;
    };
    const pat = { id: String(first), title: 'Pat “O” 0%' };
    assert.deepEqual(await choices('pat o'), [pat]);
    assert.deepEqual(await choices(String(first)), [pat]);
    assert.deepEqual(await choices('0%'), [pat]);
    assert.equal((await choices('author')).length, 20);
    for (const q of ['', ' ', '\0', "x' or 1", '9'.repeat(40)]) assert.deepEqual(await choices(q), [], q);
    const bob = await library.signedIn('bob', ['library/book:view']);
    assert.equal((await bob.open('/admin/library/author/choices/?q=pat')).status, 403);
    assert.equal((await alice.open('/admin/library/nothing/choices/?q=pat')).status, 404);
  });
}

test('a field offers them while a user types', { skip: browser.skip }, async () => {
  const library = await startLibrary();
  const [first] = await addAuthors(library);
  await library.signedIn('alice');
  const { page, complaints } = await browser.open({ baseUrl: library.url });
  await page.goto('/admin/login/?next=/admin/library/book/add/');
  await page.fill('[name=username]', 'alice');
  await page.fill('[name=password]', password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  const author = page.getByLabel('Author');
  await author.fill('Pat');
  const option = page.locator('datalist option');
  await option.waitFor({ state: 'attached' });
  assert.equal(await option.getAttribute('value'), String(first));
  // What a browser does when the option is chosen.
  await author.fill(String(first));
  await page.getByText('“Pat “O” 0%”.').waitFor();
  assert.deepEqual(complaints, []);
});

/** Adds more authors than fit in a menu. */
async function addAuthors({ database }: Library): Promise<number[]> {
  const names = [
    'Pat “O” 0%',
    ...Array.from({ length: menuMax }, (_, index) => `Author ${String.fromCodePoint(0x4e00 + index)}`),
  ];
  const values = names.map((name) => ({ name })) as never[];
  const rows = await database.kysely.insertInto('author').values(values).returning('id').execute();
  return rows.map(({ id }) => id);
}
