import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { testFolder } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import { startSystem, topology, upNames } from '../apps/octavo/index.ts';
import { System } from '../apps/octavo/system.ts';

const browser = testBrowser();
const sites = topology.flatMap(({ name, site }) => (site ? [{ name, ...site }] : []));

let system: System;
let urls: ReadonlyMap<string, string>;
before(async () => {
  const names = upNames();
  system = await startSystem(names, {
    environment: { OCTAVO_DATA: testFolder('suite'), POSTSVC_ADDR: '', AUTHSVC_ADDR: '' },
    ports: Object.fromEntries(names.map((name) => [name, 0])),
    log: silentLog,
  });
  urls = new Map(system.sites().map(({ name, url }) => [name, url]));
});
after(() => system?.[Symbol.asyncDispose]());

async function textOf(url: string): Promise<string> {
  const response = await fetch(url, { headers: { accept: 'text/html' } });
  return response.text();
}

/** Addresses of pages that strangers reach from a page, on the same service. */
function linksOn(html: string, base: string): string[] {
  const own = [...html.matchAll(/ href="(\/[^"#]*)"/g)].map(([, path = '']) => path.replaceAll('&amp;', '&'));
  return own
    .filter((path) => !/^\/(assets|docs\/|openapi|icon|.*\.(csv|svg|png|xml|txt))/.test(path))
    .map((path) => new URL(path, base).href);
}

describe('the suite', () => {
  test('lists every service, the portal first, and each has a mark and a name of its own', () => {
    assert.deepEqual(
      [...urls.keys()],
      sites.map(({ name }) => name),
    );
    for (const key of ['title', 'summary'] as const)
      assert.equal(new Set(sites.map((site) => site[key])).size, sites.length, key);
    for (const key of ['icon', 'accent'] as const)
      assert.equal(new Set(sites.map(({ mark }) => mark[key])).size, sites.length, key);
  });

  for (const { name, title } of sites) {
    test(`${title}: every page has the menu of services, its name and a way back`, async () => {
      const base = urls.get(name) as string;
      const seen = new Set<string>();
      const waiting = [
        `${base}/`,
        `${base}/nothing-here`,
        `${base}/docs`,
        `${base}/sign-in`,
        `${base}/admin/`,
        `${base}/api/graphql`,
      ];
      while (seen.size < 40) {
        const url = waiting.shift();
        if (url === undefined) break;
        const key = url.replace(/\?.*/, '');
        if (seen.has(key)) continue;
        const html = await textOf(url);
        if (!html.startsWith('<!doctype html>')) continue;
        seen.add(key);
        assert.match(html, new RegExp(`<title>(.*· )?${title}( .*)?</title>`), url);
        const [, menu = ''] = /<details class="menu suite">([\s\S]*?)<\/details>/.exec(html) ?? [];
        for (const site of sites) {
          const current = site.name === name ? ' aria-current="true"' : '';
          const link = `<a href="${urls.get(site.name)}/"${current}>`;
          assert.ok(menu.includes(link) && menu.includes(`</svg><span>${site.title}<`), `${url}: ${link}`);
        }
        assert.match(html, /<link rel="icon" href="\/icon\.svg">/, url);
        waiting.push(...linksOn(html, url));
      }
      assert.ok(seen.size >= 2, [...seen].join(' '));
      const document = await (await fetch(`${base}/openapi.json`)).text();
      assert.equal(JSON.parse(document).info.title, title);
      const icon = await fetch(`${base}/icon.svg`);
      assert.match(await icon.text(), /^<svg /);
      assert.equal(icon.headers.get('content-type'), 'image/svg+xml');
    });
  }

  test('is reached by keyboard, with and without JavaScript', { skip: browser.skip }, async () => {
    for (const javaScript of [true, false]) {
      const { page } = await browser.open({ widthPx: 390, javaScript });
      await page.goto(`${urls.get('polls')}/`);
      const button = page.locator('details.suite > summary');
      await button.focus();
      await page.keyboard.press('Enter');
      const link = page.getByRole('link', { name: 'Quotes', exact: true });
      await link.waitFor({ state: 'visible' });
      await link.focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(`${urls.get('quotes')}/`);
    }
  });
});

test('SUITE_SITES names the services that run elsewhere, by its former name too', () => {
  for (const setting of ['SUITE_SITES', 'PORTAL_SITES']) {
    const environment = { [setting]: 'gateway=https://posts.example/,wiki=https://wiki.example' };
    const [posts, wiki] = new System(topology, { environment }).sites();
    assert.deepEqual([posts?.title, posts?.url], ['Posts', 'https://posts.example']);
    assert.deepEqual([wiki?.title, wiki?.url], ['wiki', 'https://wiki.example']);
  }
});

test('SUITE_SITES without a name or an address is refused', () => {
  for (const SUITE_SITES of [
    'https://a.example',
    'a=b.example',
    'a=javascript:alert(1)',
    'a=https://user:secret@a.example',
    'a=https://a.example,',
    'a=https://a.example,a=https://b.example',
  ]) {
    const refused = { reason: 'CONFIG', message: /^SUITE_SITES must be/ };
    assert.throws(() => new System(topology, { environment: { SUITE_SITES } }).sites(), refused, SUITE_SITES);
  }
});
