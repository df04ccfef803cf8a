import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@octavo/core';
import type { HttpApp } from './server.ts';
import { startTestServer, Wire } from './testing.ts';

/** A route that answers on demand, and reports when it was asked. */
function heldRoute() {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<object>();
  const addRoutes = (app: HttpApp): void => {
    app.get('/held', { access: 'public' }, () => {
      ask();
      return released;
    });
    app.get('/quick', { access: 'public' }, async () => ({ quick: true }));
  };
  return { addRoutes, asked, release: () => release({ held: true }) };
}

async function isRefused(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  }).then((refused) => {
    socket.destroy();
    return refused as boolean;
  });
}

describe('stopping', () => {
  test('finishes requests in flight, closes idle connections and accepts no new ones', async () => {
    const { addRoutes, asked, release } = heldRoute();
    const server = await startTestServer(addRoutes);
    await using idle = await Wire.open(server.port);
    idle.send('GET /quick HTTP/1.1', 'Host: x', '');
    await idle.until(/quick/);
    await using held = await Wire.open(server.port);
    held.send('GET /held HTTP/1.1', 'Host: x', '');
    await asked;
    const stopped = server[Symbol.asyncDispose]();
    await idle.closed;
    assert.equal(await isRefused(server.port), true);
    release();
    await held.closed;
    assert.match(held.received, /^HTTP\/1.1 200 .*\r\nconnection: close\r\n.*\{"held":true\}$/is);
    await stopped;
  });

  test('makes readiness 503 first and goes on serving while it drains', async () => {
    const server = await startTestServer(heldRoute().addRoutes, { limits: { drainMs: 1_000 } });
    const stopped = server[Symbol.asyncDispose]();
    const ready = await server.send('/readiness');
    assert.deepEqual([ready.status, ready.json], [503, { status: 'stopping', checks: {} }]);
    assert.equal(ready.headers.get('connection'), 'close');
    assert.equal((await server.send('/health')).status, 200);
    assert.deepEqual((await server.send('/quick')).json, { quick: true });
    await stopped;
    assert.equal(await isRefused(server.port), true);
  });

  test('closes a busy connection after its response', async () => {
    const { addRoutes, asked, release } = heldRoute();
    const server = await startTestServer(addRoutes);
    await using wire = await Wire.open(server.port);
    wire.send('GET /held HTTP/1.1', 'Host: x', '');
    await asked;
    const stopped = server[Symbol.asyncDispose]();
    wire.send('GET /readiness HTTP/1.1', 'Host: x', '');
    release();
    await wire.closed;
    await stopped;
    assert.match(wire.received, /"held":true/);
  });

  test('cuts requests that take longer than the grace time', async () => {
    const { addRoutes, asked } = heldRoute();
    const server = await startTestServer(addRoutes, { limits: { graceMs: 200 } });
    await using wire = await Wire.open(server.port);
    wire.send('GET /held HTTP/1.1', 'Host: x', '');
    await asked;
    const startMs = performance.now();
    await server[Symbol.asyncDispose]();
    await wire.closed;
    assert.ok(performance.now() - startMs >= 190);
    assert.equal(wire.received, '');
  });

  test('waits for a handler whose client has left', async () => {
    const order: string[] = [];
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const server = await startTestServer((app) => {
      app.get('/work', { access: 'public' }, async (_request, reply) => {
        const closed = once(app.server, 'close');
        reply.raw.once('close', leave);
        wire.socket.destroy();
        await closed;
        await sleep(100);
        order.push('handled');
        return {};
      });
    });
    await using wire = await Wire.open(server.port);
    wire.send('GET /work HTTP/1.1', 'Host: x', '');
    await left;
    await server[Symbol.asyncDispose]();
    order.push('stopped');
    assert.deepEqual(order, ['handled', 'stopped']);
  });

  test('waits for the grace time only, if such a handler does not end', async () => {
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    const server = await startTestServer(
      (app) => {
        app.get('/work', { access: 'public' }, (_request, reply) => {
          reply.raw.once('close', leave);
          wire.socket.destroy();
          return new Promise(() => undefined);
        });
      },
      { limits: { graceMs: 200 } },
    );
    await using wire = await Wire.open(server.port);
    wire.send('GET /work HTTP/1.1', 'Host: x', '');
    await left;
    const startMs = performance.now();
    await server[Symbol.asyncDispose]();
    assert.ok(performance.now() - startMs >= 190);
  });

  test('cuts connections that speak another protocol after the grace time', async () => {
    const server = await startTestServer(
      (app) => {
        app.server.on('upgrade', (_request, socket) =>
          socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
        );
      },
      { limits: { graceMs: 100 } },
    );
    await using wire = await Wire.open(server.port);
    wire.send('GET /echo HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: echo', '');
    await wire.until(/101/);
    await server[Symbol.asyncDispose]();
    await wire.closed;
  });

  test('is immediate where nothing is in flight, also when called twice', { timeout: 60_000 }, async () => {
    const server = await startTestServer(heldRoute().addRoutes, { limits: { graceMs: 600_000 } });
    await server.send('/quick');
    await Promise.all([server[Symbol.asyncDispose](), server[Symbol.asyncDispose]()]);
  });

  test('loses no request of busy clients', async () => {
    const server = await startTestServer(
      (app) => {
        app.get('/work', { access: 'public' }, async () => {
          await sleep(5);
          return { done: true };
        });
      },
      { limits: { drainMs: 1_000 } },
    );
    let isStopping = false;
    const ask = async () => {
      let served = 0;
      while (!isStopping) {
        const { status } = await server.send('/work');
        assert.equal(status, 200);
        served++;
      }
      return served;
    };
    const clients = Array.from({ length: 8 }, ask);
    await sleep(100);
    const stopped = server[Symbol.asyncDispose]();
    await sleep(100);
    isStopping = true;
    assert.ok((await Promise.all(clients)).every((served) => served > 0));
    await stopped;
  });
});

describe('listening', () => {
  test('on a port that is taken says which', async () => {
    await using server = await startTestServer(() => undefined);
    await assert.rejects(
      startTestServer(() => undefined, { port: server.port }),
      (error: AppError) => {
        assert.ok(error instanceof AppError);
        assert.equal(error.message, `port ${server.port} on 127.0.0.1 is in use`);
        return true;
      },
    );
  });

  test('on port 0 takes a free one, and logs it', async () => {
    await using server = await startTestServer(() => undefined);
    assert.ok(server.port > 0);
    assert.equal(server.log.find(({ msg }) => msg === 'listening')?.url, server.url);
  });
});
