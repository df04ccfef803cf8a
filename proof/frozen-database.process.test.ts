import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { startGate, testDatabaseUrl } from '@octavo/testing/engines';
import { startSystem, upNames } from '../apps/octavo/index.ts';

const { url, skip } = await testDatabaseUrl();
/** Wide, for a busy machine: requests wait for five seconds, and would wait for 61 without their deadline. */
const worstMs = 30_000;

const account = { email: 'a@example.com', username: 'a', password: 'a password' };

/** Requests that read or write the database, by service. Chat takes strangers where it has no keys. */
const requests: Readonly<
  Record<string, readonly (readonly [method: string, path: string, body?: object])[]>
> = {
  gateway: [['POST', '/api/v1/auth/login', account]],
  passwordless: [
    ['POST', '/request/magic', account],
    ['POST', '/token/refresh', { refresh_token: 'unknown' }],
  ],
  polls: [
    ['GET', '/polls/'],
    ['GET', '/api/questions/'],
    ['POST', '/api/questions/1/vote/', { choice: 1 }],
  ],
  quotes: [
    ['GET', '/'],
    ['GET', '/api/quotes/'],
    ['POST', '/api/token/', account],
  ],
  budgets: [
    ['POST', '/api/auth/login', account],
    ['POST', '/api/auth/register', account],
  ],
  chat: [
    ['GET', '/'],
    ['POST', '/api/session', {}],
    ['POST', '/api/search', { query: 'Who?' }],
  ],
  portfolio: [
    ['GET', '/'],
    ['GET', '/team'],
  ],
};

test('while PostgreSQL is frozen, every service says so within seconds', {
  skip,
  timeout: 180_000,
}, async () => {
  const target = new URL(url as string);
  const gate = await startGate(`${target.hostname}:${target.port || 5432}`);
  target.host = gate.address;
  const environment = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    OCTAVO_DATA: testFolder('frozen-database'),
    DATABASE_URL: target.href,
    ARGON2_MEMORY_KIB: '8',
    ARGON2_PASSES: '1',
  };
  const names = upNames();
  const ports = Object.fromEntries(names.map((name) => [name, 0]));
  await using system = await startSystem(names, { environment, ports });
  const sites = (await system.addresses()).filter(({ name }) => requests[name]);
  const all = sites.flatMap(({ name, url: site }) =>
    (requests[name] ?? []).map(([method, path, body]) => ({ name, site, method, path, body })),
  );
  const ask = async ({ name, site, method, path, body }: (typeof all)[number]) => {
    const startedMs = performance.now();
    const { status } = await fetch(new URL(path, site), {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const tookMs = Math.round(performance.now() - startedMs);
    return { what: `${name} ${method} ${path}`, status, tookMs };
  };
  const readinessOf = async (site: string) => {
    const startedMs = performance.now();
    const response = await fetch(new URL('/readiness', site));
    const { checks } = (await response.json()) as { checks: Record<string, string> };
    return { status: response.status, tookMs: performance.now() - startedMs, checks };
  };
  const before = await Promise.all(all.map(ask));
  assert.deepEqual(
    before.filter(({ status }) => status >= 500),
    [],
  );
  gate.freeze();
  // The first requests meet connections that are open, the next ones must open their own.
  for (const _ of ['first', 'second']) {
    const answers = await Promise.all(all.map(ask));
    const late = answers.filter(({ status, tookMs }) => ![503, 504].includes(status) || tookMs > worstMs);
    assert.deepEqual(late, []);
  }
  for (const { name, url: site } of sites) {
    const { status, tookMs, checks } = await readinessOf(site);
    assert.deepEqual([status, tookMs <= worstMs], [503, true], `${name}: ${JSON.stringify(checks)}`);
    assert.ok(
      Object.values(checks).some((verdict) => verdict !== 'ok'),
      name,
    );
    assert.equal((await fetch(new URL(name === 'chat' ? '/livez' : '/health', site))).status, 200, name);
  }
  gate.thaw();
});
