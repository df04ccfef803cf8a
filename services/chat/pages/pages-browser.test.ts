import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { testBrowser } from '#kit/testing/browser.ts';
import { startChat, type TestChat } from '../testing.ts';
import { type ModelReply, startModel, type TestModel } from '../testing-model.ts';

const browser = testBrowser();
const handbook = '# Staff handbook\n\n## Vacation\n\nEverybody has 27 days of vacation in a year.\n';

describe('in a browser', { skip: browser.skip }, () => {
  let model: TestModel;
  let chat: TestChat;
  before(async () => {
    model = await startModel();
    chat = await startChat({ LLM_BASE_URL: model.url, LLM_MODEL: 'scripted' });
    await chat.upload([{ name: 'handbook.md', content: handbook }]);
  });
  after(async () => {
    await chat?.[Symbol.asyncDispose]();
    await model?.[Symbol.asyncDispose]();
  });

  for (const [colorScheme, widthPx] of [
    ['light', 1_280],
    ['dark', 390],
  ] as const) {
    test(`a question is answered as it is written, and its passage is marked, ${colorScheme}, ${widthPx} px`, async () => {
      const { promise, resolve } = Promise.withResolvers<ModelReply>();
      model.script = (answer) => resolve(answer.text('Everybody has 27 days '));
      const tab = await browser.open({ colorScheme, widthPx, baseUrl: chat.url });
      const { page } = tab;
      await page.goto('/');
      assert.deepEqual(await tab.barriers(), []);
      await page.fill('#query', 'How many days of vacation do I have?');
      await page.keyboard.press('Enter');
      await page.locator('.writing', { hasText: 'Everybody has 27 days' }).waitFor();
      (await promise).text('of vacation [1].').end();
      const citation = page.locator('.answer a.cite');
      await citation.waitFor();
      assert.match(page.url(), /\/chats\/[\w-]+$/);
      await page.locator('summary', { hasText: '1 source' }).click();
      assert.deepEqual(await tab.barriers(), []);
      const isWider = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      assert.equal(isWider, false, 'the page scrolls sideways');
      await citation.click();
      assert.equal(
        await page.locator('#passage').innerText(),
        'Everybody has 27 days of vacation in a year.',
      );
      assert.deepEqual(await tab.barriers(), []);
      assert.deepEqual(tab.complaints, []);
    });
  }

  test('an answer is stopped, and what was written stays', async () => {
    model.script = (answer) => void answer.text('Everybody has 27 days ');
    const { page } = await browser.open({ baseUrl: chat.url });
    await page.goto('/');
    await page.fill('#query', 'How many days of vacation do I have?');
    await page.click('[data-ask]');
    await page.locator('.writing', { hasText: 'Everybody has 27 days' }).waitFor();
    await page.click('[data-stop]');
    await page.locator('.answer', { hasText: 'Stopped.' }).waitFor();
    assert.match(await page.locator('.answer').innerText(), /^Everybody has 27 days/);
  });

  test('a file is uploaded, and deleted after a question', async () => {
    const { page } = await browser.open({ baseUrl: chat.url });
    await page.goto('/documents');
    const file = { name: 'ships.txt', mimeType: 'text/plain', buffer: Buffer.from('The ferry sails.') };
    await page.setInputFiles('#file', file);
    await page.click('[data-upload] button');
    await page.locator('table', { hasText: 'ships.txt' }).waitFor();
    await page
      .locator('tr', { hasText: 'ships.txt' })
      .getByRole('link', { name: /Delete/ })
      .click();
    await page.getByRole('button', { name: 'Delete document' }).click();
    await page.getByText('The document was deleted.').waitFor();
    assert.equal(await page.locator('table', { hasText: 'ships.txt' }).count(), 0);
  });
});
