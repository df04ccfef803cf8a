import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { Registry } from 'prom-client';
import { systemClock } from '#kit/clock.ts';
import { type Environment, readConfig } from '#kit/config.ts';
import { silentLog } from '#kit/log.ts';
import type { ServiceContext } from '#kit/service.ts';
import { testBrowser } from '#kit/testing/browser.ts';
import { portal } from './service.ts';
import type { Site } from './sites.ts';

const browser = testBrowser();
const signIns = [{ username: 'editor', password: 'a<b & "c"', role: 'editor', service: 'good' }];

function start(sites: readonly Site[], context: Partial<ServiceContext> = {}, environment: Environment = {}) {
  return portal.start(
    readConfig(portal.settings, environment),
    {
      log: silentLog,
      clock: systemClock,
      dataFolder: '/tmp',
      environment: 'development',
      metrics: new Registry(),
      host: '127.0.0.1',
      port: 0,
      ...context,
    },
    { sites: async () => sites, demoSignIns: async () => signIns, seedable: ['good', 'other'] },
  );
}

/** A service whose readiness has a status, or never responds. */
async function startSite(name: string, status: number | undefined) {
  const server = createServer((request, response) => {
    if (status === undefined) return;
    response.writeHead(request.url === '/readiness' ? status : 404).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    site: { name, summary: `Does what ${name} does`, url },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const pageOf = async (url = '') => (await fetch(url)).text();

describe('the portal', () => {
  test('lists the running services with address and state, and leaves itself out', async () => {
    await using good = await startSite('good', 200);
    await using bad = await startSite('bad', 503);
    const gone = { name: 'gone', summary: 'Does nothing', url: 'http://127.0.0.1:1' };
    const self = { name: 'portal', summary: 'This', url: 'http://127.0.0.1:2' };
    await using running = await start([self, good.site, bad.site, gone]);
    const html = await pageOf(running.url);
    assert.match(html, /1 of 3 ready/);
    for (const { name, summary, url } of [good.site, bad.site, gone]) {
      assert.ok(html.includes(`<a href="${url}">${name}</a><div>${summary}</div>`), name);
    }
    assert.match(html, /good[\s\S]*>ready<[\s\S]*bad[\s\S]*>not ready<[\s\S]*gone[\s\S]*>no response</);
    assert.doesNotMatch(html, />portal</);
  });

  test('does not wait long for a service that does not respond', async () => {
    await using slow = await startSite('slow', undefined);
    await using running = await start([slow.site]);
    const startedMs = performance.now();
    assert.match(await pageOf(running.url), /0 of 1 ready[\s\S]*no response/);
    assert.ok(performance.now() - startedMs < 2_000);
  });

  test('shows demo sign-ins only on loopback outside production', async () => {
    await using open = await start([]);
    assert.match(await pageOf(open.url), /Demo sign-ins[\s\S]*a&lt;b &amp; &quot;c&quot;/);
    await using production = await start([], { environment: 'production' });
    assert.doesNotMatch(await pageOf(production.url), /Demo sign-ins|a&lt;b/);
    await using everywhere = await start([], { host: '0.0.0.0' });
    assert.doesNotMatch(await pageOf(everywhere.url), /Demo sign-ins|a&lt;b/);
  });

  test('lists the services of PORTAL_SITES instead, wherever they run', async () => {
    await using own = await startSite('own', 200);
    await using elsewhere = await startSite('elsewhere', 200);
    const PORTAL_SITES = `posts=${elsewhere.site.url}/, gone=http://127.0.0.1:1`;
    await using running = await start([own.site], {}, { PORTAL_SITES });
    const html = await pageOf(running.url);
    assert.match(html, /1 of 2 ready[\s\S]*>posts<[\s\S]*>ready<[\s\S]*>gone<[\s\S]*>no response</);
    assert.ok(html.includes(`<a href="${elsewhere.site.url}">posts</a></`), html);
    assert.doesNotMatch(html, />own</);
  });

  test('says which service a sign-in is for, how to get into the others, and what to do next', async () => {
    await using good = await startSite('good', 200);
    const signIn = 'anybody can register there';
    const other = { name: 'plain', summary: '', url: 'http://127.0.0.1:1', signIn };
    await using running = await start([good.site, other]);
    const html = await pageOf(running.url);
    assert.match(html, /<div>Sign-in: anybody can register there<\/div>/);
    assert.ok(html.includes(`data-label="For"><a href="${good.site.url}">good</a>`), html);
    assert.match(
      html,
      /data-keep="a&lt;b &amp; &quot;c&quot;"[\s\S]*aria-label="Copy the password of editor"/,
    );
    assert.match(html, /data-keep="editor"[\s\S]*aria-label="Copy the user name editor"/);
    assert.match(html, /What to do next[\s\S]*Fill good with demo data[\s\S]*data-keep="npx octavo seed"/);
    await using production = await start([good.site], { environment: 'production' });
    assert.doesNotMatch(await pageOf(production.url), /What to do next|data-keep/);
  });

  test('refuses services without a name or an address', () => {
    for (const PORTAL_SITES of [
      'https://a.example',
      'a=b.example',
      'a=javascript:alert(1)',
      'a=https://user:secret@a.example',
      'a=https://a.example,',
      'a=https://a.example,a=https://b.example',
    ]) {
      const refused = { reason: 'CONFIG', message: /^PORTAL_SITES must be/ };
      assert.throws(() => readConfig(portal.settings, { PORTAL_SITES }), refused, PORTAL_SITES);
    }
  });

  test('says what to do if nothing else runs', async () => {
    await using running = await start([]);
    assert.match(await pageOf(running.url), /No other services are running[\s\S]*octavo up/);
  });

  test('is accessible in light and dark, on phones and desktops', { skip: browser.skip }, async () => {
    await using good = await startSite('good', 200);
    await using running = await start([good.site]);
    for (const [widthPx, colorScheme] of [
      [390, 'dark'],
      [1280, 'light'],
    ] as const) {
      const { page, barriers, complaints } = await browser.open({ widthPx, colorScheme });
      await page.goto(running.url ?? '');
      assert.deepEqual(await barriers(), []);
      assert.deepEqual(complaints, []);
    }
  });
});
