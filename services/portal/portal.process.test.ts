import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { FakeClock } from '@octavo/core';
import { PageClient, until } from '@octavo/testing';
import { TestProvider, Walker } from '@octavo/testing/sign-in';
import { escapeHtml } from '@octavo/web/html';
import { ActivityMonitor } from './activity.ts';

import { pageOf, seedWith, siteOf, start, startSite } from './testing.ts';

describe('the portal', () => {
  test('lists the running services with address and state, and leaves itself out', async () => {
    await using good = await startSite('good', 200);
    await using bad = await startSite('bad', 503);
    const gone = siteOf('gone', 'http://127.0.0.1:1');
    const self = siteOf('portal', 'http://127.0.0.1:2');
    await using running = await start([self, good.site, bad.site, gone]);
    const html = await pageOf(running.url);
    assert.match(html, /1 of 3 services are running/);
    const [, tiles = ''] = /<ul class="tiles">([\s\S]*?)<\/ul>/.exec(html) ?? [];
    for (const { title, summary, url } of [good.site, bad.site, gone]) {
      assert.match(tiles, new RegExp(`href="${url}">.*${title}</a></h2>\\n<p>${summary}</p>`), title);
    }
    assert.match(tiles, /GOOD[\s\S]*BAD[\s\S]*>Not ready<.*: database[\s\S]*GONE[\s\S]*>Does not respond</);
    assert.doesNotMatch(tiles, /PORTAL/);
  });

  test('does not wait for a service that does not respond', { timeout: 60_000 }, async () => {
    await using slow = await startSite('slow', undefined);
    await using running = await start([slow.site]);
    assert.match(await pageOf(running.url), /0 of 1 services are running[\s\S]*Does not respond/);
  });

  test('shows demo sign-ins only on loopback outside production', async () => {
    await using open = await start([]);
    assert.match(await pageOf(open.url), /Demo sign-ins[\s\S]*a&lt;b &amp; &quot;c&quot;/);
    await using production = await start([], { environment: 'production' });
    assert.doesNotMatch(await pageOf(production.url), /Demo sign-ins|a&lt;b/);
    await using everywhere = await start([], { host: '0.0.0.0' });
    assert.doesNotMatch(await pageOf(everywhere.url), /Demo sign-ins|a&lt;b/);
  });

  test('shows demo sign-ins and commands only under a loopback name', async () => {
    await using good = await startSite('good', 200);
    await using running = await start([good.site]);
    const { port } = new URL(running.url ?? '');
    const pageUnder = async (host: string) => {
      const request = get({ port, headers: { host } });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      return text(response);
    };
    for (const host of ['localhost', `127.0.0.1:${port}`, '[::1]:3000'])
      assert.match(await pageUnder(host), /npx octavo seed[\s\S]*Demo sign-ins/, host);
    for (const host of ['rebound.example', `rebound.example:${port}`, 'localhost.rebound.example']) {
      const html = await pageUnder(host);
      assert.match(html, /One service is running/, host);
      assert.doesNotMatch(html, /Demo sign-ins|a&lt;b|npx octavo|\/tmp/, host);
    }
  });

  test('gives the seed command for the data that the services use', async () => {
    await using good = await startSite('good', 200);
    await using other = await startSite('other', 200);
    const dataFolder = "/srv/Zoë's data";
    const deps = { needsDatabaseUrl: true };
    await using running = await start([good.site, other.site], { dataFolder }, {}, deps);
    const html = await pageOf(running.url);
    const command = "npx octavo seed --data '/srv/Zoë'\\''s data'";
    assert.ok(html.includes(`<code>${escapeHtml(command)}</code>`), html);
    assert.match(html, /with <code>DATABASE_URL<\/code> set as for these services/);
  });

  test('says which service a sign-in is for, how to get into the others, and what to do next', async () => {
    await using good = await startSite('good', 200);
    const other = siteOf('plain', 'http://127.0.0.1:1');
    await using running = await start([good.site, other]);
    const html = await pageOf(running.url);
    assert.match(html, /Sign in after registering there\./);
    assert.ok(html.includes(`data-label="For"><a href="${good.site.url}">GOOD</a>`), html);
    assert.match(
      html,
      /data-keep="a&lt;b &amp; &quot;c&quot;"[\s\S]*aria-label="Copy the password of editor"/,
    );
    assert.match(html, /data-keep="editor"[\s\S]*aria-label="Copy the user name editor"/);
    assert.match(
      html,
      /What to do next[\s\S]*Load demo data into GOOD\.[\s\S]*data-keep="npx octavo seed good --data \/tmp"/,
    );
    await using production = await start([good.site], { environment: 'production' });
    assert.doesNotMatch(await pageOf(production.url), /What to do next|data-keep/);
  });

  test('loads demo data as a process of its own, and shows progress and result without a script', async () => {
    let metrics = '';
    await using good = await startSite('good', 200, () => metrics);
    const load = async (code: string) => {
      const seeding = { seedable: ['good'], command: seedWith(code) };
      const activity = [{ metric: 'posts_today', kind: 'gauge', nouns: ['post', 'posts'] }] as const;
      const shown = { good: { activity } };
      const running = await start([good.site], {}, {}, { seeding, metrics: shown });
      const visitor = new PageClient(running.url ?? '');
      metrics = 'posts_today 0';
      await visitor.open('/');
      metrics = 'posts_today 5';
      assert.equal((await visitor.send('/demo-data', {})).location, '/');
      return { running, visitor };
    };
    const slow = await load(
      "console.log('good: 5 loaded'); process.stdin.resume(); setTimeout(() => {}, 60_000)",
    );
    await using _ = slow.running;
    let page = await slow.visitor.open('/');
    while (!page.html.includes('1 of 1 services</span>')) page = await slow.visitor.open('/');
    assert.match(page.html, /<progress value="1" max="1"/);
    assert.equal(page.headers.get('refresh'), '2');

    const quick = await load("console.log('good: 5 loaded')");
    assert.doesNotMatch(page.html, /posts<\/p>/);
    await using _quick = quick.running;
    page = await quick.visitor.open('/');
    while (!page.html.includes('The demo data is loaded')) page = await quick.visitor.open('/');
    assert.match(page.html, /<li>GOOD: 5 loaded<\/li>/);
    assert.match(page.html, /<p class="muted">5 posts<\/p>/);
    assert.equal(page.headers.get('refresh'), null);

    const failing = await load("console.error('the disk is full'); process.exit(1)");
    await using _failing = failing.running;
    page = await failing.visitor.open('/');
    while (!page.html.includes('was not loaded')) page = await failing.visitor.open('/');
    assert.match(page.html, /the disk is full[\s\S]*Load demo data<\/button>/);
  });

  test('adds demo data beside the data of its owner, where they say so', async () => {
    await using good = await startSite('good', 200);
    await using other = await startSite('other', 200);
    const own = 'nothing loaded, because it holds data of your own; --force adds demo data beside it';
    const code = `const words = process.argv.slice(1).join(' ');
      console.log('good: ' + (words ? 'added by ' + words.replace('--', '') : '${own}')); if (!words) console.log('other: 5 loaded')`;
    const seeding = { seedable: ['good', 'other'], command: { ...seedWith(code), args: ['-e', code, '--'] } };
    await using running = await start([good.site, other.site], {}, {}, { seeding });
    const visitor = new PageClient(running.url ?? '');
    const shows = (pattern: RegExp) =>
      until(async () => {
        const { html } = await visitor.open('/');
        return pattern.test(html) && html;
      });
    await visitor.open('/');
    await visitor.send('/demo-data', {});
    const first = await shows(/Add demo data beside yours<\/button>/);
    assert.match(
      first,
      /except into GOOD\.[\s\S]*<li>GOOD: nothing loaded, [^;]*of your own\.<\/li><li>OTHER: 5/,
    );
    await visitor.send('/demo-data', { beside: '1' });
    assert.doesNotMatch(await shows(/<li>GOOD: added by good force<\/li>/), /Add demo data/);
  });

  test('loads no demo data in production, nor under the name of another site', async () => {
    await using good = await startSite('good', 200);
    await using production = await start([good.site], { environment: 'production' });
    const visitor = new PageClient(production.url ?? '');
    await visitor.open('/');
    assert.equal((await visitor.send('/demo-data', {})).status, 404);
  });

  test('says what to do if nothing else runs', async () => {
    await using running = await start([]);
    assert.match(await pageOf(running.url), /No other services are running[\s\S]*octavo up/);
  });
});

test('activity is read from metrics: restarts begin at 0, probes do not count, and a silent service has a gap', async () => {
  let text: string | undefined;
  await using site = await startSite('polls', 200, () => text ?? '');
  const monitor = new ActivityMonitor(() => [site.site, siteOf('gone', 'http://127.0.0.1:1')], {
    polls: {
      activity: [
        { metric: 'polls_votes_total{outcome="counted"', kind: 'counter', nouns: ['vote', 'votes'] },
        { metric: 'polls_watchers', kind: 'gauge', nouns: ['watcher', 'watchers'] },
      ],
    },
  });
  const sample = (votes: number, requests: number, errors: number) => {
    text = [
      'octavo_build_info{version="1.2.3"} 1',
      `polls_votes_total{outcome="counted"} ${votes}`,
      'polls_votes_total{outcome="refused"} 99',
      'polls_watchers 1',
      'polls_watchers_of_old 7',
      `http_request_duration_seconds_count{route="/",method="GET",status="200"} ${requests}`,
      `http_request_duration_seconds_count{route="/x",method="GET",status="503"} ${errors}`,
      'http_request_duration_seconds_count{route="/metrics",method="GET",status="200"} 1000',
    ].join('\n');
    return monitor.read();
  };
  assert.equal(monitor.of('polls'), undefined);
  await sample(5, 10, 0);
  await sample(7, 15, 1);
  await sample(1, 4, 0);
  assert.deepEqual(monitor.of('polls'), {
    version: '1.2.3',
    requests: [6, 4],
    errors: [1, 0],
    phrases: ['3 votes in the last hour', '1 watcher'],
    waiting: [],
    servers: [],
  });
  assert.equal(monitor.of('gone'), undefined);
  for (let n = 0; n < 70; n++) await sample(1, 4, 0);
  assert.equal(monitor.of('polls')?.requests.length, 60);
});

test('people sign in with an OpenID provider, until they sign out, it ends their session, or their role ends', async (t) => {
  await using provider = await TestProvider.start();
  provider.people.set('ann', { sub: 'ann', preferred_username: 'ann', roles: ['admin'] });
  const clock = new FakeClock();
  t.mock.timers.enable({ apis: ['setInterval'] });
  const numbers = [
    'books{kind="new"} 1000\nbooks{kind="old"} 234',
    'server{kind="llm",model="big <1>",context="8192",source="page",state="answers"} 1',
    'server{kind="other",model="the \\"best\\"",context="",source="environment",state="It cannot be reached."} 0',
  ];
  await using shelf = await startSite('shelf', 200, () => numbers.join('\n'));
  const error = { time: '2026-01-01T00:00:00Z', service: 'shelf', message: 'the disk is full' };
  const deps = {
    metrics: {
      shelf: {
        waiting: [
          { metric: 'books', nouns: ['open book', 'open books'] as const, path: '/admin/books/?status=open' },
          { metric: 'none', nouns: ['page', 'pages'] as const, path: '/admin/pages/' },
        ],
        servers: { metric: 'server', nouns: { llm: 'Language model', other: 'Reader' }, path: '/settings' },
      },
    },
    recentErrors: () => [{ ...error, cause: 'Error: ENOSPC', requestId: 'r1' }],
  };
  await using running = await start([shelf.site], { clock }, provider.settingsFor('portal'), deps);
  const url = running.url ?? '';
  provider.addClient('portal', url);
  const signedIn = async () => {
    provider.person = 'ann';
    clock.advance(11_000);
    const walker = new Walker(new PageClient(url));
    assert.match((await walker.client.open('/sign-in')).html, /Sign in with Octavo/);
    assert.equal((await walker.signIn('/')).location, '/');
    return walker.client;
  };
  const home = async (client: PageClient) => (await client.open('/')).html;
  const [one, other] = [await signedIn(), await signedIn()];
  assert.match(await home(one), /You are signed in as ann, an administrator\./);
  assert.doesNotMatch(await home(one), /You are signed in as/, 'it is said once');
  assert.match(await home(one), /ann, administrator/);
  assert.match(
    await home(one),
    /Last errors[\s\S]*the disk is full[\s\S]*Error: ENOSPC[\s\S]*<code>r1<\/code>/,
  );
  assert.match(await home(one), /href="[^"]*\/admin\/books\/\?status=open">1,234 open books<\/a><\/p>/);
  const page = await home(one);
  assert.match(
    page,
    /Language model big &lt;1&gt;, connected at \/settings, with a context of 8,192 tokens: answers/,
  );
  assert.match(
    page,
    /href="[^"]*\/settings">Fails<\/a> Reader the &quot;best&quot;, set by the environment: It cannot be reached</,
  );
  assert.doesNotMatch(await pageOf(url), /Last errors|the disk is full|open books|Language model|Reader/);
  const out = await one.send('/sign-out', {});
  assert.match(out.headers.get('refresh') ?? '', /session\/end/);
  assert.match(await home(one), /href="\/sign-in"/);
  for (const status of [429, 404, 503]) {
    const { length } = provider.requests;
    provider.faults.answer = (path) => (path === '/token' ? { status } : undefined);
    clock.advance(5 * 60_000);
    t.mock.timers.tick(30_000);
    await until(() => provider.requests.slice(length).includes('/token'));
    assert.match(await home(other), /ann, administrator/, `${status} says nothing about a person`);
  }
  provider.faults = {};
  provider.people.set('ann', { sub: 'ann', preferred_username: 'ann' });
  clock.advance(5 * 60_000);
  t.mock.timers.tick(30_000);
  for (let tries = 0; tries < 200 && /administrator/.test(await home(other)); tries++) await wait(20);
  assert.match(await home(other), />ann</);
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const token = await provider.sign({ aud: 'portal', sub: 'ann', events }, { typ: 'logout+jwt' });
  const body = new URLSearchParams({ logout_token: token });
  assert.equal((await fetch(`${url}/sign-in/oidc/back-channel`, { method: 'POST', body })).status, 200);
  assert.match(await home(other), /href="\/sign-in"/);
});
