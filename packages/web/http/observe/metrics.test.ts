import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { measureCache } from '@octavo/core';
import type { HttpApp } from '../server.ts';
import { exchange, startTestServer, type TestServer, Wire } from '../testing.ts';

function addRoutes(app: HttpApp): void {
  app.get<{ Params: { id: string } }>('/notes/:id', { access: 'public' }, async ({ params }) => {
    if (params.id === '7') throw new Error('broken');
    return { id: params.id };
  });
  app.post('/notes', { access: 'public', schema: { body: { type: 'object' } } }, async () => ({}));
}

async function metricsOf(server: TestServer, name: string): Promise<Record<string, number>> {
  const { text } = await server.send('/metrics');
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return Object.fromEntries(
    lines.map((line) => [line.slice(name.length, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
}

describe('metrics', () => {
  test('count requests by route template, method and status', async () => {
    await using server = await startTestServer(addRoutes);
    for (const path of ['/notes/1', '/notes/2?x=1', '/notes/7', '/nowhere', '/notes/%zz', '/elsewhere']) {
      await server.send(path);
    }
    await server.send('/notes/3', { method: 'HEAD' });
    await server.send('/notes/3', { method: 'PATCH' });
    await server.send('/notes', { body: '[' });
    await server.send('/notes', { body: 'x', headers: { 'content-type': 'text/plain' } });
    await exchange(server.port, 'nonsense', '');
    assert.deepEqual(await metricsOf(server, 'http_request_duration_seconds_count'), {
      '{route="unmatched",method="GET",status="404"}': 2,
      '{route="unmatched",method="GET",status="400"}': 1,
      '{route="/notes/:id",method="GET",status="200"}': 2,
      '{route="/notes/:id",method="GET",status="500"}': 1,
      '{route="/notes/:id",method="HEAD",status="200"}': 1,
      '{route="/notes/:id",method="PATCH",status="405"}': 1,
      '{route="/notes",method="POST",status="400"}': 1,
      '{route="/notes",method="POST",status="415"}': 1,
    });
  });

  test('put each duration in its buckets', async () => {
    await using server = await startTestServer((app) => {
      app.get(
        '/slow',
        { access: 'public' },
        async () => new Promise((resolve) => setTimeout(() => resolve({}), 120)),
      );
    });
    await server.send('/slow');
    const buckets = await metricsOf(server, 'http_request_duration_seconds_bucket');
    const of = (le: string) => buckets[`{le="${le}",route="/slow",method="GET",status="200"}`];
    assert.deepEqual([of('0.1'), of('2.5'), of('+Inf')], [0, 1, 1]);
    const sums = await metricsOf(server, 'http_request_duration_seconds_sum');
    assert.ok((sums['{route="/slow",method="GET",status="200"}'] ?? 0) >= 0.1);
  });

  test('show requests in flight, and count clients that went away as 499', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<object>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    await using server = await startTestServer((app) => {
      app.get('/slow', { access: 'public' }, (_request, reply) => {
        reply.raw.once('close', () => reply.server.server.emit('test:gone'));
        ask();
        return released;
      });
    });
    assert.deepEqual(await metricsOf(server, 'http_requests_in_flight'), { '': 1 });
    const wire = await Wire.open(server.port);
    wire.send('GET /slow HTTP/1.1', 'Host: x', '');
    await asked;
    assert.deepEqual(await metricsOf(server, 'http_requests_in_flight'), { '': 2 });
    const gone = once(server.server.app.server, 'test:gone');
    await wire[Symbol.asyncDispose]();
    await gone;
    release({});
    assert.deepEqual(await metricsOf(server, 'http_requests_in_flight'), { '': 1 });
    const counts = await metricsOf(server, 'http_request_duration_seconds_count');
    assert.equal(counts['{route="/slow",method="GET",status="499"}'], 1);
  });

  test('are what Prometheus takes, without complaint', async (t) => {
    await using server = await startTestServer(addRoutes);
    measureCache('notes', server, () => 7);
    await server.send('/notes/1');
    const { text, headers } = await server.send('/metrics');
    assert.match(headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    assert.match(text, /^process_cpu_seconds_total \d/m);
    assert.match(text, /^cache_bytes\{cache="\w/m);
    assert.match(text, /^event_loop_delay_seconds_bucket\{le="0\.1"\} \d/m);
    const { error, status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
    });
    if (error && process.env.CI !== 'true') t.skip('promtool is not installed');
    else assert.deepEqual([status, stdout, stderr], [0, '', '']);
  });

  test('of two servers in one process stay apart', async () => {
    await using one = await startTestServer(addRoutes);
    await using other = await startTestServer(addRoutes);
    await one.send('/notes/1');
    assert.deepEqual(await metricsOf(other, 'http_request_duration_seconds_count'), {});
  });
});

describe('the log', () => {
  test('has a line for each response where the access log is on', async () => {
    await using server = await startTestServer(addRoutes, { accessLog: 'info' });
    const headers = { 'x-request-id': 'r1', authorization: 'Bearer secret-1' };
    await server.send('/notes/1?search=secret-2', { headers });
    await metricsOf(server, 'x');
    const line = server.log.find(({ msg, requestId }) => msg === 'request' && requestId === 'r1');
    const { level, method, route, status, durationMs, address } = line ?? {};
    assert.deepEqual(
      { level, method, route, status, address },
      {
        level: 'info',
        method: 'GET',
        route: '/notes/:id',
        status: 200,
        address: '127.0.0.1',
      },
    );
    assert.equal(typeof durationMs, 'number');
    assert.doesNotMatch(JSON.stringify(server.log), /secret/);
  });

  test('names the user, and the request also in lines of handlers', async () => {
    await using server = await startTestServer(
      (app) => {
        app.get('/me', { access: 'public' }, async (request) => {
          request.userId = 7;
          request.log.info('looked up');
          return {};
        });
      },
      { accessLog: 'info' },
    );
    await server.send('/me', { headers: { 'x-request-id': 'r2' } });
    await metricsOf(server, 'x');
    const lines = server.log.filter(({ requestId }) => requestId === 'r2');
    assert.deepEqual(
      lines.map(({ msg, userId }) => [msg, userId]),
      [
        ['looked up', undefined],
        ['request', 7],
      ],
    );
  });

  test('has the address and status of a request whose body did not arrive', async () => {
    await using server = await startTestServer(addRoutes, { accessLog: 'info' });
    const arriving = once(server.server.app.server, 'request');
    await using wire = await Wire.open(server.port);
    wire.send('POST /notes HTTP/1.1', 'Host: x', 'X-Request-Id: slow', 'Content-Type: application/json');
    wire.send('Content-Length: 9', '', '{');
    await arriving;
    server.expireRequests();
    await wire.closed;
    assert.match(wire.received, /^HTTP\/1.1 408 .*\r\nx-request-id: slow\r\n/s);
    await metricsOf(server, 'x');
    const line = server.log.find(({ msg, requestId }) => msg === 'request' && requestId === 'slow');
    assert.deepEqual([line?.status, line?.address], [408, '127.0.0.1']);
  });
});
