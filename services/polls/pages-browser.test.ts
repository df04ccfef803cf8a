import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { testBrowser } from '#kit/testing/browser.ts';
import { startPolls, type TestPolls } from './testing.ts';

const browser = testBrowser();

let polls: TestPolls;
before(async () => {
  polls = await startPolls();
});
after(() => polls[Symbol.asyncDispose]());

describe('in a browser', { skip: browser.skip }, () => {
  test('every page is accessible in light and dark, on phones and desktops', async () => {
    const long =
      'Which of these very long answers, with many words and a VeryLongWordWithoutAnySpaces, is right?';
    const open = await polls.createPoll(['Right', long, 'Other'], { question_text: long });
    const hidden = await polls.createPoll(['A', 'B'], { results: 'after_vote' });
    const closed = await polls.createPoll(['A', 'B'], { closes_at: '2026-02-20T00:00:00Z' });
    const empty = await polls.createPoll([]);
    for (const [widthPx, colorScheme] of [
      [390, 'dark'],
      [1280, 'light'],
    ] as const) {
      const { page, barriers, complaints } = await browser.open({ widthPx, colorScheme, baseUrl: polls.url });
      const check = async (path: string) =>
        assert.deepEqual(await barriers(), [], `${path} at ${widthPx} px`);
      for (const path of [
        '/polls/',
        `/polls/${open.id}/`,
        `/polls/${open.id}/results/`,
        `/polls/${hidden.id}/results/`,
        `/polls/${closed.id}/`,
        `/polls/${closed.id}/results/`,
        `/polls/${empty.id}/`,
      ]) {
        await page.goto(path);
        await check(path);
      }
      await page.goto(`/polls/${open.id}/`);
      await page.getByRole('button', { name: 'Vote' }).click();
      await page.getByText("You didn't select a choice.").waitFor();
      await check('the form again');
      assert.deepEqual(complaints, []);
      await page.goto('/polls/999999/');
      await check('the error page');
    }
  });

  test('a vote by keyboard leads to the results, which then change by themselves', async () => {
    const { id, choices } = await polls.createPoll(['Right', 'Wrong']);
    const { page, complaints } = await browser.open({ baseUrl: polls.url });
    await page.goto(`/polls/${id}/`);
    await page.getByRole('radio', { name: 'Right' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/polls/${id}/results/`);
    await page.getByText('Your answer is not correct').waitFor();
    await page.locator('[data-live]').waitFor({ state: 'visible' });
    for (let count = 0; count < 3; count++) {
      await polls.call('POST', `/api/questions/${id}/vote/`, { body: { choice: choices[0] } });
    }
    await page.locator('[data-share-text]', { hasText: '3 votes' }).waitFor();
    assert.deepEqual(await page.locator('[data-share-percent]').allTextContents(), ['75.0 %', '25.0 %']);
    assert.equal(await page.locator('[data-total]').textContent(), '4');
    await page.getByText('Show the numbers as a table').click();
    assert.deepEqual(await page.locator('[data-value]').allTextContents(), ['3', '1']);
    assert.deepEqual(complaints, []);
  });
});
