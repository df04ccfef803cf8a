import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { until } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import { castOf, signedIn, visitorsOf } from '../testing.ts';

const browser = testBrowser();
const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const { alice, charlie } = await visitorsOf(system);

const praise = 'I love this place, the food was wonderful!';

describe('the form to try the classifier', () => {
  test('shows the sentiment and keeps the text', async () => {
    assert.match((await alice.open('/sentiment')).html, /Classify a text to see its sentiment\./);
    const { status, html } = await alice.send('/sentiment', { text: `\n${praise} <b>` });
    assert.equal(status, 200);
    assert.match(html, /<span class="badge good">positive<\/span>/);
    assert.ok(html.includes(`${praise} &lt;b&gt;</textarea>`));
    for (const name of ['Positive', 'Neutral', 'Negative']) assert.ok(html.includes(name));
  });

  test('needs write access', async () => {
    assert.doesNotMatch((await charlie.open('/')).html, /href="\/sentiment"/);
    assert.match((await alice.open('/')).html, /href="\/sentiment"/);
    assert.equal((await charlie.open('/sentiment')).status, 403);
    assert.equal((await charlie.send('/sentiment', { text: praise })).status, 403);
  });

  test('requires a text', async () => {
    await alice.open('/sentiment');
    const { status, html } = await alice.send('/sentiment', { text: '' });
    assert.equal(status, 422);
    assert.match(html, /<a href="#field-text">Text must not be empty<\/a>/);
    const long = await alice.send('/sentiment', { text: 'a'.repeat(10_001) });
    assert.equal(long.status, 422);
    assert.match(long.html, /must be at most 10,?000 characters/);
    assert.ok(long.html.includes('a'.repeat(10_001)));
  });

  test('says that the model is down, or off', async () => {
    await using down = await startTestSystem({
      INFERENCE_URL: 'http://127.0.0.1:1',
      INFERENCE_MODEL: 'theirs',
    });
    const editor = await signedIn(down, 'alice');
    await editor.open('/sentiment');
    const failed = await editor.send('/sentiment', { text: praise });
    assert.equal(failed.status, 503);
    assert.match(failed.html, /The text could not be classified/);
    assert.ok(failed.html.includes(praise));
    await using off = await startTestSystem({ INFERENCE: 'off' });
    const other = await signedIn(off, 'alice');
    const { status, html } = await other.open('/sentiment');
    assert.equal(status, 503);
    assert.match(html, /Sentiment is turned off/);
  });
});

describe('the page of a post', () => {
  test('shows its sentiment soon after it was saved, and again after a change', async () => {
    const { id } = await cast.alice.create({ title: 'Best day', body: 'I love it, it is wonderful!' });
    const shows = (label: string) =>
      until(async () => (await charlie.open(`/posts/${id}`)).html.includes(`>${label}</span>`));
    await shows('positive');
    assert.match((await charlie.open(`/posts/${id}`)).html, /By the model octavo-1/);
    await cast.alice.put(`/posts/${id}`, { title: 'Worst day', body: 'Horrible, I am so disappointed.' });
    await shows('negative');
  });

  test('has no sentiment if inference is off', async () => {
    await using off = await startTestSystem({ INFERENCE: 'off' });
    const { alice: editor } = await castOf(off);
    const { id } = await editor.create();
    const { status, html } = await (await signedIn(off, 'charlie')).open(`/posts/${id}`);
    assert.equal(status, 200);
    assert.doesNotMatch(html, /Sentiment/);
  });
});

describe('in a browser', { skip: browser.skip }, () => {
  for (const [widthPx, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    test(`a text is classified at ${widthPx} px, ${colorScheme}`, async () => {
      const tab = await browser.open({ baseUrl: system.url, widthPx, colorScheme });
      const { page } = tab;
      await page.goto('/sentiment');
      await page.getByLabel('User name').fill('editor');
      await page.getByLabel('Password').fill(system.passwords.editor);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByLabel('Text').fill('Horrible service, I am so disappointed.');
      await page.keyboard.press('Control+Enter');
      await page.getByText('negative', { exact: true }).waitFor();
      assert.deepEqual(await tab.barriers(), []);
      assert.deepEqual(tab.complaints, []);
    });
  }
});
