import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { testBrowser } from '@octavo/testing/browser';
import { addAdministrator, startPortfolio, type TestPortfolio } from './testing.ts';

const browser = testBrowser();
const password = 'ferries wait in fog';

describe('in a browser', { skip: browser.skip }, () => {
  let portfolio: TestPortfolio;
  before(async () => {
    portfolio = await startPortfolio({ environment: { ARGON2_MEMORY_KIB: '8' } });
    await addAdministrator(portfolio, 'alice', password);
  });
  after(() => portfolio?.[Symbol.asyncDispose]());

  for (const [colorScheme, widthPx] of [
    ['light', 1_280],
    ['dark', 390],
  ] as const) {
    test(`an investment and an import have no barriers, ${colorScheme}, ${widthPx} px`, async () => {
      const tab = await browser.open({ colorScheme, widthPx, baseUrl: portfolio.url });
      const { page } = tab;
      await page.goto('/investments');
      await page.locator('td.main a').first().click();
      await page.waitForURL('**/investments/*');
      assert.deepEqual(await tab.barriers(), [], 'an investment');
      await page.goto('/admin/login/?next=/import');
      await page.getByLabel('User name').fill('alice');
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL('**/import');
      assert.deepEqual(await tab.barriers(), [], 'the import');
      const team = [{ name: `Import ${widthPx}`, role: 'partner' }, { name: 'Ordered <i>Other</i>' }];
      const buffer = Buffer.from(JSON.stringify({ team }));
      await page.getByLabel('File').setInputFiles({ name: 'a.json', mimeType: 'application/json', buffer });
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByText('To be added').waitFor();
      assert.deepEqual(await tab.barriers(), [], 'the preview');
      await page.getByRole('button', { name: /^Import \d records?$/ }).click();
      await page.getByText('The file was imported.').waitFor();
      assert.deepEqual(await tab.barriers(), [], 'the result');
      assert.equal((await portfolio.get(`/api/team?name=import+${widthPx}`)).json.length, 1);
      assert.deepEqual(
        tab.complaints.filter((text) => !/status of 4/.test(text)),
        [],
      );
    });
  }
});
