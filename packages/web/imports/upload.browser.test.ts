import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '@octavo/core';
import { testBrowser } from '@octavo/testing/browser';
import { layout } from '../html/layout.ts';
import { loadAssets } from '../html/pages/assets.ts';
import { csrfFieldName } from '../html/pages/csrf.ts';
import { servePages } from '../html/pages/pages.ts';
import type { Visit } from '../html/pages/visit.ts';
import { startTestServer, type TestServer } from '../http/testing.ts';
import { receiveUpload } from './upload.ts';
import { fileForm } from './views.ts';

const browser = testBrowser();
const bytesMax = 1024 * 1024;
const good = Buffer.alloc(500_000, 'good,file\n');
const bad = Buffer.alloc(500_000, 'bad,file\n');

let server: TestServer;
before(async () => {
  server = await startTestServer((app) => {
    servePages<{ name: string }>(
      app,
      {
        name: 'uploads',
        secret: 'a secret of more than thirty-two bytes',
        sessionSeconds: 3600,
        clock: systemClock,
        assets: loadAssets(),
        errorPage: (_visit, error) => error.message,
      },
      (routes) => {
        routes.get('/', { access: 'public' }, async (visit) => page(visit));
        routes.get('/preview', { access: 'public' }, async (visit) => page(visit, 'Preview'));
        const form = { access: 'public', accepts: 'multipart/form-data', bodyBytesMax: bytesMax } as const;
        routes.post('/', form, async (visit) => {
          const { file } = await receiveUpload(visit.request, {
            bytesMax,
            onFile: (fields) => visit.checkToken(fields[csrfFieldName]),
            keep: async (chunks) => Buffer.concat(await Array.fromAsync(chunks)),
          });
          if (file?.equals(good)) return visit.redirect('/preview');
          visit.reply.code(422);
          return page(visit, 'Wrong', 'No row is good.');
        });
      },
    );
  });
});
after(() => server[Symbol.asyncDispose]());

function page(visit: Visit<{ name: string }>, title = 'Upload', error?: string): string {
  const frame = visit.frame();
  const { csrfField } = frame;
  return layout(
    { ...frame, service: 'Uploads', navigation: [] },
    {
      title,
      modules: ['imports.js'],
      main: fileForm({ action: '/', csrfField, label: 'File', help: '', accept: '.csv', bytesMax, error }),
    },
  );
}

describe('a file on its way', { skip: browser.skip }, () => {
  test('shows how much of it was sent, then the page that answers it', async () => {
    const { page, complaints, barriers } = await browser.open({ baseUrl: server.url });
    await page.goto('/');
    const session = await page.context().newCDPSession(page);
    const network = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 200_000 };
    await session.send('Network.emulateNetworkConditions', network);
    const detail = page.locator('[data-uploading]:not([hidden]) [data-progress-detail]');
    const send = async (buffer: Buffer) => {
      await page.locator('input[type="file"]').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
      await page.getByRole('button', { name: 'Continue' }).click();
      await detail.filter({ hasText: /^[1-9]\d?%$/ }).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Continue' }).isDisabled(), true);
    };
    await send(bad);
    await page.getByText('No row is good.').waitFor();
    assert.equal(await page.title(), 'Wrong · Uploads');
    assert.deepEqual(await barriers(), []);
    await send(good);
    await page.waitForURL('/preview');
    assert.deepEqual(
      complaints.filter((complaint) => !complaint.includes('422')),
      [],
    );
  });

  test('that is too large is not sent, and another one is', async () => {
    const { page } = await browser.open({ baseUrl: server.url });
    await page.goto('/');
    const choose = (buffer: Buffer) =>
      page.locator('input[type="file"]').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
    await choose(Buffer.alloc(bytesMax + 1, 'x'));
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('The file must be at most 1 MB.').waitFor();
    await choose(good);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL('/preview');
  });

  test('that could not be sent says so, and is sent when one tries again', async () => {
    const { page } = await browser.open({ baseUrl: server.url });
    await page.goto('/');
    await page
      .locator('input[type="file"]')
      .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: good });
    await page.route('/', (route) => route.abort(), { times: 1 });
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('The file could not be sent.').waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL('/preview');
  });
});
