import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { AppError, FakeClock } from '@octavo/core';
import { createLog, silentLog } from '@octavo/core/log';
import { PageClient, testContext } from '@octavo/testing';
import type { Limits } from '../../http/options.ts';
import { createHttpServer } from '../../http/server.ts';
import { html } from '../html.ts';
import { layout } from '../layout.ts';
import { loadAssets } from './assets.ts';
import { servePages } from './pages.ts';
import { RenderedPages } from './rendered-pages.ts';
import type { Visit } from './visit.ts';

interface Reader {
  readonly name: string;
}

function signedIn(visit: Visit<Reader>): string {
  if (!visit.who) throw new AppError('unauthenticated', 'Sign in first.');
  return visit.who.name;
}

const root = join(import.meta.dirname, '../../../..');

async function startSite(log = silentLog, assets = loadAssets(), limits: Partial<Limits> = {}) {
  const clock = new FakeClock();
  const rendered = new RenderedPages({ pagesMax: 2 });
  let renderings = 0;
  const context = testContext('site', { log, clock });
  const server = await createHttpServer({
    name: 'site',
    title: 'Site',
    description: 'A site.',
    context,
    limits,
  });
  const answer = servePages<Reader>(
    server.app,
    {
      name: 'site',
      secret: 'a secret of more than thirty-two bytes',
      sessionSeconds: 3600,
      clock,
      assets,
      errorPage: (visit, error) => `error ${error.status} ${error.message} ${visit.request.id}`,
    },
    (routes) => {
      routes.get('/counted/:name', { access: 'public' }, async (visit) =>
        rendered.send(visit, visit.request.params, () =>
          layout(
            { ...visit.publicFrame(), service: 'Site', navigation: [] },
            { title: 'Home', main: html`<p>render ${++renderings}</p>` },
          ),
        ),
      );
      routes.get('/', { access: 'public' }, async (visit) =>
        layout(
          { ...visit.frame(), service: 'Site', navigation: [], flash: visit.takeFlash() },
          { title: 'Home', main: html`<p>who=${visit.who?.name ?? 'nobody'}</p>` },
        ),
      );
      routes.post('/sign-in', { access: 'public' }, async (visit) => {
        visit.signIn({ name: visit.field('name') });
        return visit.redirect(visit.field('next'), { tone: 'good', text: 'Welcome.' });
      });
      routes.post('/sign-out', { access: 'public' }, async (visit) => {
        visit.signOut();
        return visit.redirect('/');
      });
      routes.post('/echo', { access: 'public' }, async (visit) =>
        html`<pre>${visit.field('text')}</pre>`.toString(),
      );
      routes.post('/json', { access: 'public', accepts: 'application/json' }, async (visit) =>
        visit.reply.type('application/json').send({ got: visit.request.body }),
      );
      routes.get('/mine', { access: signedIn }, async (name) => `Hello ${name}`);
      routes.get('/broken', { access: 'public' }, async () => {
        throw new Error('secret detail');
      });
      routes.get('/busy', { access: 'public' }, async () => {
        throw new AppError('unavailable', 'Try later.', { retryAfterSeconds: 3 });
      });
    },
  );
  server.app.get('/shared', { access: 'public' }, (request, reply) => {
    if (!request.headers.accept?.includes('text/html')) return reply.send({ for: 'programs' });
    return answer(request, reply, async (visit) => {
      if (request.headers['x-fail']) throw new AppError('not_found', 'Nothing here.');
      return html`<p>who=${visit.who?.name ?? 'nobody'}</p>${visit.frame().csrfField}`.toString();
    });
  });
  const url = await server.listen();
  return { clock, url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test('a page during overload, or of a request that is refused at once, is an error page', async () => {
  await using site = await startSite(silentLog, loadAssets(), { inFlight: 0, urlCharacters: 100 });
  const headers = { accept: 'text/html', cookie: 'site_session=a' };
  const expected = [
    ['GET', '/', 503, '1', /^error 503 The server is overloaded/],
    ['POST', '/sign-out', 503, '1', /^error 503 The server is overloaded/],
    ['GET', `/?${'a'.repeat(100)}`, 400, null, /^error 400 The address must be at most/],
  ] as const;
  for (const [method, path, status, retryAfter, text] of expected) {
    const response = await fetch(site.url + path, { method, headers });
    assert.deepEqual([response.status, response.headers.get('retry-after')], [status, retryAfter], path);
    assert.match(response.headers.get('content-security-policy') ?? '', /^default-src 'self'/);
    assert.match(await response.text(), text);
  }
});

test('a page has a strict policy, is not cached, and is under 50 kB with its stylesheet', async () => {
  await using site = await startSite();
  const alice = new PageClient(site.url);
  const { html: text, ...response } = await alice.open('/');
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.equal(response.headers.get('cache-control'), 'no-store');
  const policy = response.headers.get('content-security-policy') ?? '';
  assert.match(policy, /default-src 'self'/);
  assert.doesNotMatch(policy, /unsafe|data:|\*/);
  const href = /<link rel="stylesheet" href="([^"]+)"/.exec(text)?.[1] ?? '';
  const css = await fetch(new URL(href, site.url), { headers: { 'accept-encoding': 'br' } });
  assert.equal(css.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(css.headers.get('content-encoding'), 'br');
  assert.ok(text.length + (await css.text()).length < 50_000);
  for (const [, src = ''] of text.matchAll(/<script type="module" src="([^"]+)"><\/script>/g)) {
    const module = await fetch(new URL(src, site.url));
    assert.equal(module.headers.get('content-type'), 'text/javascript; charset=utf-8');
  }
  const other = await fetch(new URL(href.replace(/assets\/[^/]+/, 'assets/other'), site.url));
  assert.equal(other.headers.get('cache-control'), 'no-cache');
  assert.equal((await fetch(new URL('/assets/x/../../package.json', site.url))).status, 404);
});

test('every stylesheet uses only properties that it or the theme has', async () => {
  const folders = [...new Set(globSync('{packages,services}/**/assets/*.css', { cwd: root }).map(dirname))];
  const names = folders.flatMap((folder) => globSync('*.css', { cwd: join(root, folder) }));
  const assets = loadAssets(...folders.map((folder) => pathToFileURL(`${join(root, folder)}/`)));
  await using site = await startSite(silentLog, assets);
  const read = async (name: string) => (await fetch(`${site.url}${assets.url(name)}`)).text();
  const theme = await read('octavo.css');
  for (const name of names.filter((each) => !['pico.css', 'theme.css'].includes(each))) {
    const text = await read(name);
    const used = [...text.matchAll(/var\((--[\w-]+)\)/g)].map(([, property = '']) => property);
    const missing = used.filter((property) => !`${theme}${text}`.includes(`${property}:`));
    assert.deepEqual(missing, [], name);
  }
  assert.ok(names.includes('admin.css'));
});

test('a module of a package is served under its name', async () => {
  const file = new URL(import.meta.resolve('marked'));
  const assets = loadAssets(file);
  await using site = await startSite(silentLog, assets);
  const { headers, ok } = await fetch(`${site.url}${assets.url(basename(file.pathname))}`);
  assert.deepEqual([ok, headers.get('content-type')], [true, 'text/javascript; charset=utf-8']);
});

test('an entry of the navigation that readers named has its actions beside it, and its name whole', async () => {
  const own = {
    href: '/chats/1',
    label: 'A <long> name',
    icon: 'comment',
    actions: html`<a href="/rename">Rename</a>`,
  } as const;
  const plain = { href: '/', below: '/none', label: 'Start', icon: 'plus' } as const;
  const frame = {
    service: 'Site',
    navigation: [plain, own],
    origin: 'http://site.example',
    path: '/chats/1',
    theme: 'auto',
    assets: loadAssets(),
    csrfField: html``,
  } as const;
  const page = layout(frame, { title: 'Chat', main: '' });
  assert.match(
    page,
    /<li class="own"><a href="\/chats\/1" aria-current="page" title="A &lt;long&gt; name"><svg.*?<\/svg><span>A &lt;long&gt; name<\/span><\/a><a href="\/rename">Rename<\/a><\/li>/,
  );
  assert.match(page, /<li><a href="\/"><svg.*?<\/svg>Start<\/a><\/li>/);
});

test('a page for many is rendered once for each content, theme and address, in every encoding', async () => {
  await using site = await startSite();
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${site.url}${path}`, { headers });
    return `${response.headers.get('content-encoding')} ${/render \d+/.exec(await response.text())?.[0]}`;
  };
  const plain = { 'accept-encoding': 'identity' };
  assert.equal(await read('/counted/a', plain), 'null render 1');
  assert.equal(await read('/counted/a', plain), 'null render 1');
  assert.equal(await read('/counted/a', { 'accept-encoding': 'br' }), 'br render 2');
  assert.equal(await read('/counted/a', { 'accept-encoding': 'br' }), 'br render 2');
  assert.equal(await read('/counted/b', plain), 'null render 3');
  assert.equal(await read('/counted/a', { ...plain, cookie: 'octavo_theme=dark' }), 'null render 4');
  assert.equal(await read('/counted/a', plain), 'null render 5', 'there is room for two');
});

test('signing in starts another session, shows a message once, and ends by itself or by signing out', async () => {
  await using site = await startSite();
  const alice = new PageClient(site.url);
  await alice.open('/');
  const before = alice.token;
  const response = await alice.send('/sign-in', { name: 'Alice', next: '/' });
  assert.equal(response.status, 303);
  assert.match(
    response.headers.get('set-cookie') ?? '',
    /^site_session=[\w-]+; Max-Age=3600; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  assert.match((await alice.open('/')).html, /Welcome[\s\S]*who=Alice/);
  assert.doesNotMatch((await alice.open('/')).html, /Welcome/);
  assert.equal((await alice.send('/echo', { _csrf: before, text: 'x' })).status, 403);
  site.clock.advance(3_600_000);
  assert.match((await alice.open('/')).html, /who=nobody/);
  await alice.send('/sign-in', { name: 'Alice', next: '/' });
  await alice.open('/');
  await alice.send('/sign-out', {});
  assert.match((await alice.open('/')).html, /who=nobody/);
});

test('a page is shown to those that its access admits, and its handler knows who they are', async () => {
  await using site = await startSite();
  const alice = new PageClient(site.url);
  await alice.open('/');
  assert.equal((await alice.open('/mine')).status, 401);
  await alice.send('/sign-in', { name: 'Alice', next: '/' });
  assert.equal((await alice.open('/mine')).html, 'Hello Alice');
});

test('a form without this reader’s token, or from another site, is refused', async () => {
  await using site = await startSite();
  const alice = new PageClient(site.url);
  const charlie = new PageClient(site.url);
  await alice.open('/');
  await charlie.open('/');
  assert.equal((await alice.send('/echo', { text: 'x' })).status, 200);
  assert.equal((await alice.send('/echo', { text: 'x', _csrf: '' })).status, 403);
  assert.equal((await alice.send('/echo', { text: 'x', _csrf: charlie.token })).status, 403);
  for (const from of ['cross-site', 'same-site']) {
    assert.equal((await alice.send('/echo', { text: 'x' }, { 'sec-fetch-site': from })).status, 403);
  }
  const token = alice.token;
  const cookie = [...alice.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const send = (headers: Record<string, string>) =>
    fetch(`${site.url}/echo`, {
      method: 'POST',
      body: new URLSearchParams({ _csrf: token }),
      headers: { cookie, ...headers },
    });
  assert.equal((await send({ origin: site.url })).status, 200);
  assert.equal((await send({})).status, 200);
  assert.equal((await send({ origin: 'http://evil.example' })).status, 403);
  assert.equal((await send({ origin: 'null' })).status, 403);
});

test('JSON goes in with the token in a header, and errors come back as JSON', async () => {
  await using site = await startSite();
  const alice = new PageClient(site.url);
  await alice.open('/');
  const send = (token: string) =>
    alice.open('/json', {
      method: 'POST',
      body: '{"a":1}',
      headers: { accept: 'application/json', 'content-type': 'application/json', 'x-csrf-token': token },
    });
  assert.equal((await send(alice.token)).html, '{"got":{"a":1}}');
  const refused = await send('x');
  assert.equal(refused.status, 403);
  assert.equal(JSON.parse(refused.html).error.code, 'CSRF');
});

test('a form page takes forms only, and pages of other methods say so', async () => {
  await using site = await startSite();
  const alice = new PageClient(site.url);
  await alice.open('/');
  const upload = new FormData();
  upload.set('text', 'x');
  for (const body of [upload, '{"text":"x"}']) {
    const headers = typeof body === 'string' ? { 'content-type': 'application/json' } : undefined;
    const refused = await alice.open('/echo', { method: 'POST', body, headers });
    assert.equal(refused.status, 415);
    assert.match(refused.headers.get('content-type') ?? '', /html/);
  }
  const wrong = await alice.open('/echo');
  assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'POST, OPTIONS']);
  assert.match(wrong.html, /^error 405 /);
});

test('text arrives unchanged except for the newlines of browsers', async () => {
  await using site = await startSite();
  const alice = new PageClient(site.url);
  await alice.open('/');
  assert.match(
    (await alice.send('/echo', { text: '\r\n<i>😀\r\nend' })).html,
    /<pre>\n&lt;i&gt;😀\nend<\/pre>/,
  );
});

test('errors are pages with the request id, and only the log has their cause', async () => {
  const lines: string[] = [];
  const log = createLog({ service: 'site', destination: { write: (line) => lines.push(line) } });
  await using site = await startSite(log);
  const alice = new PageClient(site.url);
  const broken = await alice.open('/broken');
  assert.equal(broken.status, 500);
  assert.doesNotMatch(broken.html, /secret detail/);
  const requestId = broken.headers.get('x-request-id') ?? '-';
  assert.ok(broken.html.endsWith(requestId));
  assert.ok(lines.some((line) => line.includes(requestId) && line.includes('secret detail')));
  const busy = await alice.open('/busy');
  assert.equal(busy.status, 503);
  assert.equal(busy.headers.get('retry-after'), '3');
  const missing = await alice.open('/nowhere');
  assert.equal(missing.status, 404);
  assert.match(missing.headers.get('content-type') ?? '', /html/);
  const asJson = await fetch(`${site.url}/nowhere`);
  assert.match(asJson.headers.get('content-type') ?? '', /json/);
});

test('the theme is remembered, and does not redirect to another site', async () => {
  await using site = await startSite();
  const alice = new PageClient(site.url);
  await alice.open('/');
  const response = await alice.send('/theme', { theme: 'dark', back: '/?q=1' });
  assert.equal(response.headers.get('location'), '/?q=1');
  assert.match((await alice.open('/')).html, /<html lang="en" data-theme="dark">/);
  for (const back of ['//evil.example', 'https://evil.example', '/\\evil.example', 'javascript:x', '']) {
    assert.equal((await alice.send('/theme', { theme: 'auto', back })).headers.get('location'), '/');
  }
  for (const [back, location] of [
    ['/é?q=ф%20😀', '/%C3%A9?q=%D1%84%20%F0%9F%98%80'],
    ['/a\u0000', '/'],
  ] as const) {
    const answer = await alice.send('/theme', { theme: 'auto', back });
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, location]);
  }
  assert.match((await alice.open('/')).html, /<html lang="en"><head>/);
});

test('a reader who comes from another site reloads the page from here, so that the strict cookie is sent', async () => {
  await using site = await startSite();
  const alice = new PageClient(site.url);
  const fromElsewhere = { headers: { 'sec-fetch-site': 'cross-site' } };
  for (const path of ['/', '/nowhere']) {
    const { html: text, ...response } = await alice.open(path, fromElsewhere);
    assert.equal(response.status, 200);
    assert.match(text, /<link rel="icon" href="[^"]+">\n<meta http-equiv="refresh" content="0">/);
    assert.doesNotMatch(response.headers.get('set-cookie') ?? '', /site_session/);
    alice.cookies.clear();
  }
  await alice.open('/', fromElsewhere);
  assert.match((await alice.open('/', fromElsewhere)).html, /who=nobody/);
});

test('a form that arrives after its session has ended gets 401', async () => {
  await using site = await startSite();
  const alice = new PageClient(site.url);
  await alice.open('/');
  site.clock.advance(3_600_000);
  assert.equal((await alice.send('/echo', { text: 'x' })).status, 401);
});

test('a browser gets a page from an address that it shares with programs', async () => {
  await using site = await startSite();
  assert.deepEqual(await (await fetch(new URL('/shared', site.url))).json(), { for: 'programs' });
  const alice = new PageClient(site.url);
  await alice.open('/');
  await alice.send('/sign-in', { name: 'Alice', next: '/' });
  const page = await alice.open('/shared');
  assert.match(page.html, /who=Alice/);
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'self'/);
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  const stranger = new PageClient(site.url);
  await stranger.open('/shared');
  assert.equal((await stranger.send('/echo', { text: 'x' })).status, 200);
  const detour = await new PageClient(site.url).open('/shared', {
    headers: { 'sec-fetch-site': 'cross-site' },
  });
  assert.match(detour.html, /http-equiv="refresh"/);
  const failed = await alice.open('/shared', { headers: { 'x-fail': '1' } });
  assert.equal(failed.status, 404);
  assert.match(failed.html, /error 404 Nothing here/);
});
