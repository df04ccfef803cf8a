import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startTestSystem } from '../../testing.ts';
import { assertError, castOf } from '../testing.ts';

const system = await startTestSystem();
after(() => system[Symbol.asyncDispose]());
const cast = await castOf(system);

describe('the analysis', () => {
  test('of nothing is zeros', async () => {
    const response = await cast.charlie.get('/posts/analytics');
    assert.equal(response.status, 200);
    assert.deepEqual(Object.keys(response.json), ['data', 'meta']);
    assert.deepEqual(Object.keys(response.json.meta), ['requestId', 'timestamp', 'duration']);
    assert.ok(Number.isInteger(response.json.meta.duration) && response.json.meta.duration > 0);
    assert.deepEqual(response.json.data, {
      totalPosts: 0,
      totalCharacters: 0,
      uniqueChars: 0,
      topCharacters: [],
      statistics: {
        averagePostLength: 0,
        medianPostLength: 0,
        postsPerUser: {},
        timeDistribution: { night: 0, morning: 0, afternoon: 0, evening: 0 },
      },
    });
  });

  test('counts code points of title and body', async () => {
    const first = await cast.alice.create({ title: 'aA', body: 'a 😀', userId: 3 });
    await cast.alice.create({ title: '😀', body: '😀a', userId: 3 });
    await cast.alice.create({ title: 'b', body: 'é', userId: Number.MAX_SAFE_INTEGER });
    const { data } = (await cast.charlie.get('/posts/analytics')).json;
    const { statistics, topCharacters, ...totals } = data;
    assert.deepEqual(totals, { totalPosts: 3, totalCharacters: 10, uniqueChars: 6 });
    assert.deepEqual(topCharacters, [
      { character: 'a', count: 3, frequency: 30 },
      { character: '😀', count: 3, frequency: 30 },
      { character: ' ', count: 1, frequency: 10 },
      { character: 'A', count: 1, frequency: 10 },
      { character: 'b', count: 1, frequency: 10 },
      { character: 'é', count: 1, frequency: 10 },
    ]);
    const { timeDistribution, ...rest } = statistics;
    assert.deepEqual(rest, {
      averagePostLength: 10 / 3,
      medianPostLength: 3,
      postsPerUser: { '3': 2, [Number.MAX_SAFE_INTEGER]: 1 },
    });
    assert.deepEqual(Object.keys(timeDistribution), ['night', 'morning', 'afternoon', 'evening']);
    const hour = new Date(first.createdAt).getUTCHours();
    const name = ['night', 'morning', 'afternoon', 'evening'][Math.floor(hour / 6)] as string;
    assert.ok(timeDistribution[name] >= 1);
  });

  test('follows every change', async () => {
    const { id } = await cast.alice.create({ title: 'x', body: 'xx', userId: 4 });
    await cast.alice.put(`/posts/${id}`, { body: 'xxxx' });
    const before = (await cast.charlie.get('/posts/analytics')).json.data;
    await cast.bob.delete(`/posts/${id}`);
    const { data } = (await cast.charlie.get('/posts/analytics')).json;
    assert.equal(before.totalCharacters - data.totalCharacters, 5);
    assert.equal(before.uniqueChars - data.uniqueChars, 1);
    assert.equal(data.statistics.postsPerUser['4'], undefined);
  });
});

test('the status is for admins', async () => {
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

test('an integration that is off is named', async () => {
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

  test('keep the id of a request', async () => {
    const kept = await cast.alice.get('/posts', { 'x-request-id': 'Alice_1.2-3' });
    assert.equal(kept.headers.get('x-request-id'), 'Alice_1.2-3');
    assert.equal(kept.json.meta.requestId, 'Alice_1.2-3');
    for (const id of ['a b', 'a'.repeat(129), 'é']) {
      const response = await cast.alice.get('/posts', { 'x-request-id': id });
      assert.match(response.json.meta.requestId, /^[0-9a-f-]{36}$/);
    }
  });
});

describe('pages of other origins', () => {
  test('may not call unless allowed', async () => {
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
