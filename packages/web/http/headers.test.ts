import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { HttpApp } from './server.ts';
import { exchange, startTestServer, type TestServer } from './testing.ts';

function addRoutes(app: HttpApp): void {
  app.get('/notes', { access: 'public' }, async ({ id, trace }) => ({ id, trace }));
  app.put('/notes', { access: 'public' }, async () => ({}));
  app.get('/page', { access: 'public' }, async (_request, reply) =>
    reply.header('content-security-policy', "default-src 'self'").type('text/html').send('<p>'),
  );
}

let server: TestServer;
before(async () => {
  server = await startTestServer(addRoutes);
});
after(() => server[Symbol.asyncDispose]());

describe('headers of a request', () => {
  test('that have one value may not be repeated', async () => {
    const pairs = [
      ['Authorization: Bearer a', 'authorization: Bearer b'],
      ['Host: y', 'X-Other: 1'],
      ['Content-Type: application/json', 'Content-Type: text/plain'],
      ['Content-Length: 0', 'Content-Length: 0'],
      ['Origin: http://a', 'Origin: http://b'],
    ];
    for (const pair of pairs) {
      const answer = await exchange(
        server.port,
        'PUT /notes HTTP/1.1',
        'Host: x',
        ...pair,
        'Connection: close',
        '',
      );
      assert.match(answer, /^HTTP\/1.1 400 .*"INVALID_INPUT"/s, pair.join());
    }
    const list = ['Accept: a', 'Accept: b', 'Cookie: a=1', 'Cookie: b=2', 'Connection: close'];
    assert.match(
      await exchange(server.port, 'GET /notes HTTP/1.1', 'Host: x', ...list, ''),
      /^HTTP\/1.1 200 /,
    );
  });

  test('must name the host, from HTTP/1.1 on', async () => {
    const answer = await exchange(
      server.port,
      'GET /notes HTTP/1.1',
      '',
      'GET /notes HTTP/1.1',
      'Host: x',
      '',
    );
    assert.match(answer, /^HTTP\/1.1 400 .*\r\nconnection: close\r\n.*The header Host is required/is);
    assert.equal(answer.match(/HTTP\/1.1/g)?.length, 1, 'nothing else is read from the connection');
    assert.match(await exchange(server.port, 'GET /notes HTTP/1.0', ''), /^HTTP\/1.1 200 /);
  });

  test('may name the request', async () => {
    for (const id of ['a', 'A1._-', 'x'.repeat(128)]) {
      const { headers, json } = await server.send('/notes', { headers: { 'x-request-id': id } });
      assert.deepEqual([headers.get('x-request-id'), (json as { id: string }).id], [id, id]);
    }
    for (const id of ['', 'a b', 'ä', 'x'.repeat(129), 'a/b', '<script>']) {
      const { headers } = await server.send('/notes', {
        headers: { 'x-request-id': encodeURI(id) === id ? id : 'a b' },
      });
      assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/, id);
    }
    const twice = ['X-Request-Id: a', 'X-Request-Id: b', 'Connection: close'];
    const answer = await exchange(server.port, 'GET /notes HTTP/1.1', 'Host: x', ...twice, '');
    assert.match(answer, /\r\nx-request-id: [0-9a-f-]{36}\r\n/);
  });

  test('may continue a trace', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traced = await server.send('/notes', {
      headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` },
    });
    const { trace } = traced.json as { trace: { traceId: string; spanId: string; sampled: boolean } };
    assert.deepEqual([trace.traceId, trace.sampled], [traceId, true]);
    assert.match(trace.spanId, /^[0-9a-f]{16}$/);
    assert.notEqual(trace.spanId, '00f067aa0ba902b7');
    const other = (await server.send('/notes', { headers: { traceparent: 'nonsense' } })).json as {
      trace: object;
    };
    assert.match(JSON.stringify(other.trace), /"traceId":"[0-9a-f]{32}"/);
  });
});

describe('headers of a response', () => {
  const expected = {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-powered-by': null,
    server: null,
    'access-control-allow-origin': null,
    'strict-transport-security': null,
  };

  test('restrict browsers, whatever the response is', async () => {
    const answers = [
      await server.send('/notes'),
      await server.send('/notes', { method: 'HEAD' }),
      await server.send('/notes', { method: 'OPTIONS' }),
      await server.send('/notes', { method: 'DELETE' }),
      await server.send('/nowhere'),
      await server.send('/notes/%zz'),
      await server.send('/health'),
      await server.send('/openapi.json'),
      await server.send('/docs/scalar.js'),
    ];
    for (const { headers } of answers) {
      for (const [name, value] of Object.entries(expected)) assert.equal(headers.get(name), value);
    }
  });

  test('are not repeated, and a route can replace them', async () => {
    const answer = await exchange(server.port, 'GET /page HTTP/1.1', 'Host: x', 'Connection: close', '');
    assert.equal(answer.match(/content-security-policy/g)?.length, 1);
    assert.match(answer, /content-security-policy: default-src 'self'\r\n/);
    assert.equal(answer.match(/x-content-type-options/g)?.length, 1);
  });
});

describe('pages of other origins', () => {
  const origin = 'https://pages.example';
  const ask = { origin, 'access-control-request-method': 'PUT' };

  test('may do nothing by default', async () => {
    const { status, headers } = await server.send('/notes', { method: 'OPTIONS', headers: ask });
    assert.equal(status, 204);
    assert.deepEqual(
      [...headers.keys()].filter((name) => name.startsWith('access-control')),
      [],
    );
  });

  test('may read responses where the setting is *, never with cookies', async () => {
    await using open = await startTestServer(addRoutes, { corsOrigin: '*' });
    for (const path of ['/notes', '/nowhere']) {
      const { headers } = await open.send(path, { headers: { origin } });
      assert.equal(headers.get('access-control-allow-origin'), '*');
      assert.equal(headers.get('access-control-allow-credentials'), null);
      assert.match(headers.get('access-control-expose-headers') ?? '', /Retry-After/);
      assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin');
    }
    const { status, headers } = await open.send('/notes', { method: 'OPTIONS', headers: ask });
    assert.deepEqual([status, headers.get('access-control-max-age')], [204, '600']);
    assert.match(headers.get('access-control-allow-methods') ?? '', /PUT/);
    assert.match(headers.get('access-control-allow-headers') ?? '', /Authorization.*If-None-Match/);
  });

  test('may read responses where they are listed', async () => {
    await using listed = await startTestServer(addRoutes, { corsOrigin: `https://other.example, ${origin}` });
    const known = await listed.send('/notes', { headers: { origin } });
    assert.equal(known.headers.get('access-control-allow-origin'), origin);
    assert.equal(known.headers.get('vary'), 'Origin');
    for (const stranger of [
      'https://evil.example',
      'null',
      `${origin}.evil.example`,
      'http://pages.example',
    ]) {
      const { status, headers } = await listed.send('/notes', { headers: { origin: stranger } });
      assert.deepEqual([status, headers.get('access-control-allow-origin')], [200, null], stranger);
      assert.equal(headers.get('vary'), 'Origin');
      const asked = await listed.send('/notes', { method: 'OPTIONS', headers: { ...ask, origin: stranger } });
      assert.deepEqual([asked.status, asked.headers.get('access-control-allow-methods')], [204, null]);
    }
    assert.equal(
      (await listed.send('/notes', { method: 'OPTIONS', headers: ask })).headers.get(
        'access-control-allow-origin',
      ),
      origin,
    );
  });
});
