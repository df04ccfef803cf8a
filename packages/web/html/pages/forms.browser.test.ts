import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '@octavo/core';
import { PageClient, until } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import { startTestServer, type TestServer } from '../../http/testing.ts';
import { html } from '../html.ts';
import { layout } from '../layout.ts';
import { loadAssets } from './assets.ts';
import { servePages } from './pages.ts';

const browser = testBrowser();
const token = 'a-token-of-alice';

let server: TestServer;
let sent = 0;
let held = Promise.withResolvers<void>();
before(async () => {
  server = await startTestServer((app) => {
    const note = { access: 'public', schema: { security: [{ bearer: [] }] } } as const;
    app.get('/api/notes', note, async () => []);
    servePages<{ name: string }>(
      app,
      {
        name: 'forms',
        secret: 'a secret of more than thirty-two bytes',
        sessionSeconds: 3600,
        clock: systemClock,
        assets: loadAssets(),
        apiToken: async ({ who }) => (who ? token : undefined),
        errorPage: (_visit, error) => error.message,
      },
      (routes) => {
        routes.get('/', { access: 'public' }, async (visit) => {
          const frame = visit.frame();
          const form = (action: string) =>
            html`<form method="post" action="/${action}">${frame.csrfField}<button>${action}</button></form>`;
          const main = html`${form('save')}${form('file')}<form action="/found"><input name="q"><button>Search</button></form>`;
          return layout({ ...frame, service: 'Forms', navigation: [] }, { title: 'Forms', main });
        });
        routes.post('/sign-in', { access: 'public' }, async (visit) => {
          visit.signIn({ name: 'alice' });
          return visit.redirect('/');
        });
        routes.get('/found', { access: 'public' }, async (visit) => {
          sent++;
          await held.promise;
          const { q } = visit.request.query as { q: string };
          return layout({ ...visit.frame(), service: 'Forms', navigation: [] }, { title: q, main: '' });
        });
        routes.post('/save', { access: 'public' }, async (visit) => {
          sent++;
          await held.promise;
          return visit.redirect('/');
        });
        routes.post('/file', { access: 'public' }, async ({ reply }) => {
          sent++;
          await held.promise;
          return reply.header('content-disposition', 'attachment; filename="a.csv"').send('a,b');
        });
      },
    );
  });
});
after(() => server[Symbol.asyncDispose]());

/** A script that presses a button twice; resolves with its width before and while it shows that the form is on its way. */
function pressTwice(action: string): string {
  return `new Promise((resolve) => {
    const button = document.querySelector('form[action="/${action}"] button');
    const before = button.offsetWidth;
    const observer = new MutationObserver(() => {
      observer.disconnect();
      resolve([before, button.getAttribute('aria-busy') === 'true' ? button.offsetWidth : 0]);
    });
    observer.observe(button, { attributeFilter: ['aria-busy'] });
    button.click();
    button.click();
  })`;
}

/** A script that searches for a word, and for another one as soon as the button is busy. */
const searchTwice = `new Promise((resolve) => {
  const form = document.querySelector('form[action="/found"]');
  const button = form.querySelector('button');
  form.q.value = 'first';
  new MutationObserver((_, observer) => {
    observer.disconnect();
    form.q.value = 'second';
    button.click();
    resolve();
  }).observe(button, { attributeFilter: ['aria-busy'] });
  button.click();
})`;

describe('a form on its way', { skip: browser.skip }, () => {
  test('shows it on its button, which keeps its width and works once', async () => {
    const { page, complaints } = await browser.open({ baseUrl: server.url });
    await page.goto('/');
    [sent, held] = [0, Promise.withResolvers<void>()];
    const [before, during] = (await page.evaluate(pressTwice('save'))) as [number, number];
    assert.equal(during, before);
    const loaded = page.waitForEvent('load');
    held.resolve();
    await loaded;
    assert.equal(await page.locator('[aria-busy]').count(), 0);
    assert.deepEqual([sent, complaints], [1, []]);
  });

  test('that searches shows it too, and may be sent again with another word', async () => {
    const { page, complaints } = await browser.open({ baseUrl: server.url });
    await page.goto('/');
    [sent, held] = [0, Promise.withResolvers<void>()];
    await page.evaluate(searchTwice);
    await until(async () => sent === 2);
    held.resolve();
    await page.getByRole('heading', { name: 'second' }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('is ready again when its answer was a file', async () => {
    const { page } = await browser.open({ baseUrl: server.url });
    await page.goto('/');
    for (const times of [1, 2]) {
      [sent, held] = [times - 1, Promise.withResolvers<void>()];
      const download = page.waitForEvent('download');
      await page.evaluate(pressTwice('file'));
      held.resolve();
      assert.equal((await download).suggestedFilename(), 'a.csv');
      await page.locator('html:not([data-waiting]):not(:has([aria-busy]))').waitFor({ state: 'attached' });
      assert.equal(sent, times);
    }
    assert.doesNotMatch((await page.context().cookies()).map(({ name }) => name).join(), /octavo_file/);
  });
});

describe('the token for /docs', () => {
  test('is for the scripts of this site, and for who is signed in', async () => {
    const alice = new PageClient(server.url);
    const asScript = { headers: { accept: 'application/json' } };
    assert.equal((await alice.open('/docs/token', asScript)).html, '{"token":null}');
    await alice.open('/');
    await alice.send('/sign-in', {});
    const { status, html: body, headers } = await alice.open('/docs/token', asScript);
    assert.deepEqual([status, body], [200, `{"token":"${token}"}`]);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('access-control-allow-origin'), null);
    for (const site of ['cross-site', 'same-site', 'none']) {
      const refused = await alice.open('/docs/token', { headers: { 'sec-fetch-site': site } });
      assert.equal(refused.status, 403, site);
      assert.doesNotMatch(refused.html, new RegExp(token));
    }
  });

  test('is filled in', { skip: browser.skip }, async () => {
    const { page, complaints } = await browser.open({ baseUrl: server.url });
    await page.goto('/');
    const signedIn = page.waitForEvent('load');
    await page.evaluate(`const form = document.querySelector('form');
      form.action = '/sign-in';
      form.requestSubmit();`);
    await signedIn;
    await page.goto('/docs/try');
    await page.locator(`input[value="${token}"], :text("${token}")`).first().waitFor({ state: 'attached' });
    assert.deepEqual(complaints, []);
  });
});
