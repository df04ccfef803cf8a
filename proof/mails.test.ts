import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { sendRequest, testFolder, until } from '@octavo/testing';
import { proxyHeaders } from '@octavo/testing/engines';
import { startSystem, topology } from '../apps/octavo/index.ts';
import type { System } from '../apps/octavo/system.ts';

const senders = topology.flatMap(({ name, mails, site }) => (mails && site ? [{ name, ...site }] : []));
const folder = testFolder('mails');

let system: System;
before(async () => {
  const names = ['portal', ...senders.map(({ name }) => name)];
  const environment = {
    NODE_ENV: 'test',
    OCTAVO_DATA: folder,
    EMAIL_VERIFICATION: 'optional',
    BUDGETS_MAIL_FOLDER: join(folder, 'elsewhere'),
    ARGON2_MEMORY_KIB: '8',
  };
  const ports = Object.fromEntries(names.map((name) => [name, 0]));
  system = await startSystem(names, { environment, ports, log: silentLog });
});
after(() => system?.[Symbol.asyncDispose]());

const urlOf = (name: string) => system.sites().find((site) => site.name === name)?.url as string;

test('the portal shows the mails of every service that sends some', async () => {
  const email = 'alice@example.com';
  const password = 'correct horse battery staple 7';
  const asks = {
    tokens: ['/auth/register', { email, password }],
    passwordless: ['/request/magic', { email }],
    budgets: ['/api/auth/register', { email, password }],
  } as const;
  assert.deepEqual(
    senders.map(({ name }) => name),
    ['tokens', 'passwordless', 'budgets'],
  );
  for (const [name, [path, body]] of Object.entries(asks)) {
    const { status, text } = await sendRequest(`${urlOf(name)}${path}`, { body });
    assert.ok(status < 300, `${name}: ${status} ${text}`);
  }
  for (const { name, title } of senders) {
    const page = await until(async () => {
      const html = await (await fetch(`${urlOf('portal')}/mails`)).text();
      return html.includes(`href="/mails/${name}/`) && html;
    });
    assert.ok(page.includes(`>${title}<`), title);
    const [, path = ''] = new RegExp(`href="(/mails/${name}/[^"]+)"`).exec(page) ?? [];
    const mail = await (await fetch(`${urlOf('portal')}${path}`)).text();
    const links = [...mail.matchAll(/href="(http[^"]+)"/g)].map(([, href = '']) => new URL(href).hostname);
    assert.deepEqual(new Set(links), new Set(['localhost']), 'browsers send the cookies of one name only');
  }
});

test('no service shows its mails to a request that a proxy has marked', async () => {
  for (const name of ['portal', 'tokens', 'passwordless']) {
    const mails = (headers = {}) => fetch(`${urlOf(name)}/mails`, { headers });
    assert.equal((await mails()).status, 200, name);
    for (const header of proxyHeaders)
      assert.equal((await mails({ [header]: '203.0.113.9' })).status, 404, `${name} with ${header}`);
  }
});
