import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Tab, testBrowser } from '@octavo/testing/browser';
import { password, startQuotes, type TestQuotes } from './testing.ts';

const browser = testBrowser();

describe('in a browser', { skip: browser.skip }, () => {
  let app: TestQuotes;
  let id: number;
  before(async () => {
    app = await startQuotes();
    id = await app.add({
      text: 'Season of mists and mellow fruitfulness,\nClose bosom-friend of the maturing sun.',
      author: 'John Keats',
      category: 'Nature',
      source: 'To Autumn (1820)',
      attribution: 'verified',
    });
    await app.add({ author: 'John Keats', attribution: 'misattributed' });
    const body = { text: 'The best first line of an ode.' };
    await app.call('POST', `/api/quotes/${id}/comments/`, { token: app.tokens.bob, body });
  });
  after(() => app?.[Symbol.asyncDispose]());

  async function signIn({ page }: Tab, next: string): Promise<void> {
    await page.goto(`/accounts/login/?next=${next}`);
    await page.fill('[name=username]', 'alice');
    await page.fill('[name=password]', password);
    await page.click('main form button:not([data-reveal])');
    await page.waitForURL(`**${next}`);
  }

  test('a like changes the button without loading the page', async () => {
    const tab = await browser.open({ baseUrl: app.url });
    await signIn(tab, `/quotes/${id}/`);
    const button = tab.page.locator('button.like');
    await tab.page.evaluate('window.sameDocument = true');
    for (const [pressed, likes] of [
      ['true', '1'],
      ['false', '0'],
      ['true', '1'],
    ] as const) {
      await button.click();
      await tab.page.waitForSelector(`button.like[aria-pressed="${pressed}"]`);
      assert.equal(await button.locator('[data-likes]').textContent(), likes);
    }
    assert.equal(await tab.page.evaluate('window.sameDocument'), true);
    assert.equal((await app.call('GET', `/api/quotes/${id}/`)).json.like_set.length, 1);
    assert.deepEqual(tab.complaints, []);
  });

  test('a comment that was posted does not come back into its box, one that was not does', async () => {
    const tab = await browser.open({ baseUrl: app.url });
    const path = `/quotes/${id}/`;
    await signIn(tab, path);
    const { page } = tab;
    const box = page.locator('#comments [name=text]');
    const post = page.locator('#comments form.form button');
    const restored = page.getByText('What you typed here before was restored.');
    await box.fill('Half a thought.');
    await page.reload();
    await restored.waitFor();
    assert.equal(await box.inputValue(), 'Half a thought.');
    await post.click();
    await page.waitForURL('**/quotes/*/#comment-*');
    for (const again of [() => page.reload(), () => page.goto(path)]) {
      assert.equal(await box.inputValue(), '');
      assert.equal(await restored.count(), 0);
      await again();
    }
    assert.equal(await box.inputValue(), '');
    await box.fill('x'.repeat(2_001));
    await post.click();
    await page.locator('[aria-invalid="true"]').waitFor();
    await page.goto(path);
    assert.equal((await box.inputValue()).length, 2_001);
    await box.fill('Written before the session ended.');
    await page.context().clearCookies();
    await post.click();
    await page.fill('[name=username]', 'alice');
    await page.fill('[name=password]', password);
    await page.click('main form button:not([data-reveal])');
    await page.waitForURL(`**${path}#comments`);
    await restored.waitFor();
    assert.equal(await box.inputValue(), 'Written before the session ended.');
  });

  test('a page with its styles is small, and needs no script', async () => {
    const tab = await browser.open({ baseUrl: app.url, javaScript: false });
    let sizeBytes = 0;
    tab.page.on('response', async (response) => {
      const length = response.headers()['content-length'];
      sizeBytes += Number(length ?? (await response.body()).length);
    });
    await tab.page.goto('/', { waitUntil: 'networkidle' });
    assert.ok(sizeBytes < 50_000, `${sizeBytes} bytes`);
    await signIn(tab, `/quotes/${id}/`);
    await tab.page.fill('[name=text]', 'Without scripts.');
    await tab.page.click('#comments form.form button');
    await tab.page.waitForURL('**/quotes/*/#comment-*');
    assert.match((await tab.page.textContent('#comments')) ?? '', /Without scripts\./);
  });
});
