import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import { castOf, openPages } from '../testing.ts';

const browser = testBrowser();
const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);

describe('the list in a browser', { skip: browser.skip }, () => {
  test('selects rows singly, as a range, or all, and deletes them', async () => {
    const { page, complaints } = await openPages(browser, system, 'admin');
    for (let number = 1; number <= 5; number++) await cast.bob.create({ title: `Row ${number}` });
    await page.reload();
    const boxes = page.locator('td.select input');
    const remove = page.getByRole('button', { name: 'Delete selected' });
    assert.equal(await remove.isVisible(), false);
    await boxes.nth(0).check();
    await boxes.nth(2).click({ modifiers: ['Shift'] });
    await page.getByText('3 selected').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await remove.waitFor({ state: 'hidden' });
    await page.getByLabel('Select all on this page').check();
    await page.getByText('5 selected').waitFor();
    await boxes.nth(4).uncheck();
    await remove.click();
    await page.getByRole('heading', { name: 'Delete 4 posts?' }).waitFor();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByText('5 posts').waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Delete 4 posts' }).click();
    await page.getByText('4 posts deleted.').waitFor();
    assert.equal(await boxes.count(), 1);
    assert.deepEqual(complaints, []);
  });

  test('takes days in the time zone of the browser', async () => {
    const { page } = await openPages(browser, system, 'viewer');
    await page.getByLabel('Created from').fill('2026-01-31');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/from=2026-01-31/);
    assert.match(page.url(), /zone=Asia%2F(Kolkata|Calcutta)/);
    assert.equal(await page.getByLabel('Created from').inputValue(), '2026-01-31');
  });

  for (const [widthPx, colorScheme] of [
    [390, 'light'],
    [390, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
  ] as const) {
    test(`is accessible with filters and a selection at ${widthPx} px in ${colorScheme}`, async () => {
      const { page, barriers, complaints } = await openPages(browser, system, 'admin', {
        widthPx,
        colorScheme,
      });
      const { id } = await cast.bob.create({ title: 'w'.repeat(300), body: 'x' });
      await page.goto('/?userId=1&from=2026-01-01&sentiment=neutral');
      assert.deepEqual(await barriers(), []);
      await page.goto('/');
      const more = page.getByText('More filters');
      assert.equal(await more.isVisible(), widthPx === 390);
      if (widthPx === 390) await more.click();
      await page.getByLabel('Sentiment').waitFor();
      await page.locator('td.select input').first().check();
      assert.deepEqual(await barriers(), []);
      await page.goto(`/posts/delete?id=${id}`);
      assert.deepEqual(await barriers(), []);
      await page.goto('/posts/delete?id=999999');
      assert.deepEqual(await barriers(), []);
      assert.deepEqual(
        complaints.filter((line) => !line.includes('422')),
        [],
      );
    });
  }
});
