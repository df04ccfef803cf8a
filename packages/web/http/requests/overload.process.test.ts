import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { sendEvents } from '../responses/event-stream.ts';
import { sendStream } from '../responses/stream.ts';
import type { HttpApp } from '../server.ts';
import { startTestServer, Wire } from '../testing.ts';
import { acceptWebSockets } from '../web-sockets.ts';

const workMs = 10;

function addRoutes(app: HttpApp): void {
  app.get('/work', { access: 'public' }, async () => {
    const endMs = performance.now() + workMs;
    while (performance.now() < endMs);
    return { done: true };
  });
}

/**
 * Asks `/work` on many connections from a process of its own for a while, and a probe; counts the statuses. All connections are
 * accepted before: a busy server accepts one a turn.
 */
const storm = `
  const { connect } = require('node:net');
  const { once } = require('node:events');
  const [port, connections, durationMs] = process.argv.slice(1).map(Number);
  const request = (path) => 'GET ' + path + ' HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n';
  const counts = {};
  let retryAfter = true;
  let endMs = 0;
  async function open() {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => { counts.failed = (counts.failed ?? 0) + 1; });
    socket.write(request('/health'));
    await once(socket, 'data');
    return socket;
  }
  function ask(socket) {
    socket.on('data', (bytes) => {
      const text = String(bytes);
      const status = text.slice(9, 12);
      counts[status] = (counts[status] ?? 0) + 1;
      if (status === '503') retryAfter &&= /retry-after: 1/.test(text) && /SERVICE_UNAVAILABLE/.test(text);
      if (Date.now() < endMs) setTimeout(() => socket.write(request('/work')), status === '503' ? 50 : 0);
    });
    socket.write(request('/work'));
  }
  async function probe() {
    while (Date.now() < endMs) {
      const { status } = await fetch('http://127.0.0.1:' + port + '/health');
      counts['probe ' + status] = (counts['probe ' + status] ?? 0) + 1;
    }
    process.send({ counts, retryAfter });
    process.exit();
  }
  Promise.all(Array.from({ length: connections }, open)).then((sockets) => {
    endMs = Date.now() + durationMs;
    for (const socket of sockets) ask(socket);
    return probe();
  });
`;

describe('requests in flight', () => {
  test('do not include sockets and responses that are being streamed', { timeout: 60_000 }, async () => {
    await using server = await startTestServer(
      (app) => {
        app.register(async (scope) => {
          await acceptWebSockets(scope, { messageBytesMax: 1_000, protocols: [] });
          scope.route({
            method: 'GET',
            url: '/socket',
            access: 'public',
            handler: () => 'no socket',
            wsHandler: () => {},
          });
        });
        app.get('/events', { access: 'public' }, (_request, reply) => sendEvents(reply, forever()));
      },
      { limits: { inFlight: 1, graceMs: 100 } },
    );
    async function* forever() {
      for (;;) {
        yield undefined;
        await setTimeout(50);
      }
    }
    const away = new AbortController();
    for (let count = 0; count < 3; count++) {
      const { status } = await fetch(`${server.url}/events`, { signal: away.signal });
      assert.equal(status, 200);
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/socket`);
      await once(socket, 'open');
    }
    assert.equal((await server.send('/openapi.json')).status, 200);
    assert.match((await server.send('/metrics')).text, /^http_requests_in_flight 1$/m);
    away.abort();
  });
});

describe('a server with more work than it can do', () => {
  test('serves what it can, answers 503 to the rest at once, and always answers probes', async () => {
    await using server = await startTestServer(addRoutes, { limits: { eventLoopDelayMs: 300 } });
    const child = spawn(process.execPath, ['-e', storm, String(server.port), '200', '8000'], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const [{ counts, retryAfter }] = (await once(child, 'message')) as [Storm];
    assert.ok((counts['200'] ?? 0) > 100, JSON.stringify(counts));
    assert.ok((counts['503'] ?? 0) > 0, JSON.stringify(counts));
    assert.equal(retryAfter, true);
    assert.deepEqual(
      Object.keys(counts).filter((key) => !['200', '503', 'probe 200'].includes(key)),
      [],
    );
    assert.ok((counts['probe 200'] ?? 0) > 0);
    assert.equal((await server.send('/work')).status, 200);
    const told = server.log.filter(({ msg }) => msg === 'overloaded');
    assert.ok(told.length > 0 && told.length < 8, `${told.length} lines`);
    assert.equal(server.log.filter(({ level }) => level === 'warn').length, told.length);
  });

  test('does not count one pause as overload', async () => {
    await using server = await startTestServer(
      (app) => {
        addRoutes(app);
        app.get('/pause', { access: 'public' }, async () => {
          const endMs = performance.now() + 700;
          while (performance.now() < endMs);
          return {};
        });
      },
      { limits: { eventLoopDelayMs: 300 } },
    );
    const [, ...others] = await Promise.all([
      server.send('/pause'),
      ...Array.from({ length: 10 }, () => server.send('/work')),
    ]);
    assert.deepEqual(
      others.map(({ status }) => status),
      Array(10).fill(200),
    );
  });

  test('refuses more requests in flight than its limit', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<object>();
    await using server = await startTestServer(
      (app) => {
        app.get('/held', { access: 'public' }, () => released);
      },
      { limits: { inFlight: 3 } },
    );
    const held = Array.from({ length: 3 }, () => server.send('/held'));
    while (!/^http_requests_in_flight 4$/m.test((await server.send('/metrics')).text));
    const refused = await server.send('/held');
    assert.deepEqual([refused.status, refused.error.code], [503, 'SERVICE_UNAVAILABLE']);
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.equal((await server.send('/health')).status, 200);
    assert.equal((await server.send('/readiness')).status, 200);
    release({});
    for (const { status } of await Promise.all(held)) assert.equal(status, 200);
  });

  test('closes connections beyond its limit', async () => {
    await using server = await startTestServer(addRoutes, { limits: { connections: 2 } });
    await using one = await Wire.open(server.port);
    await using two = await Wire.open(server.port);
    await using three = await Wire.open(server.port);
    await three.closed;
    for (const wire of [one, two]) {
      wire.send('GET /health HTTP/1.1', 'Host: x', '');
      await wire.until(/200 OK/);
    }
  });

  test('closes connections of clients that do not read their response', async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    await using server = await startTestServer(
      (app) => {
        app.get('/endless', { access: 'public' }, (_request, reply) => sendStream(reply, endless()));
      },
      { limits: { stalledMs: 200 } },
    );
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(64 * 1024);
      } finally {
        end();
      }
    }
    await using wire = await Wire.open(server.port);
    wire.socket.pause();
    wire.send('GET /endless HTTP/1.1', 'Host: x', '');
    await ended;
  });

  test('closes connections that are idle for too long', async () => {
    await using server = await startTestServer(addRoutes, { limits: { keepAliveTimeoutMs: 100 } });
    await using wire = await Wire.open(server.port);
    wire.send('GET /health HTTP/1.1', 'Host: x', '');
    await wire.closed;
    assert.match(wire.received, /^HTTP\/1.1 200 /);
  });

  test('leaves connections alone that speak another protocol', async () => {
    await using server = await startTestServer(
      (app) => {
        app.server.on('upgrade', (_request, socket) => {
          socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
          socket.pipe(socket);
        });
      },
      { limits: { keepAliveTimeoutMs: 100, graceMs: 100 } },
    );
    await using wire = await Wire.open(server.port);
    wire.send('GET /echo HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: echo', '');
    await wire.until(/101/);
    await setTimeout(400);
    wire.send('still there');
    await wire.until(/still there/);
  });
});

interface Storm {
  readonly counts: Readonly<Record<string, number>>;
  readonly retryAfter: boolean;
}
