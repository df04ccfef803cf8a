import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ServiceContext } from '@octavo/data/service';
import { openFolderMailer } from '@octavo/mail';
import { PageClient, testFolder } from '@octavo/testing';
import { proxyHeaders } from '@octavo/testing/engines';
import { escapeHtml } from '@octavo/web/html';
import { pageOf, start, startSite } from './testing.ts';

test('shows the mails of all services, newest first, only on loopback and under its names', async () => {
  const dataFolder = testFolder('portal-mails');
  const mailFolders = { good: 'mails', other: 'other-mails', none: 'none-mails' };
  for (const [folder, subject, minute] of [
    ['mails', 'Your link <b>', 1],
    ['other-mails', 'Welcome', 2],
  ] as const) {
    await using mailer = openFolderMailer({ folder: join(dataFolder, folder) });
    const date = new Date(Date.UTC(2026, 0, 1, 0, minute));
    const from = { name: 'Test', address: 'no-reply@localhost' };
    const text = 'Open http://localhost:1/x?y=1&z\n\nBye';
    await mailer.send({
      id: `m${minute}@localhost`,
      from,
      to: 'ann@example.com',
      subject,
      text,
      html: '',
      date,
    });
  }
  await using good = await startSite('good', 200);
  const place = { dataFolder };
  await using running = await start([good.site], place, {}, { mailFolders });
  const url = running.url ?? '';
  const list = await pageOf(`${url}/mails`);
  assert.match(list, /Welcome<\/a>[\s\S]*>other<[\s\S]*Your link &lt;b&gt;<\/a>[\s\S]*>GOOD</);
  const mail = await pageOf(`${url}/mails/good/m1@localhost`);
  assert.match(mail, /<a href="http:\/\/localhost:1\/x\?y=1&amp;z">[\s\S]*<p class="wrap">Bye<\/p>/);
  for (const path of ['good/m2@localhost', 'none/m1@localhost', 'constructor/m1@localhost', 'good/..%2Fx@y'])
    assert.equal((await fetch(`${url}/mails/${path}`)).status, 404, path);
  assert.match(await pageOf(url), /href="\/mails">Mails of all services/);
  const { port } = new URL(url);
  for (const path of ['/mails', '/mails/good/m1@localhost']) {
    const [response] = await once(get({ port, path, headers: { host: 'rebound.example' } }), 'response');
    assert.equal(response.statusCode, 404);
  }
  await using production = await start([], { ...place, environment: 'production' }, {}, { mailFolders });
  assert.equal((await fetch(`${production.url}/mails`)).status, 404);
  await using everywhere = await start([], { ...place, host: '0.0.0.0' }, {}, { mailFolders });
  assert.equal((await fetch(`${everywhere.url}/mails`)).status, 404);
  await using empty = await start([], {}, {}, { mailFolders: { none: 'none-mails' } });
  assert.match(await pageOf(`${empty.url}/mails`), /No mails yet/);
});

test('gives requests with a token each, only on loopback outside production', async () => {
  await using good = await startSite('good', 200);
  await using other = await startSite('other', 200);
  const signIn = {
    demoAddress: () => '',
    demoToken: async (role: string, audience: string) =>
      audience === good.site.url ? `${role}-of-${new URL(audience).port}` : undefined,
  };
  const samples = {
    good: [{ label: 'Write', path: '/api/x?y=1', body: { title: "it's" } }],
    other: [{ label: 'Read', path: '/api/z' }],
  };
  const page = async (context: Partial<ServiceContext>, headers = {}) => {
    await using running = await start([good.site, other.site], context, {}, { signIn, samples });
    const visitor = new PageClient(running.url ?? '');
    await visitor.open('/');
    return await visitor.send('/requests', {}, headers);
  };
  const { status, html, headers } = await page({});
  assert.equal(status, 200);
  assert.equal(headers.get('cache-control'), 'no-store');
  const { port } = new URL(good.site.url);
  assert.ok(html.includes(escapeHtml(`authorization: Bearer administrator-of-${port}`)), html);
  assert.ok(html.includes(escapeHtml(`-d '{"title":"it'\\''s"}'`)), html);
  assert.doesNotMatch(html, /<h2>OTHER|\/api\/z/);
  assert.equal((await page({ environment: 'production' })).status, 404);
  assert.equal((await page({ host: '0.0.0.0' })).status, 404);
  assert.equal((await page({}, { 'sec-fetch-site': 'cross-site' })).status, 403);
});

test('shows nothing of it to a request that a proxy has marked', async () => {
  await using good = await startSite('good', 200);
  const signIn = { demoAddress: () => `${good.site.url}/demo`, demoToken: async () => 'a-token' };
  const deps = {
    signIn,
    samples: { good: [{ label: 'Read', path: '/api/z' }] },
    mailFolders: { good: 'mails' },
  };
  await using running = await start([good.site], {}, {}, deps);
  const visitor = new PageClient(running.url ?? '');
  const help = /Sign in as|Demo sign-ins|npx octavo seed|\/mails/;
  assert.match((await visitor.open('/')).html, help);
  const forms = { '/demo-sign-in': { role: 'administrator' }, '/requests': {}, '/demo-data': {} };
  for (const name of proxyHeaders) {
    const headers = { [name]: 'for=127.0.0.1' };
    const { status, html } = await visitor.open('/', { headers });
    assert.equal(status, 200, name);
    assert.doesNotMatch(html, help, name);
    assert.equal((await visitor.open('/mails', { headers })).status, 404, name);
    for (const [path, fields] of Object.entries(forms))
      assert.equal((await visitor.send(path, fields, headers)).status, 404, `${path} with ${name}`);
  }
  const clicked = await visitor.send('/demo-sign-in', { role: 'administrator' });
  assert.equal(clicked.headers.get('refresh'), `0; url=${good.site.url}/demo`);
});
