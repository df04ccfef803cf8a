import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { unescaped } from '@octavo/admin/testing';
import { newSecret } from '@octavo/core';
import { createLog } from '@octavo/core/log';
import { listSavedMails } from '@octavo/mail';
import { bearer, PageClient, sendRequest, testFolder, until } from '@octavo/testing';
import { testBrowser } from '@octavo/testing/browser';
import type { Page } from 'playwright-core';
import { startSystem, upNames } from '../apps/octavo/index.ts';
import type { System } from '../apps/octavo/system.ts';

const browser = testBrowser();

/** The log of the whole run, at the finest level. */
const lines: string[] = [];
/** Secrets in it that only their owner may know. */
const secrets = new Set<string>();
const environment = {
  OCTAVO_DATA: testFolder('one-sign-in'),
  JWT_SECRET: newSecret(),
  QUOTES_SECRET: newSecret(),
  PASSWORDLESS_JWT_SECRET: newSecret(),
  DEMO_EDITOR_PASSWORD: newSecret(),
};

let system: System;
before(async () => {
  const names = upNames();
  system = await startSystem(names, {
    environment,
    ports: Object.fromEntries(names.map((name) => [name, 0])),
    log: createLog({ service: 'test', level: 'trace', destination: { write: (line) => lines.push(line) } }),
    hasOneSignIn: true,
  });
});
after(() => system?.[Symbol.asyncDispose]());

const urlOf = (name: string) => system.sites().find((site) => site.name === name)?.url as string;

describe('one sign-in for all services', { skip: browser.skip }, () => {
  test('a setup link makes one administrator of all, once', async () => {
    const address = (await system.signIn?.setupAddress()) as string;
    keep(address.split('/').at(-1) ?? '');
    const { page } = await browser.open({ widthPx: 390 });
    await page.goto(address);
    await page.getByLabel('E-mail address').fill('not an address');
    await page.getByRole('button', { name: 'Become administrator' }).click();
    await page.getByText('must be an e-mail address').first().waitFor();
    await page.getByLabel('E-mail address').fill('owner@example.com');
    await page.getByRole('button', { name: 'Become administrator' }).click();
    await page.getByText('You are administrator of all services').waitFor();
    await page.getByRole('link', { name: 'Go to Octavo' }).click();
    await page.getByText('You are signed in as owner, an administrator.').waitFor();

    // The sign-in counts in another service without another password.
    await page.goto(`${urlOf('polls')}/admin/`);
    await signInWithOctavo(page);
    await page.waitForURL(`${urlOf('polls')}/**`);
    await page.getByRole('link', { name: 'Questions' }).first().waitFor({ state: 'attached' });

    const stranger = await browser.open({ widthPx: 390 });
    const response = await stranger.page.goto(address);
    assert.equal(response?.status(), 404);
    assert.equal(await system.signIn?.setupAddress(), undefined);
  });

  test('one click on the portal signs in an administrator, for whom its links open every service and every admin', async () => {
    const page = await signedInAs('administrator');
    // No form and no other button between the click and each page.
    for (const [name, link, path, sees] of [
      ['gateway', 'Posts', '/', 'New post'],
      ['budgets', 'Budgets', '/budgets', 'Create your first budget'],
      ['polls', 'Polls', '/polls/', 'New poll'],
      ['quotes', 'Quotes', '/', 'Add a quote'],
      ['chat', 'Chat', '/', 'New chat'],
      ['portfolio', 'Portfolio', '/', 'Import'],
      ['passwordless', 'Sign-in', '/', 'Add a passkey'],
    ] as const) {
      await page.goto(`${urlOf('portal')}/`);
      // The table of requests below the tiles names the services too.
      await page.locator('main li').getByRole('link', { name: link, exact: true }).click();
      await page.waitForURL(`${urlOf(name)}${path}`);
      await page.getByText(sees).first().waitFor();
      // The list of polls is the same page for everybody.
      if (name === 'polls') await page.goto(`${urlOf(name)}/polls/new/`);
      assert.ok((await page.locator('form[action$="sign-out"], form[data-sign-out]').count()) > 0, name);
    }
    for (const [name, sees] of [
      ['polls', 'Questions'],
      ['quotes', 'Categories'],
      ['budgets', 'Tasks'],
      ['portfolio', 'Sectors'],
      ['passwordless', 'Applications'],
    ] as const) {
      await page.goto(`${urlOf('portal')}/`);
      await page.locator(`main a[href^="${urlOf(name)}/"]`, { hasText: 'Admin' }).click();
      await page.waitForURL(`${urlOf(name)}/admin/`);
      await page.getByRole('link', { name: sees }).first().waitFor();
    }
  });

  test('a sign-in page has one primary button', async () => {
    const { page } = await browser.open({ widthPx: 390 });
    for (const path of [
      'polls/admin/login/',
      'quotes/accounts/login/',
      'budgets/sign-in',
      'gateway/sign-in',
    ]) {
      const [name = '', ...rest] = path.split('/');
      await page.goto(`${urlOf(name)}/${rest.join('/')}`);
      const colors = (await page.evaluate(
        "[...document.querySelectorAll('main a.primary, main form button.wide')].map((button) => getComputedStyle(button).backgroundColor)",
      )) as string[];
      assert.deepEqual([colors.length, new Set(colors).size], [2, 2], path);
    }
  });

  test('a reader has no rights of staff', async () => {
    const page = await signedInAs('reader');
    assert.equal(await page.getByRole('link', { name: 'Admin' }).count(), 0);
    await page.goto(`${urlOf('passwordless')}/admin/`);
    await page.getByText('You are signed in as reader@demo.example').waitFor();
    await page.goto(`${urlOf('quotes')}/admin/`);
    await signInWithOctavo(page);
    await page.waitForURL(`${urlOf('quotes')}/**`);
    assert.doesNotMatch(await page.content(), /<nav[\s\S]*Quotes[\s\S]*Categories/);
  });
});

test('no service makes a setup link of its own', () => {
  for (const name of ['polls', 'quotes', 'budgets', 'portfolio', 'passwordless']) {
    using database = new DatabaseSync(join(environment.OCTAVO_DATA, `${name}.sqlite`), { readOnly: true });
    assert.deepEqual(database.prepare('SELECT * FROM auth_setup_link').all(), [], name);
  }
});

test('a demo address works once, and only from the portal', async () => {
  const visitor = new PageClient(urlOf('portal'));
  await visitor.open('/');
  const { html } = await visitor.send('/demo-sign-in', { role: 'editor' });
  const [, address = ''] = /href="([^"]*\/demo-sign-in\/[^"]+)"/.exec(html) ?? [];
  assert.ok(address.startsWith(`${urlOf('passwordless')}/`), html);
  const first = await fetch(address, { redirect: 'manual' });
  assert.deepEqual(
    [first.status, first.headers.get('location')],
    [303, `${urlOf('portal')}/sign-in/oidc?next=/`],
  );
  assert.equal((await fetch(address, { redirect: 'manual' })).status, 404);
  assert.equal((await visitor.send('/demo-sign-in', { role: 'root' })).status, 404);
  assert.equal((await visitor.send('/demo-sign-in', { role: 'editor', _csrf: 'wrong' })).status, 403);
});

test('a token of the provider for the address of a service is taken by its API, and by no other', async () => {
  const client = { id: 'reports', secret: 'x'.repeat(40), redirect: 'http://localhost:9/callback' };
  await system.signIn?.register({
    name: 'Reports',
    secret: client.secret,
    redirects: [client.redirect],
    postLogouts: [],
    backChannel: 'http://localhost:9/back-channel',
    isFirstParty: true,
  });
  const visitor = new PageClient(urlOf('passwordless'));
  const address = system.signIn?.demoAddress('administrator', '/') ?? '';
  keep(new URL(address).pathname.split('/').at(-1) ?? '');
  assert.equal((await visitor.open(address)).status, 303);
  const tokens = new Map<string, string>();
  for (const name of ['polls', 'budgets', 'chat', 'quotes', 'gateway', 'portfolio'])
    tokens.set(name, await accessToken(visitor, client, urlOf(name)));
  for (const [name, path] of [
    ['polls', '/api/questions/'],
    ['budgets', '/api/budgets'],
    ['chat', '/api/documents'],
    ['quotes', '/api/quotes/'],
    ['gateway', '/api/v1/posts'],
    ['portfolio', '/api/team'],
  ] as const)
    for (const [audience, token] of tokens) {
      const response = await fetch(`${urlOf(name)}${path}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const text = await response.text();
      assert.equal(response.status, audience === name ? 200 : 401, `${audience} at ${name}: ${text}`);
    }
  // What only staff may do, with the role of the token.
  const added = await fetch(`${urlOf('polls')}/api/questions/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.get('polls')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ question_text: 'Tea?', pub_date: '2026-01-01T00:00:00Z' }),
  });
  assert.equal(added.status, 201);
});

test('the requests of the portal work as they are pasted', async () => {
  const visitor = new PageClient(urlOf('portal'));
  const home = await visitor.open('/');
  assert.match(home.html, /Sign in with Octavo to like and comment\./);
  const { html } = await visitor.send('/requests', {});
  const commands = [...html.matchAll(/data-keep="(curl[^"]*)"/g)].map(([, text = '']) => unescaped(text));
  assert.equal(commands.length, 8, html);
  for (const command of commands) {
    const { stdout } = await promisify(execFile)('sh', ['-c', `${command} -o /dev/null -w '%{http_code}'`]);
    assert.match(stdout, /^20[01]$/, command);
  }
});

test('no log of this run has a secret that was used in it', async () => {
  const email = 'owner-of-secrets@example.com';
  const password = keep(newSecret());
  // Right, wrong, used twice, malformed, and where it does not belong.
  for (const name of ['tokens', 'budgets']) {
    const auth = name === 'tokens' ? '/auth' : '/api/auth';
    const { json } = await post(name, `${auth}/register`, { email, password });
    await post(name, `${auth}/login`, { email, password });
    await post(name, `${auth}/login`, { email, password: keep(newSecret()) });
    await post(name, `${auth}/login`, `{"email":"${email}","password":"${keep(newSecret())}"`);
    await post(name, `${auth}/login`, { email, password: [keep(newSecret())] });
    await post(name, `${auth}/reset-password`, { token: keep(newSecret()), newPassword: keep(newSecret()) });
    await post(
      name,
      `${auth}/logout-all?token=${keep(newSecret())}`,
      {},
      json.token ?? json.tokens?.accessToken,
    );
  }
  const { json: pair } = await post('tokens', '/auth/login', { email, password });
  for (let uses = 0; uses < 3; uses++)
    await post('tokens', '/auth/refresh', { refreshToken: pair.tokens?.refreshToken });
  await post('gateway', '/api/v1/auth/login', {
    username: 'editor',
    password: keep(environment.DEMO_EDITOR_PASSWORD),
  });
  await post('polls', '/api/token/', { username: 'nobody', password: keep(newSecret()) });
  await post('budgets', '/api/graphql', { query: '{ me { id } }' }, keep(`a.${newSecret()}.b`));
  await post('passwordless', '/totp/enroll', { email });
  await post('passwordless', '/recovery/verify', { email, code: keep('ABCDE-FGHIJ-KLMNO-PQRST') });
  await post('passwordless', '/request/magic', { email });
  const mails = () => listSavedMails(join(environment.OCTAVO_DATA, 'mails'), 10);
  const mail = await until(async () => (await mails()).find(({ to }) => to === email));
  const token = keep(/token=([\w-]{20,})/.exec(mail.text)?.[1] ?? '');
  const headers = { accept: 'application/json' };
  for (let uses = 0; uses < 2; uses++)
    collect(await (await fetch(`${urlOf('passwordless')}/verify/magic?token=${token}`, { headers })).json());
  const visitor = new PageClient(urlOf('budgets'));
  await visitor.open('/sign-in');
  await visitor.send('/sign-in', { email, password });
  for (const value of [...visitor.cookies.values(), visitor.token]) keep(value);
  for (const name of ['JWT_SECRET', 'QUOTES_SECRET', 'PASSWORDLESS_JWT_SECRET'] as const)
    keep(environment[name]);

  assert.ok(secrets.size > 35, `${secrets.size} secrets`);
  assert.ok(lines.length > 100, `${lines.length} lines`);
  const log = lines.join('');
  const spellings = (secret: string) => [secret, encodeURIComponent(secret), btoa(secret)];
  assert.deepEqual(
    [...secrets].filter((secret) => spellings(secret).some((spelling) => log.includes(spelling))),
    [],
  );
});

function keep(secret: string): string {
  assert.ok(secret.length >= 6, 'this is no secret');
  secrets.add(secret);
  return secret;
}

/** Keeps the values of fields that hold secrets, at any depth. */
function collect(value: unknown, key = ''): void {
  if (typeof value === 'string' && /token|secret|password|url$/i.test(key) && key !== 'tokenType')
    keep(value);
  if (value !== null && typeof value === 'object')
    for (const [name, inner] of Object.entries(value)) if (name !== 'error') collect(inner, name);
}

interface SignedUp {
  readonly token?: string;
  readonly tokens?: { readonly accessToken: string; readonly refreshToken: string };
}

async function post(
  service: string,
  path: string,
  body: unknown,
  token?: string,
): Promise<{ json: SignedUp }> {
  if (token !== undefined) keep(token);
  const response = await sendRequest(urlOf(service) + path, { body, headers: bearer(token) });
  collect(response.json);
  return { json: response.json ?? {} };
}

/** An access token by the flow that applications use (RFC 6749, 7636 and 8707). */
async function accessToken(
  visitor: PageClient,
  client: { readonly id: string; readonly secret: string; readonly redirect: string },
  resource: string,
): Promise<string> {
  const verifier = 'v'.repeat(43);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const asked = new URLSearchParams({
    client_id: client.id,
    redirect_uri: client.redirect,
    response_type: 'code',
    scope: 'openid email roles',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    resource,
  });
  let location = `/oidc/auth?${asked}`;
  for (let steps = 0; steps < 5 && !location.startsWith(client.redirect); steps++) {
    const page = await visitor.open(location);
    location = page.location || (/<a href="([^"]+)">Continue</.exec(page.html)?.[1] ?? '');
  }
  const code = new URL(location).searchParams.get('code') ?? '';
  const response = await fetch(`${urlOf('passwordless')}/oidc/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}` },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: client.redirect,
      code_verifier: verifier,
      resource,
    }),
  });
  const { access_token: token, ...problem } = (await response.json()) as { access_token?: string };
  assert.ok(token, `${resource}: ${location} ${JSON.stringify(problem)}`);
  const cookies = [...visitor.cookies.values()].filter((value) => value.length > 20);
  for (const secret of [code, client.secret, token, verifier, ...cookies]) keep(secret);
  return token;
}

async function signedInAs(role: string): Promise<Page> {
  const { page } = await browser.open({ widthPx: 1280 });
  await page.goto(`${urlOf('portal')}/`);
  await page.getByRole('button', { name: `Sign in as ${role}` }).click();
  await page.waitForURL(`${urlOf('portal')}/`);
  return page;
}

/** The first request loads the provider, which a busy machine may not do within the two seconds that pages wait. */
async function signInWithOctavo(page: Page): Promise<void> {
  const button = page.getByText('Sign in with Octavo', { exact: true });
  for (let tries = 0; tries < 10 && (await button.count()) === 0; tries++) await page.reload();
  await button.click();
}
