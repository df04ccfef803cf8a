import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { PageClient } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import { startService, type TestService } from '../testing.ts';

const browser = testBrowser();
const world = { databaseUrl: undefined };

/** Starts the service with a worker and without a mail server. */
function start(t: TestContext): Promise<TestService> {
  return startService(t, world, { environment: { PASSWORDLESS_WORKER: 'on' } });
}

/** Waits for this many mails, and returns the path of the newest one's page. */
async function newestMail(client: PageClient, count: number): Promise<string> {
  for (let tries = 0; tries < 200; tries++) {
    const { html } = await client.open('/mails');
    const paths = [...html.matchAll(/href="(\/mails\/[^"]+)"/g)].map(([, path = '']) => path);
    if (paths.length === count) return paths[0] ?? '';
    await delay(20);
  }
  throw new Error(`there are not ${count} mails`);
}

describe('without a mail server', () => {
  test('signing in works on the pages alone', async (t) => {
    const service = await start(t);
    const client = new PageClient(service.url);
    await client.open('/');
    assert.match((await client.open('/mails')).html, /No mails yet/);
    await client.open('/');
    const { html: asked } = await client.send('/sign-in', { email: 'bob@example.com' });
    assert.match(asked, /href="\/mails"/);
    const path = await newestMail(client, 1);
    const { status, html } = await client.open(path);
    assert.equal(status, 200);
    assert.match(html, /Sign in to Octavo/);
    assert.match(html, /bob@example\.com/);
    const [, href = ''] = /href="(http:\/\/localhost:3003\/verify\/magic\?token=[^"]+)"/.exec(html) ?? [];
    const { search } = new URL(href.replaceAll('&amp;', '&'));
    assert.equal((await service.get(`/verify/magic${search}`)).status, 200);
  });

  test('mails are listed newest first', async (t) => {
    const service = await start(t);
    const client = new PageClient(service.url);
    await service.post('/request/magic', { email: 'first@example.com' });
    await newestMail(client, 1);
    await service.post('/request/magic', { email: 'second@example.com' });
    assert.match((await client.open(await newestMail(client, 2))).html, /second@example\.com/);
  });

  test('an unknown mail, or a file elsewhere, is not found', async (t) => {
    const service = await start(t);
    const client = new PageClient(service.url);
    for (const id of [
      'no@where',
      '..%2Fpasswordless.secret',
      '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
      'x',
      '.%2Fa@b',
    ]) {
      assert.equal((await client.open(`/mails/${id}`)).status, 404, id);
    }
  });
});

test('the pages exist only under a loopback name', async (t) => {
  const service = await start(t);
  await service.post('/request/magic', { email: 'bob@example.com' });
  const path = await newestMail(new PageClient(service.url), 1);
  const { port } = new URL(service.url);
  const statusAt = async (place: string, host: string) => {
    const sent = request(`${service.url}${place}`, { headers: { host } }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response.resume().statusCode;
  };
  for (const place of ['/mails', path]) {
    for (const host of [`localhost:${port}`, 'localhost', `127.0.0.1:${port}`, `[::1]:${port}`])
      assert.equal(await statusAt(place, host), 200, host);
    const others = [
      'evil.example',
      `evil.example:${port}`,
      'localhost.evil.example',
      '127.0.0.1.evil.example',
    ];
    for (const host of [...others, '192.0.2.1', 'user@localhost', 'evil.example#localhost'])
      assert.notEqual(await statusAt(place, host), 200, host);
  }
});

test('the pages do not exist where mails are sent, on other addresses, or in production', async (t) => {
  const sending = { PASSWORDLESS_SMTP_HOST: '127.0.0.1' };
  const services = [
    await startService(t, world, { environment: sending }),
    await startService(t, world, { host: '0.0.0.0' }),
    await startService(t, world, { nodeEnv: 'production' }),
    await startService(t, world, {
      environment: { PASSWORDLESS_MAIL_FOLDER: '/tmp' },
      nodeEnv: 'production',
    }),
  ];
  for (const { url } of services) {
    const client = new PageClient(url);
    assert.equal((await client.open('/mails')).status, 404);
    assert.ok(!(await client.open('/')).html.includes('/mails'));
  }
});

describe('the mails in a browser', { skip: browser.skip }, () => {
  for (const [widthPx, colorScheme] of [
    [1280, 'light'],
    [390, 'dark'],
  ] as const) {
    test(`have no accessibility problems, ${widthPx} px, ${colorScheme}`, async (t) => {
      const service = await start(t);
      const client = new PageClient(service.url);
      const tab = await browser.open({ widthPx, colorScheme, baseUrl: service.url });
      await tab.page.goto('/mails');
      assert.deepEqual(await tab.barriers(), []);
      await service.post('/request/magic', { email: 'bob@example.com' });
      await newestMail(client, 1);
      await tab.page.goto('/mails');
      assert.deepEqual(await tab.barriers(), []);
      await tab.page.getByRole('link', { name: 'Sign in to Octavo' }).click();
      await tab.page.getByRole('heading', { name: 'Sign in to Octavo' }).waitFor();
      assert.deepEqual(await tab.barriers(), []);
      assert.deepEqual(tab.complaints, []);
    });
  }
});
