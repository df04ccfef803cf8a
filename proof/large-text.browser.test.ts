import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { testFolder } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import { seeds, startSystem, topology, upNames } from '../apps/octavo/index.ts';
import type { System } from '../apps/octavo/system.ts';

/** "Very large" in the settings of a browser, and text of 200 % (WCAG 2.2, 1.4.4). */
const fontsPx = [24, 32] as const;
const sites = topology.flatMap(({ name, site }) => (site ? [{ name, ...site }] : []));
const pagesMax = 10;

let system: System;
before(async () => {
  const environment = { NODE_ENV: 'test', OCTAVO_DATA: testFolder('large-text'), ARGON2_MEMORY_KIB: '8' };
  for (const seed of Object.values(seeds))
    await seed(environment, { count: 30, isForced: false, onProgress: () => {} });
  const names = upNames();
  const ports = Object.fromEntries(names.map((name) => [name, 0]));
  system = await startSystem(names, { environment, ports, log: silentLog, hasOneSignIn: true });
});
after(() => system?.[Symbol.asyncDispose]());

/** Problems of a page: it scrolls sideways, a column has no width, or a control is lower than its text. */
const lookAt = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const problems = scrollWidth > clientWidth ? ['wider than the window by ' + (scrollWidth - clientWidth) + ' px'] : [];
  for (const each of document.querySelectorAll('.table tbody .main'))
    if (each.checkVisibility() && each.offsetWidth < 60) problems.push('a column of ' + each.offsetWidth + ' px');
  for (const each of document.querySelectorAll('select, input:not([type=checkbox], [type=radio], [type=hidden], [type=file])'))
    if (each.checkVisibility() && each.clientHeight < 1.2 * parseFloat(getComputedStyle(each).fontSize))
      problems.push(each.name + ' is ' + each.clientHeight + ' px high');
  return [...new Set(problems)];
})()`;

/** Addresses on the same service, those of the menu first, one for each kind of page. */
const linksHere = `[...document.querySelectorAll('nav a, main a')].map(({ href }) => href)
  .filter((href) => href.startsWith(location.origin + '/') && !/\\/(docs|assets|icon|sign-in|openapi)|\\.(csv|png|svg|xml|txt|json)|format=|download|content/.test(href))`;

const browser = testBrowser();
for (const fontPx of fontsPx) {
  describe(`with text of ${fontPx} px`, { skip: browser.skip }, () => {
    for (const { name, title } of sites) {
      test(`pages of ${title} fit`, async () => {
        const { page } = await browser.open({ fontPx });
        const base = system.sites().find((site) => site.name === name)?.url as string;
        await page.goto(system.signIn?.demoAddress('administrator', `${base}/`) ?? '');
        if (sites.find((site) => site.name === name)?.isApplication)
          await page.goto(`${base}/sign-in/oidc?next=/`);
        await page.waitForURL(`${base}/**`);
        const waiting = [`${base}/`, `${base}/nothing-here`, `${base}/admin/`];
        const seen = new Set<string>();
        const problems: string[] = [];
        while (seen.size < pagesMax) {
          const url = waiting.shift();
          if (url === undefined) break;
          const kind = new URL(url).pathname.replace(/\/[\w.-]*\d[\w.-]*/g, '/1');
          if (seen.has(kind)) continue;
          seen.add(kind);
          await page.goto(url);
          for (const problem of (await page.evaluate(lookAt)) as string[])
            problems.push(`${url}: ${problem}`);
          waiting.push(...((await page.evaluate(linksHere)) as string[]));
        }
        assert.deepEqual(problems, []);
        assert.ok(seen.size > 1, [...seen].join(' '));
      });
    }
  });
}
