import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { testBrowser } from '@octavo/testing/browser';
import { password, startPolls, type TestPolls } from './testing.ts';

const browser = testBrowser();

let polls: TestPolls;
before(async () => {
  polls = await startPolls();
});
after(() => polls[Symbol.asyncDispose]());

describe('in a browser', { skip: browser.skip }, () => {
  test('pages are printed dark on white, whatever the theme', async () => {
    const { id } = await polls.createPoll(['A', 'B']);
    for (const given of ['auto', 'light', 'dark'] as const) {
      const { page } = await browser.open({ colorScheme: 'dark', baseUrl: polls.url });
      if (given !== 'auto')
        await page.context().addCookies([{ name: 'octavo_theme', value: given, url: polls.url }]);
      await page.goto(`/polls/${id}/`);
      await page.emulateMedia({ media: 'print' });
      const printed = await page.evaluate(`(() => {
        const { color, backgroundImage, backgroundColor } = getComputedStyle(document.body);
        const card = getComputedStyle(document.querySelector('main .card')).backgroundColor;
        const bar = getComputedStyle(document.querySelector('.bar')).display;
        const control = getComputedStyle(document.querySelector('main button, main .button')).transitionDuration;
        return { color, backgroundImage, backgroundColor, card, bar, control };
      })()`);
      assert.deepEqual(
        printed,
        {
          color: 'rgb(27, 28, 38)',
          backgroundImage: 'none',
          backgroundColor: 'rgba(0, 0, 0, 0)',
          card: 'rgb(255, 255, 255)',
          bar: 'none',
          // Printed in the middle of a transition, a control would have a color between both themes.
          control: '0s',
        },
        given,
      );
    }
  });

  test('every page is accessible in light and dark, on phones and desktops', async () => {
    const long =
      'Which of these very long answers, with many words and a VeryLongWordWithoutAnySpaces, is right?';
    const open = await polls.createPoll(['Right', long, 'Other'], { question_text: long });
    const hidden = await polls.createPoll(['A', 'B'], { results: 'after_vote' });
    const closed = await polls.createPoll(['A', 'B'], { closes_at: '2026-02-20T00:00:00Z' });
    const empty = await polls.createPoll([]);
    const several = await polls.createPoll(['A', long, 'C'], { max_choices: 2 });
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
        `/polls/${several.id}/`,
        `/polls/${several.id}/results/`,
        `/polls/${open.id}/screen/`,
        `/polls/${hidden.id}/screen/`,
        `/polls/${closed.id}/embed/`,
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

  test('a table that is shown as cards is still a table for screen readers', async () => {
    await polls.createPoll(['A', 'B']);
    const { page } = await browser.open({ widthPx: 390, baseUrl: polls.url });
    await page.goto('/polls/');
    const display = await page.evaluate("getComputedStyle(document.querySelector('tbody tr')).display");
    assert.equal(display, 'flex');
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    const roles = nodes.map(({ role }) => role?.value);
    const rows = await page.locator('tr').count();
    const found = (wanted: string) => roles.filter((role) => role === wanted).length;
    assert.deepEqual([found('table'), found('row')], [1, rows]);
    assert.ok(found('cell') >= rows - 1 && found('columnheader') > 1);
  });

  test('a poll is made and managed on a phone and a desktop, with lines that are added while typing', async () => {
    await using open = await startPolls({ environment: { POLLS_OPEN: '1' } });
    for (const [widthPx, colorScheme] of [
      [390, 'dark'],
      [1280, 'light'],
    ] as const) {
      const { page, barriers, complaints } = await browser.open({ widthPx, colorScheme, baseUrl: open.url });
      const check = async (what: string) =>
        assert.deepEqual(await barriers(), [], `${what} at ${widthPx} px`);
      await page.goto('/polls/new/');
      await check('the form');
      await page.getByRole('button', { name: 'Create poll' }).click();
      await page.getByText('The poll was not created').waitFor();
      await check('the form with errors');
      await page.getByLabel('Question').fill('Where to eat?');
      for (const [index, text] of [
        'Here',
        'The Thai place behind the station',
        'x'.repeat(52),
        'At home',
      ].entries())
        await page.getByLabel(`Choice ${index + 1}`, { exact: true }).fill(text);
      await page.getByLabel('Choice 5', { exact: true }).fill('Nowhere');
      await page.getByRole('button', { name: 'More choices' }).click();
      assert.equal(await page.evaluate('document.activeElement.name'), 'choice_7');
      await page.getByRole('button', { name: 'Create poll' }).click();
      await page.getByText('Save this address').waitFor();
      await check('the new poll');
      assert.equal(await page.getByRole('radio').count(), 5);
      await page.locator('a[href*="/polls/manage/"]').click();
      await page.getByText('Manage your poll').waitFor();
      await check('the page to manage it');
      await page.getByRole('link', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'Delete poll' }).waitFor();
      await check('the question before it is deleted');
      await page.goto('/admin/login/?next=/polls/mine/');
      await page.getByLabel('User name').fill('bob');
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.keyboard.press('Enter');
      await page.getByText('You have no polls yet').waitFor();
      await check('no polls');
      // The form with errors is a 400.
      assert.deepEqual(
        complaints.filter((complaint) => !complaint.includes('400')),
        [],
      );
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
    assert.deepEqual(await page.locator('[data-share-percent]').allTextContents(), ['75.0%', '25.0%']);
    assert.equal(await page.locator('[data-total]').textContent(), '4');
    await page.getByText('Show the numbers as a table').click();
    assert.deepEqual(await page.locator('[data-value]').allTextContents(), ['3', '1']);
    assert.deepEqual(complaints, []);
  });

  test('several answers are picked by keyboard, and the number of voters changes by itself', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B', 'C'], { max_choices: 2 });
    const { page, complaints } = await browser.open({ baseUrl: polls.url });
    await page.goto(`/polls/${id}/`);
    for (const name of ['A', 'C']) {
      await page.getByLabel(name, { exact: true }).focus();
      await page.keyboard.press('Space');
    }
    await page.keyboard.press('Enter');
    await page.getByText('1 voter, several answers possible').waitFor();
    await page.locator('[data-live]').waitFor({ state: 'visible' });
    const body = { choices: choices.slice(1) };
    await polls.call('POST', `/api/questions/${id}/vote/`, { body, authorization: undefined });
    await page.getByText('2 voters, several answers possible').waitFor();
    assert.equal(await page.locator(`[data-percent="${choices[2]}"]`).textContent(), '100.0%');
    assert.deepEqual(complaints, []);
  });

  test('a page of another site shows a poll in a frame, with live counts', async () => {
    const { id, choices } = await polls.createPoll(['A', 'B']);
    const frame = `<iframe src="${polls.url}/polls/${id}/embed/" width="400" height="420"></iframe>
<iframe src="${polls.url}/polls/${id}/" width="400" height="420"></iframe>`;
    const site = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end(frame),
    );
    // Another host for the browser: an address of its own is another site.
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const { port } = site.address() as AddressInfo;
    try {
      const { page } = await browser.open({ baseUrl: polls.url });
      await page.goto(`http://localhost:${port}/`);
      const [embed, refused] = [page.frameLocator('iframe >> nth=0'), page.frameLocator('iframe >> nth=1')];
      await embed.locator('[data-live]').waitFor({ state: 'visible' });
      await polls.call('POST', `/api/questions/${id}/vote/`, { body: { choice: choices[1] } });
      await embed.locator('[data-share-text]', { hasText: '1 vote' }).waitFor();
      assert.equal(await refused.getByRole('button', { name: 'Vote' }).count(), 0);
      const opened = page.waitForEvent('popup');
      await embed.getByRole('link', { name: 'Vote on this poll' }).click();
      await (await opened).waitForURL(`${polls.url}/polls/${id}/`);
      await (await opened).getByRole('radio', { name: 'A' }).check();
      await (await opened).getByRole('button', { name: 'Vote' }).click();
      await (await opened).waitForURL('**/results/');
    } finally {
      await new Promise((resolve) => site.close(resolve));
    }
  });

  test('times are typed in the zone of the reader, and in UTC without scripts', async () => {
    const { id } = await polls.createPoll(['A'], { closes_at: '2026-03-10T20:00:00.123456Z' });
    const stored = async () => (await polls.call('GET', `/api/questions/${id}/`)).json.closes_at;
    for (const javaScript of [true, false]) {
      const zone = javaScript ? /^Asia\/(Kolkata|Calcutta)$/ : /^UTC$/;
      const { page, barriers } = await browser.open({ baseUrl: polls.url, javaScript });
      await page.goto('/admin/login/');
      await page.getByLabel('User name').fill('alice');
      await page.getByLabel('Password', { exact: true }).fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.goto(`/admin/polls/question/${id}/change/`);
      if (javaScript) assert.deepEqual(await barriers(), []);
      const closes = page.getByLabel('Closes');
      assert.match((await page.locator('#field-closes_at-zone').textContent()) ?? '', zone);
      assert.equal(await closes.inputValue(), javaScript ? '2026-03-11T01:30' : '2026-03-10T20:00');
      const save = () => page.getByRole('button', { name: 'Save and continue editing' }).click();
      await page.getByLabel('Question', { exact: true }).fill(`With scripts: ${javaScript}`);
      await save();
      await page.getByText('was changed').waitFor();
      assert.equal(await stored(), '2026-03-10T20:00:00.123456Z', 'an untouched time keeps its microseconds');
      await closes.fill('2026-03-11T09:45');
      await save();
      await page.getByText('was changed').waitFor();
      assert.equal(await stored(), javaScript ? '2026-03-11T04:15:00Z' : '2026-03-11T09:45:00Z');
      const early = '2026-01-01T00:00';
      await closes.fill(early);
      await save();
      await page.getByText('must not close before').first().waitFor();
      assert.equal(await closes.inputValue(), early, 'what was typed is there again');
      const body = { closes_at: '2026-03-10T20:00:00.123456Z' };
      await polls.call('PATCH', `/api/questions/${id}/`, { body });
    }
  });
});
