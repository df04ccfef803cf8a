import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testBrowser } from '@octavo/testing/browser';
import { startChat } from '../testing.ts';
import { startEmbeddings } from '../testing-embeddings.ts';
import { startModel } from '../testing-model.ts';

const browser = testBrowser();

describe('in a browser', { skip: browser.skip }, () => {
  for (const [colorScheme, widthPx] of [
    ['light', 1_280],
    ['dark', 390],
  ] as const) {
    test(`from the start page to the first answer of a model, ${colorScheme}, ${widthPx} px`, async () => {
      await using model = await startModel();
      model.about = { '/v1/models': { data: [{ id: 'scripted' }] } };
      model.script = (answer) => answer.text('At 9:00', ' on Fridays [1].').end();
      await using chat = await startChat();
      await chat.upload([{ name: 'hours.txt', content: 'The office opens at 9:00 on Fridays.' }]);
      const { page, complaints, barriers } = await browser.open({ colorScheme, widthPx, baseUrl: chat.url });
      await page.goto('/');
      await page.getByRole('link', { name: 'Connect a model' }).click();
      assert.deepEqual(await barriers(), []);
      await page.getByLabel('Address').fill(model.url);
      await page.getByRole('button', { name: 'List models' }).click();
      await page.getByRole('button', { name: 'Try one question' }).click();
      await page.getByText('At 9:00 on Fridays').waitFor();
      assert.deepEqual(await barriers(), []);
      await page.getByRole('button', { name: 'Use this model' }).click();
      await page.getByText('scripted writes the answers from now on.').waitFor();
      assert.deepEqual(await barriers(), []);
      await using vectors = await startEmbeddings();
      await page.getByRole('link', { name: 'Connect embeddings' }).click();
      await page.getByLabel('Address').fill(vectors.url);
      await page.getByRole('button', { name: 'List models' }).click();
      await page.getByRole('button', { name: 'Use this model' }).click();
      await page.getByRole('heading', { name: 'Make new vectors with scripted?' }).waitFor();
      assert.deepEqual(await barriers(), []);
      await page.getByRole('button', { name: 'Make new vectors' }).click();
      await page.getByText('scripted makes the vectors from now on.').waitFor();
      assert.deepEqual(await barriers(), []);
      await page.getByRole('link', { name: 'Connect a reranker' }).click();
      await page.getByText('A server with the /rerank API').waitFor();
      assert.deepEqual(await barriers(), []);
      await page.goto('/');
      await page.fill('#query', 'When does the office open on Fridays?');
      await page.keyboard.press('Enter');
      await page.locator('.answer', { hasText: 'At 9:00 on Fridays' }).locator('a.cite').waitFor();
      await page.locator('.answer-foot').waitFor();
      assert.deepEqual([complaints, await barriers()], [[], []]);
    });
  }
});
