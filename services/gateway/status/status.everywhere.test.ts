import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '@octavo/octavo/testing';
import { assertError, castOf, signedIn } from '../testing.ts';
import { uptimeText } from './status.ts';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);

test('the status is for administrators', async () => {
  const response = await cast.bob.get('/admin/status');
  assert.equal(response.status, 200);
  assert.deepEqual(Object.keys(response.json), ['data']);
  const { uptime, rpc, ...rest } = response.json.data;
  assert.match(uptime, /^(\d+h)?(\d+m)?\d+(\.\d+)?(ms|s)$/);
  assert.deepEqual(rest, {
    environment: 'test',
    integrations: {
      objectStore: true,
      messageBroker: true,
      eventStream: true,
      inferenceServer: true,
      cache: false,
      tracing: false,
    },
    requestedBy: 'admin',
  });
  const address = process.env.TEST_RPC === 'remote' ? /^127\.0\.0\.1:\d+$/ : /^in-process$/;
  assert.deepEqual(Object.keys(rpc), ['postsvc', 'authsvc']);
  for (const place of Object.values(rpc)) assert.match(String(place), address);
});

test('the status page shows the same as the API', async () => {
  const bob = await signedIn(system, 'bob');
  const { html } = await bob.open('/status');
  assert.match(html, /in-process|127\.0\.0\.1:\d+/);
  assert.match(html, /Stored exports<\/td>[^<]*<td[^>]*><span class="badge good">OK/);
  assert.match(html, /Cache<\/td>[^<]*<td[^>]*><span class="badge plain">off/);
  assert.match(html, /Uptime<\/dt><dd>\d+ (second|minute)/);
  const { version } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'));
  assert.ok(html.includes(`Octavo ${version}`));
  assert.ok(html.includes(process.versions.node));
  const engine = process.env.TEST_DATABASE === 'postgres' ? 'PostgreSQL' : 'SQLite';
  assert.equal(html.match(new RegExp(`>${engine} \\d+[.\\d]*<`, 'g'))?.length, 2);
});

test('a request that needs a disabled integration names it', async () => {
  await using bare = await startTestSystem({
    OBJECT_STORE: 'off',
    INFERENCE: 'off',
    MESSAGE_BROKER: 'off',
    EVENT_STREAM: 'off',
  });
  const { bob, charlie, stranger } = await castOf(bare);
  const rows: [string, string, string][] = [
    ['GET', '/exports', 'objectStore'],
    ['GET', '/exports/exports/posts_export_20260131_081500.json', 'objectStore'],
    ['GET', '/exports/exports%2Fposts_export_20260131_081500.json', 'objectStore'],
    ['GET', '/exports/posts_export_20260131_081500.csv', 'objectStore'],
    ['GET', '/exports/nonsense', 'objectStore'],
    ['POST', '/posts/reanalyze', 'messageBroker'],
    ['GET', '/posts/reanalyze/7b9e', 'messageBroker'],
    ['DELETE', '/posts/reanalyze/7b9e', 'messageBroker'],
    ['POST', '/ml/sentiment', 'inferenceServer'],
    ['GET', '/posts/1/sentiment', 'inferenceServer'],
  ];
  for (const [method, path, integration] of rows) {
    const response = await bob.call(method, path);
    assert.deepEqual(assertError(response, 503, 'INTEGRATION_DISABLED'), { integration }, path);
    assert.equal(response.headers.get('retry-after'), null, path);
  }
  assertError(await stranger.get('/exports'), 401, 'UNAUTHORIZED');
  const { integrations } = (await bob.get('/admin/status')).json.data;
  assert.deepEqual(new Set(Object.values(integrations)), new Set([false]));
  assert.deepEqual((await charlie.get('/posts/export')).json, []);
});

describe('the probes', () => {
  test('need no token', async () => {
    await cast.charlie.get('/posts/1');
    const health = await fetch(`${system.url}/health`);
    assert.deepEqual([health.status, await health.json()], [200, { status: 'ok' }]);
    const readiness = await fetch(`${system.url}/readiness`);
    assert.equal(readiness.status, 200);
    assert.deepEqual(await readiness.json(), { status: 'ready', checks: { postsvc: 'ok', authsvc: 'ok' } });
    const metrics = await fetch(`${system.url}/metrics`);
    assert.equal(metrics.status, 200);
    assert.match(metrics.headers.get('content-type') ?? '', /^text\/plain/);
    assert.match(await metrics.text(), /route="\/api\/v1\/posts\/:id"/);
  });

  test('and all other routes keep the id of a request', async () => {
    const response = await cast.alice.get('/posts', { 'x-request-id': 'Alice_1.2-3' });
    assert.equal(response.headers.get('x-request-id'), 'Alice_1.2-3');
    assert.equal(response.json.meta.requestId, 'Alice_1.2-3');
    for (const id of ['a b', 'a'.repeat(129), 'é']) {
      const response = await cast.alice.get('/posts', { 'x-request-id': id });
      assert.match(response.json.meta.requestId, /^[0-9a-f-]{36}$/);
    }
  });
});

describe('other origins', () => {
  test('may call the API only if they are allowed', async () => {
    const origin = { origin: 'https://friend.example' };
    assert.equal((await cast.alice.get('/posts', origin)).headers.get('access-control-allow-origin'), null);
    await using open = await startTestSystem({ CORS_ORIGIN: 'https://friend.example' });
    const { alice } = await castOf(open);
    const allowed = await alice.get('/posts', origin);
    assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://friend.example');
    const other = await alice.get('/posts', { origin: 'https://charlie.example' });
    assert.equal(other.headers.get('access-control-allow-origin'), null);
    const preflight = await alice.call('OPTIONS', '/posts', {
      headers: { ...origin, 'access-control-request-method': 'POST' },
    });
    assert.equal(preflight.status, 204);
    assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /authorization/i);
  });
});

test('the uptime has units', () => {
  const hourMs = 3_600_000;
  const cases: [number, string][] = [
    [0, '0s'],
    [1, '1ms'],
    [999.9, '999ms'],
    [1_000, '1s'],
    [1_500, '1.5s'],
    [60_000, '1m0s'],
    [hourMs, '1h0m0s'],
    [72 * hourMs + 180_500, '72h3m0.5s'],
  ];
  for (const [ms, text] of cases) assert.equal(uptimeText(ms), text);
});
