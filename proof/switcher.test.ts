import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unescaped } from '@octavo/admin/testing';
import { silentLog } from '@octavo/core/log';
import { bearer, PageClient, type PageResponse, sendRequest, testFolder } from '@octavo/testing';
import { startSystem } from '../apps/octavo/index.ts';
import type { System } from '../apps/octavo/system.ts';

const names = [
  'portal',
  'gateway',
  'tokens',
  'passwordless',
  'polls',
  'quotes',
  'budgets',
  'chat',
  'portfolio',
];

type Role = 'reader' | 'editor' | 'administrator';

let system: System;
before(async () => {
  system = await startSystem(names, {
    environment: { NODE_ENV: 'test', OCTAVO_DATA: testFolder('switcher') },
    ports: Object.fromEntries(names.map((name) => [name, 0])),
    log: silentLog,
    hasOneSignIn: true,
  });
});
after(() => system?.[Symbol.asyncDispose]());

const urlOf = (name: string) => system.sites().find((site) => site.name === name)?.url as string;

test('administrators see what waits, in the menu of services and on the start page', async () => {
  const quote = { text: 'Ferries wait in fog.', author: 'A', category: 'Sea' };
  const { json } = await callQuotes('editor', '/api/quotes/', quote);
  assert.equal(
    (await callQuotes('reader', `/api/quotes/${json.id}/report/`, { reason: 'typo' })).status,
    201,
  );
  // The portal reads the numbers of all services once a minute, and for its first visitor.
  await new PageClient(urlOf('portal')).open('/');
  const seen = async (role: Role, name: string, path = '/') => {
    const { html } = await (await signedInAt(role, name)).open(`${urlOf(name)}${path}`);
    return [
      /Quotes<small>1 open report<\/small>/.test(html),
      /class="badge warn"[^>]*>1 open report</.test(html),
    ];
  };
  assert.deepEqual(await seen('administrator', 'quotes'), [true, true]);
  assert.deepEqual(await seen('administrator', 'quotes', '/quotes/'), [true, false]);
  for (const name of ['portfolio', 'gateway', 'passwordless', 'chat'])
    assert.deepEqual(await seen('administrator', name), [true, false], name);
  assert.deepEqual(await seen('administrator', 'portal'), [true, true]);
  for (const name of ['quotes', 'portal', 'gateway'])
    assert.deepEqual(await seen('reader', name), [false, false], name);
});

async function callQuotes(role: Role, path: string, body: object) {
  const token = await system.signIn?.demoToken(role, urlOf('quotes'));
  return sendRequest(`${urlOf('quotes')}${path}`, { headers: bearer(token ?? ''), body });
}

/** A browser that is signed in at a service. */
async function signedInAt(role: Role, name: string): Promise<PageClient> {
  const client = await signedIn(role);
  await walk(client, `${urlOf(name)}/sign-in/oidc?next=/`);
  return client;
}

test('the menu of services keeps the sign-in, from public pages too', async () => {
  const reader = await signedIn();
  for (const [from, path, to] of [
    ['passwordless', '/', 'portal'],
    ['portal', '/', 'quotes'],
    ['quotes', '/quotes/', 'budgets'],
    ['budgets', '/budgets', 'polls'],
    ['polls', '/polls/', 'chat'],
    ['chat', '/', 'portfolio'],
    ['portfolio', '/', 'gateway'],
  ] as const) {
    const links = await menuOf(reader, from, path);
    assert.equal(links.get('tokens'), `${urlOf('tokens')}/`, 'it has accounts of its own');
    const { url, page } = await walk(reader, links.get(to) ?? '');
    assert.ok(url.startsWith(`${urlOf(to)}/`), url);
    assert.equal(page.status, 200);
    // The list of polls is the same page for everybody.
    if (to !== 'polls') assert.match(page.html, /sign-out|data-sign-out/, to);
  }
  assert.equal((await reader.open(`${urlOf('polls')}/polls/new/`)).status, 200);
});

test('strangers have plain links, and are asked nothing where they follow a link made for another user', async () => {
  const stranger = new PageClient(urlOf('quotes'));
  const reader = await signedIn();
  for (const [name, path] of [
    ['polls', '/polls/'],
    ['quotes', '/'],
    ['portal', '/'],
  ] as const) {
    for (const href of (await menuOf(stranger, name, path)).values()) assert.match(href, /:\d+\/$/);
  }
  await walk(reader, (await menuOf(reader, 'passwordless', '/')).get('budgets') ?? '');
  const href = (await menuOf(reader, 'budgets', '/budgets')).get('quotes') ?? '';
  const { url, page } = await walk(stranger, href);
  assert.equal(url, `${urlOf('quotes')}/`);
  assert.match(page.html, /href="[^"]*login[^"]*">Sign in</);
  assert.doesNotMatch(page.html, /class="notice/);
});

test('who is signed in at a service stays who they are', async () => {
  const reader = await signedIn();
  const other = await signedIn('editor');
  const quotes = (await menuOf(other, 'passwordless', '/')).get('quotes') ?? '';
  assert.match((await walk(other, quotes)).page.html, />editor</);
  // As after another user signed in at the provider, which this service has not heard of yet.
  for (const [name, value] of other.cookies) if (name.startsWith('quotes')) reader.cookies.set(name, value);
  await walk(reader, (await menuOf(reader, 'passwordless', '/')).get('budgets') ?? '');
  const quietly = (await menuOf(reader, 'budgets', '/budgets')).get('quotes') ?? '';
  assert.match((await walk(reader, quietly)).page.html, />editor</);
});

/** A browser in which a demo account is signed in at the provider. */
async function signedIn(role: Role = 'reader'): Promise<PageClient> {
  const client = new PageClient(urlOf('passwordless'));
  const address = system.signIn?.demoAddress(role, `${urlOf('passwordless')}/`) ?? '';
  assert.match((await walk(client, address)).page.html, /Add a passkey/);
  return client;
}

/** Addresses of the menu of services on a page, by service. */
async function menuOf(client: PageClient, name: string, path: string): Promise<Map<string, string>> {
  const { html } = await client.open(`${urlOf(name)}${path}`);
  const [, menu = ''] = /<details class="menu suite">([\s\S]*?)<\/details>/.exec(html) ?? [];
  const links = [...menu.matchAll(/<a href="([^"]+)"/g)].map(([, href = '']) => unescaped(href));
  const pairs = names.map((each) => [each, links.find((href) => href.startsWith(`${urlOf(each)}/`)) ?? '']);
  return new Map(pairs as [string, string][]);
}

/** Follows redirects, also those of `refresh`, as a browser does; cookies count at all ports of a host. */
async function walk(client: PageClient, address: string): Promise<{ url: string; page: PageResponse }> {
  let url = address;
  for (let hops = 0; hops < 15; hops++) {
    const page = await client.open(url);
    // Else the browser asks for /favicon.ico.
    if (page.status === 200) assert.match(page.html, /<link rel="icon"/, url);
    const refresh =
      page.headers.get('refresh') ?? /http-equiv="refresh" content="([^"]+)"/.exec(page.html)?.[1];
    const next = page.location || unescaped(refresh?.replace('0; url=', '') ?? '');
    if (next === '') return { url, page };
    url = new URL(next, url).href;
  }
  throw new Error(`${address} redirects again and again`);
}
