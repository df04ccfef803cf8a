import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { until } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import { castOf, signedIn, visitorsOf } from '../testing.ts';

const path = '/analysis/reanalyses';
const browser = testBrowser();
const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);
const { alice, charlie } = await visitorsOf(system);

describe('reanalyses', () => {
  test('are requested by a button and end with a result', async () => {
    await cast.alice.create();
    assert.match((await alice.open('/analysis')).html, new RegExp(`href="${path}"`));
    assert.match((await alice.open(path)).html, /No reanalyses yet/);
    const asked = await alice.send(path, {});
    assert.deepEqual([asked.status, asked.headers.get('location')], [303, path]);
    assert.match((await alice.open(path)).html, /The reanalysis is queued\./);
    const { html } = await until(async () => {
      const page = await charlie.open(path);
      return page.html.includes('succeeded') && page;
    });
    assert.match(html, /1 post counted, statistics correct, 1 post classified/);
  });

  test('need write access to be requested and canceled', async () => {
    assert.doesNotMatch((await charlie.open(path)).html, /Reanalyze now|>Cancel</);
    assert.equal((await charlie.send(path, {})).status, 403);
    assert.equal((await charlie.send(`${path}/x/cancel`, {})).status, 403);
    await alice.open(path);
    assert.equal((await alice.send(`${path}/7b9e8f5e-3a55-4a0a-8a57-0c1d2e3f4a5b/cancel`, {})).status, 404);
  });

  test('that have finished are not canceled', async () => {
    const { jobId } = (await cast.alice.post('/posts/reanalyze')).json.data;
    await until(async () => {
      const { json } = await cast.alice.get(`/posts/reanalyze/${jobId}`);
      return json.data.status === 'succeeded';
    });
    await alice.open(path);
    assert.equal((await alice.send(`${path}/${jobId}/cancel`, {})).status, 303);
    assert.match((await alice.open(path)).html, /The reanalysis had already finished\./);
  });

  test('are not available if the broker is off', async () => {
    await using off = await startTestSystem({ MESSAGE_BROKER: 'off' });
    const editor = await signedIn(off, 'alice');
    const { status, html } = await editor.open(path);
    assert.equal(status, 503);
    assert.match(html, /Reanalysis is turned off/);
    assert.equal((await editor.send(path, {})).status, 503);
  });
});

describe('in a browser', { skip: browser.skip }, () => {
  test('the progress bar moves until the reanalysis has finished, without a manual reload', async () => {
    const posts = Array.from({ length: 1_000 }, (_, index) => ({
      title: `Ferry ${index}`,
      body: 'It is late. '.repeat(60),
    }));
    for (let count = 0; count < 2; count++) await cast.alice.post('/posts/bulk', { posts });
    for (const options of [{ widthPx: 1280 }, { widthPx: 390, colorScheme: 'dark' }] as const) {
      const tab = await browser.open({ baseUrl: system.url, ...options });
      const { page } = tab;
      await page.goto(path);
      await page.getByLabel('User name').fill('editor');
      await page.getByLabel('Password').fill(system.passwords.editor);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { level: 1, name: 'Reanalyses' }).waitFor();
      const before = await page.getByText('succeeded').count();
      await page.getByRole('button', { name: 'Reanalyze now' }).click();
      await page.getByRole('progressbar').waitFor();
      await page.getByRole('progressbar').waitFor({ state: 'detached', timeout: 60_000 });
      assert.equal(await page.getByText('succeeded').count(), before + 1);
      assert.deepEqual(await tab.barriers(), []);
      assert.deepEqual(tab.complaints, []);
    }
  });
});
