import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { bearer, sendRequest, testFolder } from '@octavo/testing';
import { seeds, startSystem, upNames } from '../apps/octavo/index.ts';
import type { System } from '../apps/octavo/system.ts';

const text = readFileSync(new URL('../docs/api.md', import.meta.url), 'utf8');
const lists = [
  ['gateway', '/api/v1/posts?pageSize=1'],
  ['polls', '/api/questions/?limit=1'],
  ['quotes', '/api/quotes/?limit=1'],
  ['budgets', '/api/budgets?limit=1'],
  ['chat', '/api/documents?limit=1'],
  ['portfolio', '/api/team?limit=1'],
] as const;

let system: System;
before(async () => {
  const environment = {
    NODE_ENV: 'test',
    OCTAVO_DATA: testFolder('conventions'),
    ARGON2_MEMORY_KIB: '8',
    CHAT_EMBEDDINGS: 'off',
  };
  for (const seed of [seeds.gateway, seeds.polls, seeds.quotes])
    await seed?.(environment, { count: 3, isForced: false, onProgress: () => {} });
  const names = upNames();
  const ports = Object.fromEntries(names.map((name) => [name, 0]));
  system = await startSystem(names, { environment, ports, log: silentLog, hasOneSignIn: true });
});
after(() => system?.[Symbol.asyncDispose]());

const urlOf = (name: string) => system.sites().find((site) => site.name === name)?.url as string;

/** The second cell of the row of a service, in the table below a heading. */
function shapeOf(heading: string, service: string): string {
  const part = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = part.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  return rows.find(([, names = '']) => names.split(', ').includes(service))?.[2] ?? '';
}

/** Names of the keys of a value, with those of objects inside of them, as the table writes them. */
function keysOf(value: object): string {
  const keys = Object.entries(value).map(([key, inner]) => {
    if (inner === false) return `"${key}": false`;
    const isShape = ['error', 'meta'].includes(key) && typeof inner === 'object';
    return isShape ? `"${key}": ${keysOf(inner)}` : `"${key}"`;
  });
  return `{${keys.join(', ')}}`;
}

test('errors have the shapes that docs/api.md lists', async () => {
  for (const { name, url } of system.sites()) {
    const response = await fetch(`${url}/api/nothing`, { headers: { accept: 'application/json' } });
    const shown = /^`([^`]+)`/.exec(shapeOf('Errors', name))?.[1];
    assert.equal(keysOf((await response.json()) as object), shown, name);
    assert.ok(response.headers.get('x-request-id'), name);
  }
});

test('lists have the shapes that docs/api.md lists, and limits are told on success', async () => {
  for (const [name, path] of lists) {
    const token = await system.signIn?.demoToken('administrator', urlOf(name));
    const response = await fetch(urlOf(name) + path, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(response.status, 200, name);
    const body = (await response.json()) as object;
    const shape = Array.isArray(body)
      ? 'an array'
      : `\`{${Object.keys(body)
          .map((key) => `"${key}"`)
          .join(', ')}}\``;
    assert.ok(shapeOf('Lists', name).startsWith(shape), `${name}: ${shape}`);
    if (Array.isArray(body)) assert.ok(response.headers.get('x-total-count'), name);
    if (['gateway', 'polls', 'quotes'].includes(name))
      assert.match(response.headers.get('link') ?? '', /rel="next"/, name);
    if (['budgets', 'chat'].includes(name)) {
      assert.match(response.headers.get('ratelimit') ?? '', /^"\w+";r=\d+;t=\d+/, name);
      assert.match(response.headers.get('ratelimit-policy') ?? '', /^"\w+";q=\d+;w=\d+/, name);
    }
  }
});

const user = { email: 'alice@example.com', username: 'alice', password: 'ferries wait in fog' };

interface Counted {
  readonly service: string;
  readonly path: string;
  /** Names of the limits that the client is told. */
  readonly limits: readonly string[];
  readonly body?: object;
}

const file = new FormData();
file.append('file', new Blob(['The ferry leaves at nine.']), 'ferries.txt');
const budget = { name: 'Food', limit: '400.00', currency: 'EUR' };

const question = { query: 'When does the ferry leave?' };
const completion = { model: 'builtin-extractive', messages: [{ role: 'user', content: question.query }] };
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const quote = { text: 'Fog.', author: 'A', category: 'Sea' };
const email = { email: user.email };

const requests: readonly Counted[] = [
  { service: 'gateway', path: '/api/v1/posts', limits: [] },
  { service: 'tokens', path: '/auth/register', limits: ['auth'], body: user },
  { service: 'tokens', path: '/auth/login', limits: ['auth'], body: user },
  // Its client is not told, so that nobody learns whether an address gets mails.
  { service: 'passwordless', path: '/request/magic', limits: [], body: email },
  { service: 'passwordless', path: '/totp/enroll', limits: ['post', 'enroll'], body: email },
  { service: 'polls', path: '/api/questions/', limits: [] },
  { service: 'quotes', path: '/api/quotes/', limits: [] },
  { service: 'quotes', path: '/api/quotes/', limits: ['writes'], body: quote },
  { service: 'quotes', path: '/api/quotes/1/like/', limits: ['writes'], body: {} },
  { service: 'budgets', path: '/api/budgets', limits: ['user', 'burst'] },
  { service: 'budgets', path: '/api/budgets', limits: ['user', 'burst'], body: budget },
  { service: 'budgets', path: '/api/graphql', limits: ['user', 'burst'], body: { query: '{ me { id } }' } },
  { service: 'chat', path: '/api/documents', limits: ['read'] },
  { service: 'chat', path: '/api/session', limits: ['session'], body: {} },
  { service: 'chat', path: '/api/upload', limits: ['upload'], body: file },
  { service: 'chat', path: '/api/search', limits: ['read'], body: question },
  { service: 'chat', path: '/api/chat', limits: ['chat', 'burst'], body: question },
  { service: 'chat', path: '/v1/chat/completions', limits: ['chat', 'burst'], body: completion },
  { service: 'chat', path: '/mcp', limits: ['read'], body: ping },
  { service: 'portfolio', path: '/auth/token', limits: ['token'] },
];

test('a success tells how much is left of each limit that counts it', async () => {
  for (const { service, path, limits, body } of requests) {
    const token = await system.signIn?.demoToken('editor', urlOf(service));
    const request = { headers: token ? bearer(token) : {}, body };
    const { status, headers, text } = await sendRequest(`${urlOf(service)}${path}`, request);
    assert.ok(status < 300, `${path}: ${status} ${text}`);
    const policies = headers.get('ratelimit-policy') ?? '';
    const named = Array.from(policies.matchAll(/"([\w-]+)";q=\d+;w=\d+/g), ([, name]) => name);
    assert.deepEqual(named, limits, `${service} ${path}`);
    if (limits.length > 0) assert.match(headers.get('ratelimit') ?? '', /^"[\w-]+";r=\d+;t=\d+/, path);
  }
});

test('pages of other origins may call the services that docs/api.md names', async () => {
  for (const { name, url } of system.sites()) {
    const { headers } = await fetch(`${url}/api/nothing`, { headers: { origin: 'https://other.example' } });
    const isOpen = ['tokens', 'passwordless'].includes(name);
    assert.equal(headers.get('access-control-allow-origin'), isOpen ? '*' : null, name);
  }
});

test('every /docs lists its operations without a script, and leads to docs/api.md', async () => {
  for (const { name, url } of system.sites()) {
    const page = await (await fetch(`${url}/docs`)).text();
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
    for (const path of Object.keys(paths))
      assert.ok(page.includes(`<code>${path}</code>`), `${name} ${path}`);
    assert.match(page, /href="\/docs\/conventions"/, name);
    assert.equal(await (await fetch(`${url}/docs/api.md`)).text(), text, name);
  }
});
