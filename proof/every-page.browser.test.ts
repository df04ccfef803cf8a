import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { testFolder } from '@octavo/testing';
import { type Tab, testBrowser } from '@octavo/testing/browser';
import type { FastifyInstance } from 'fastify';
import { seeds, startSystem, topology, upNames } from '../apps/octavo/index.ts';
import type { System } from '../apps/octavo/system.ts';

/** "Very large" in the settings of a browser, and text of 200 % (WCAG 2.2, 1.4.4). */
const fontsPx = [24, 32] as const;
/** Of the text of a page, compressed. */
const bytesMax = 50_000;
const sites = topology.flatMap(({ name, site }) => (site ? [{ name, ...site }] : []));

/** Routes without a page: files, and steps of a protocol. */
const noPage =
  /^\/(api|oidc|docs|demo-sign-in|sign-in\/oidc|\.well-known)(\/|$)|\.\w+$|stream$|(export|csv)$|^\/ws$/;

/**
 * Pages that no link leads to in the seeded data. They follow from a form, a mail, an import or an account of the service itself, and the
 * browser tests of their service look at them: redirects and results of forms, and what is only there for a moment.
 */
const unlinked: Readonly<Record<string, RegExp>> = {
  portal: /^\/(mails\/:service\/:id|requests)$/,
  gateway: /^\/(sign-in|posts\/(delete|import\/.*)|exports\/.*|users\/:uid\/.*|account\/.*)$/,
  tokens: /^\/(sign-in|refresh|sessions\/.*|password|email.*|delete|reset-password|verify-email|mails.*)$/,
  passwordless:
    /^\/(account\/.*|sign-in\/(link|code)|setup\/:ticket|mails\/:id|admin\/:app\/:model\/(import|:id\/delete))$/,
  polls: /^\/(polls\/(mine\/:id|manage\/:token)(\/delete)?|polls\/:id\/(vote|embed))?$/,
  // The list of the admin that is looked at has the open reports, which no file adds.
  quotes: /^\/(quotes\/:id\/(like|comments.*)|search|accounts\/logout|admin\/:app\/:model\/import)$/,
  budgets:
    /^\/(verify-email|offline|budgets\/:id\/members.*|rules\/sort|expenses\/(new|amount)|tasks\/.*|import\/:id|admin.*)$/,
  chat: /^\/(chats.*|shared\/:id)$/,
  portfolio: /^\/import\/:id$/,
};
/** Redirects, and answers to scripts, of every admin. */
const unlinkedAdmin = /^\/admin\/(setup|search|:app|:app\/:model\/(choices|:id|:id\/(picked|:form)))$/;

const apps: FastifyInstance[] = [];
/** Routes of pages by server, and those of them that were looked at. */
const routes = new Map<FastifyInstance, Routes>();

interface Routes {
  readonly all: Set<string>;
  readonly pages: Set<string>;
  readonly seen: Set<string>;
}

subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  apps.push(fastify);
  const [all, pages, seen] = [new Set<string>(), new Set<string>(), new Set<string>()];
  routes.set(fastify, { all, pages, seen });
  fastify.addHook('onRoute', ({ method, url, schema }) => {
    if (method === 'GET') all.add(url);
    if (method === 'GET' && (schema as { hide?: boolean } | undefined)?.hide) pages.add(url);
  });
  fastify.addHook('onResponse', async ({ method, routeOptions }, reply) => {
    const isPage = String(reply.getHeader('content-type')).startsWith('text/html');
    if (method !== 'GET' || !routeOptions.url) return;
    if (isPage && reply.statusCode === 200) seen.add(routeOptions.url);
    if (!isPage && reply.statusCode < 400) pages.delete(routeOptions.url);
  });
});

let system: System;
before(async () => {
  const environment = { NODE_ENV: 'test', OCTAVO_DATA: testFolder('every-page'), ARGON2_MEMORY_KIB: '8' };
  for (const seed of Object.values(seeds))
    await seed(environment, { count: 30, isForced: false, onProgress: () => {} });
  const names = upNames();
  const ports = Object.fromEntries(names.map((name) => [name, 0]));
  system = await startSystem(names, { environment, ports, log: silentLog, hasOneSignIn: true });
});
after(() => system?.[Symbol.asyncDispose]());

/** Problems of the layout: it scrolls sideways, a column has no width, or a control is lower than its text. */
const layoutProblems = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const problems = scrollWidth > clientWidth ? ['wider than the window by ' + (scrollWidth - clientWidth) + ' px'] : [];
  for (const each of document.querySelectorAll('.table tbody .main'))
    if (each.checkVisibility() && each.offsetWidth < 60) problems.push('a column of ' + each.offsetWidth + ' px');
  for (const each of document.querySelectorAll('select, input:not([type=checkbox], [type=radio], [type=hidden], [type=file])'))
    if (each.checkVisibility() && each.clientHeight < 1.2 * parseFloat(getComputedStyle(each).fontSize))
      problems.push(each.name + ' is ' + each.clientHeight + ' px high');
  return [...new Set(problems)];
})()`;

/** Controls that look the same with the focus of the keyboard (WCAG 2.2, 2.4.7), one for each kind. */
const focusProblems = `(() => {
  const looks = (each) => {
    const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, backgroundColor, textDecorationLine } = getComputedStyle(each);
    return [outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, backgroundColor, textDecorationLine].join();
  };
  const first = document.activeElement;
  const problems = new Map();
  for (const each of document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]')) {
    if (!each.checkVisibility() || each.disabled || each === first) continue;
    const kind = each.tagName.toLowerCase() + [...each.classList].map((name) => '.' + name).join('') + (each.type ? '[type=' + each.type + ']' : '');
    if (problems.has(kind)) continue;
    const around = [each, each.parentElement, each.nextElementSibling].filter(Boolean);
    const before = around.map(looks).join();
    each.focus({ focusVisible: true, preventScroll: true });
    for (const each of document.getAnimations()) each.finish();
    if (document.activeElement === each && around.map(looks).join() === before)
      problems.set(kind, kind + ' shows no focus');
    each.blur();
  }
  first?.focus?.();
  return [...problems.values()];
})()`;

/** Addresses on the same service, those of the menu first. */
const linksHere = `[...document.querySelectorAll('nav a, main a, header a')].map((each) => new URL(each.getAttribute('href') ?? '', location).href)
  .filter((href) => href.startsWith(location.origin + '/') && !/\\/(assets|icon|openapi|docs\\/)|sign-out|logout|[./](csv|png|svg|xml|txt|json)(\\?|$)|format=|download|content/.test(href))`;

/** Everything that is wrong with the page, in light on a desktop, in dark on a phone, and with large text. */
async function problemsOf(
  { page, barriers }: Tab,
  setFont: (px: number) => Promise<unknown>,
): Promise<string[]> {
  const found = [...(await barriers()), ...((await page.evaluate(focusProblems)) as string[])];
  for (const px of fontsPx) {
    await setFont(px);
    const problems = (await page.evaluate(layoutProblems)) as string[];
    found.push(...problems.map((problem) => `with text of ${px} px: ${problem}`));
  }
  await setFont(16);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.emulateMedia({ colorScheme: 'dark' });
  // Colors change by degrees.
  await page.evaluate('for (const each of document.getAnimations()) each.finish()');
  found.push(...(await barriers()).map((problem) => `on a phone, dark: ${problem}`));
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}

/** Looks at a page of each route that links lead to, and returns their number. */
async function walk(tab: Tab, base: string): Promise<number> {
  const { page } = tab;
  const session = await page.context().newCDPSession(page);
  const setFont = (standard: number) => session.send('Page.setFontSizes', { fontSizes: { standard } });
  const routeOf = routesOf(base);
  const waiting = [`${base}/`, `${base}/nothing-here`, `${base}/admin/`, `${base}/docs`];
  const looked = new Set<string>();
  const problems: string[] = [];
  const pathnames: string[] = [];
  for (let url = waiting.shift(); url !== undefined; url = waiting.shift()) {
    if (looked.has(routeOf(url))) continue;
    const response = await page.goto(url);
    pathnames.push(new URL(page.url()).pathname);
    looked.add(routeOf(url));
    const isElsewhere = page.url() !== url && looked.has(routeOf(page.url()));
    if (isElsewhere || !page.url().startsWith(base)) continue;
    looked.add(routeOf(page.url()));
    await page.evaluate(
      `for (const each of document.querySelectorAll('main.document details')) each.open = true`,
    );
    problems.push(...(await problemsOf(tab, setFont)).map((problem) => `${url}: ${problem}`));
    const { responseBodySize = 0 } = (await response?.request().sizes()) ?? {};
    if (responseBodySize > bytesMax) problems.push(`${url} has ${responseBodySize} bytes`);
    waiting.push(...((await page.evaluate(linksHere)) as string[]));
  }
  // Pages that answer with a form of sign-in, or that there is none, say so by their status.
  const isOfPage = (complaint: string) => pathnames.some((pathname) => complaint.endsWith(` at ${pathname}`));
  problems.push(...tab.complaints.filter((complaint) => !isOfPage(complaint)));
  assert.deepEqual(problems, []);
  assert.ok(looked.size > 1);
  return looked.size;
}

/** Returns what finds the route of an address: of several, the one with the fewest parameters. */
function routesOf(base: string): (url: string) => string {
  const parameters = (route: string) => route.split(/[:*]/).length;
  const patterns = [...(routesAt(base)?.all ?? [])]
    .toSorted((one, other) => parameters(one) - parameters(other))
    .map((route) => ({
      route,
      pattern: new RegExp(
        `^${route
          .replaceAll(/[.]/g, '\\$&')
          .replaceAll(/:\w+(\([^)]*\))?/g, '[^/]+')
          .replace('*', '.*')}$`,
      ),
    }));
  return (url) => {
    const { pathname } = new URL(url);
    return patterns.find(({ pattern }) => pattern.test(pathname))?.route ?? 'none';
  };
}

function routesAt(base: string) {
  const { port } = new URL(base);
  const app = apps.find(({ server }) => String((server.address() as AddressInfo | null)?.port) === port);
  return app && routes.get(app);
}

const browser = testBrowser();
for (const who of ['stranger', 'administrator'] as const) {
  describe(`pages for a ${who}`, { skip: browser.skip }, () => {
    for (const { name, title, isApplication } of sites) {
      test(`of ${title} are accessible and fit`, async (t) => {
        const tab = await browser.open();
        const { page } = tab;
        const base = system.sites().find((site) => site.name === name)?.url as string;
        if (who === 'administrator') {
          await page.goto(system.signIn?.demoAddress('administrator', `${base}/`) ?? '');
          if (isApplication) await page.goto(`${base}/sign-in/oidc?next=/`);
          await page.waitForURL(`${base}/**`);
        }
        t.diagnostic(`${await walk(tab, base)} pages`);
      });
    }
  });
}

test('every page was looked at', { skip: browser.skip }, () => {
  for (const { name } of sites) {
    const base = system.sites().find((site) => site.name === name)?.url as string;
    const { pages = new Set<string>(), seen = new Set<string>() } = routesAt(base) ?? {};
    const without = (route: string) => route.replace(/(.)\/$/, '$1');
    const looked = new Set([...seen].map(without));
    const left = new Set([...pages].map(without).filter((route) => !looked.has(route)));
    const unexplained = [...left].filter(
      (route) => !noPage.test(route) && !unlinkedAdmin.test(route) && !unlinked[name]?.test(route),
    );
    assert.deepEqual(unexplained, [], `${name}: link to it, or say why no link can`);
  }
});
