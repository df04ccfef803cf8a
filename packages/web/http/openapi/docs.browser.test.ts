import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Type } from '@octavo/core';
import { testBrowser } from '@octavo/testing/browser';
import { startTestServer, type TestServer } from '../testing.ts';

const browser = testBrowser();

let server: TestServer;
before(async () => {
  server = await startTestServer(
    (app) => {
      app.get(
        '/notes',
        {
          access: 'public',
          schema: { summary: 'Read every note', response: { 200: Type.Array(Type.String()) } },
        },
        async () => [],
      );
    },
    { title: 'Notes & <more>' },
  );
});
after(() => server[Symbol.asyncDispose]());

describe('/docs', () => {
  test('is a page with a strict policy for scripts', async () => {
    const { status, headers, text } = await server.send('/docs/try');
    assert.equal(status, 200);
    assert.match(headers.get('content-security-policy') ?? '', /script-src 'self';.*frame-ancestors 'none'/);
    assert.match(text, /<title>Notes &#38; &#60;more&#62;<\/title>/);
    assert.doesNotMatch(text, /<script>| on\w+=|https?:/);
  });

  test('loads Scalar from this server, compressed where the client accepts it', async () => {
    const plain = await server.send('/docs/scalar.js', { headers: { 'accept-encoding': 'identity' } });
    assert.equal(plain.headers.get('content-encoding'), null);
    assert.ok(plain.text.length > 1_000_000 && plain.text.includes('createApiReference'));
    const compressed = await server.send('/docs/scalar.js', { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(compressed.headers.get('content-encoding'), 'gzip');
    assert.ok(Number(compressed.headers.get('content-length')) < plain.text.length / 2);
    assert.equal(compressed.text, plain.text);
  });

  test('shows the routes in a browser that keeps to the policy', { skip: browser.skip }, async () => {
    const { page, complaints } = await browser.open({ baseUrl: server.url });
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(server.url) && !/^(data|blob):/.test(request.url()))
        elsewhere.push(request.url());
    });
    await page.goto('/docs/try');
    await page.getByText('Read every note').first().waitFor();
    assert.deepEqual([elsewhere, complaints], [[], []]);
  });

  test('is accessible in light and dark, and follows the theme of the pages', {
    skip: browser.skip,
  }, async () => {
    for (const [widthPx, colorScheme] of [
      [1280, 'light'],
      [390, 'dark'],
    ] as const) {
      const { page, barriers } = await browser.open({ baseUrl: server.url, widthPx, colorScheme });
      await page.goto('/docs/try');
      await page.locator('.scalar-code-copy[aria-label]').first().waitFor({ state: 'attached' });
      assert.deepEqual(await barriers(), []);
      if (colorScheme === 'dark') continue;
      await page.context().addCookies([{ name: 'octavo_theme', value: 'dark', url: server.url }]);
      await page.reload();
      await page.locator('body.dark-mode').waitFor();
    }
  });

  test('leads back to the pages, if there are any', async () => {
    assert.doesNotMatch((await server.send('/docs')).text, /<header[^>]*><a href="\/">/);
    await using site = await startTestServer((app) => {
      app.get('/', { access: 'public' }, async () => 'home');
    });
    assert.match((await site.send('/docs')).text, /<header class="home"><a href="\/">/);
  });
});
