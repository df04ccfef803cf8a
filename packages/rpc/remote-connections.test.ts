import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '@octavo/core';
import { clientOf, handlersWith, listen, rowOf, serveTest, signalOf } from './testing.ts';

test('connections are bounded, reused, and survive errors', async () => {
  await using server = await serveTest(
    handlersWith({
      async read({ text }) {
        await wait(2);
        return { row: rowOf(1, text) };
      },
      async write() {
        throw new AppError('conflict', 'no');
      },
    }),
  );
  await using client = clientOf(server.url, { timeoutMs: 60_000 });
  await Promise.all(Array.from({ length: 500 }, () => client.read({ text: '' })));
  assert.equal(await server.connections(), 64);
  for (let call = 0; call < 10; call += 1) await assert.rejects(client.write({ row: undefined }));
  assert.equal(await server.connections(), 64);
  for (let call = 0; call < 10; call += 1) await Array.fromAsync(client.watch({ count: 2 }));
  assert.ok((await server.connections()) <= 66, 'streams take turns on two more');
  assert.ok(server.accepted() <= 66, 'none was replaced');
});

test('a connection that the server is about to close is not reused', async () => {
  await using server = await serveTest(handlersWith(), { limits: { keepAliveTimeoutMs: 40 } });
  await using client = clientOf(server.url);
  for (let call = 0; call < 10; call += 1) {
    await client.write({ row: undefined });
    await wait(4 * call);
  }
});

test('a call that times out while it waits for a connection is not sent, and costs no connection', async () => {
  const texts: string[] = [];
  const released = signalOf<void>();
  await using server = await serveTest(
    handlersWith({
      async read({ text }) {
        texts.push(text);
        await released.promise;
        return { row: undefined };
      },
    }),
  );
  await using client = clientOf(server.url);
  const first = Array.from({ length: 64 }, () => client.read({ text: 'first' }));
  const late = Array.from({ length: 10 }, () => client.read({ text: 'late' }, { timeoutMs: 50 }));
  for (const call of late) await assert.rejects(call, { code: 'timeout' });
  const last = client.read({ text: 'last' });
  released.tell();
  await Promise.all([...first, last]);
  assert.deepEqual(new Set(texts), new Set(['first', 'last']));
  assert.equal(server.accepted(), 64);
});

test('a connection that the server closed or cut while it was idle is replaced', async () => {
  await using server = await serveTest(handlersWith());
  await using client = clientOf(server.url);
  for (let call = 1; call <= 5; call += 1) {
    await client.write({ row: undefined });
    assert.equal(server.accepted(), call);
    server.cut();
    while ((await server.connections()) > 0) await wait(1);
    await wait(5);
  }
});

test('a disposed client lets calls finish, and makes no more', async () => {
  const released = signalOf<void>();
  await using server = await serveTest(
    handlersWith({
      async write() {
        await released.promise;
        return { id: 7 };
      },
    }),
  );
  const client = clientOf(server.url);
  const stream = client.watch({ count: 1_000_000 })[Symbol.asyncIterator]();
  await stream.next();
  const write = client.write({ row: undefined });
  const disposed = client[Symbol.asyncDispose]();
  await assert.rejects(
    async () => {
      for (;;) await stream.next();
    },
    { code: 'unavailable' },
  );
  await assert.rejects(client.read({ text: '' }), { code: 'unavailable' });
  released.tell();
  assert.equal((await write).id, 7);
  await disposed;
  await client[Symbol.asyncDispose]();
});

test('open and waiting streams are cut when their client is disposed', async () => {
  const full = signalOf<void>();
  let open = 0;
  await using server = await serveTest(
    handlersWith({
      async *watch() {
        yield { rows: [] };
        open += 1;
        if (open === 64) full.tell();
        await new Promise(() => {});
      },
    }),
    { limits: { graceMs: 100 } },
  );
  const client = clientOf(server.url);
  const streams = Array.from({ length: 70 }, () => Array.fromAsync(client.watch({ count: 0 })));
  const cut = Promise.all(streams.map((stream) => assert.rejects(stream, { code: 'unavailable' })));
  await full.promise;
  assert.equal(await server.connections(), 64);
  await client[Symbol.asyncDispose]();
  await cut;
  assert.equal(open, 64);
});

test('a stream that ended before its consumer read it leaves a usable connection', async () => {
  // The end arrives with the bytes that fill the buffer, while the consumer is busy with the first message.
  const sizes = [100, 64 * 1_024 - 3_000, 8_192, 1_024 * 1_024, 8_192];
  await using server = await serveTest(
    handlersWith({
      async *watch() {
        for (const size of sizes) yield { rows: [rowOf(1, 'x'.repeat(size))] };
      },
    }),
  );
  await using client = clientOf(server.url, { streamIdleTimeoutMs: 2_000 });
  for (let call = 0; call < 5; call += 1) {
    for await (const { rows } of client.watch({ count: 0 })) {
      assert.equal(rows.length, 1);
      await wait(50);
    }
  }
  assert.equal(await server.connections(), 1);
});

test('a response that cannot be decoded does not break the next call on its connection', async () => {
  const sockets: Socket[] = [];
  const [full, malformed] = [signalOf<void>(), '\x0a\xff'];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => {
      if (sockets.push(socket) === 64) full.tell();
      if (sockets.length === 65) setTimeout(() => respond(socket, ''), 50);
    });
  });
  const port = await listen(server);
  const client = clientOf(`127.0.0.1:${port}`, { timeoutMs: 5_000 });
  const calls = Array.from({ length: 65 }, () => client.write({ row: undefined }));
  const outcomes = Promise.allSettled(calls);
  await full.promise;
  respond(sockets[0], malformed);
  assert.deepEqual(await calls[64], { id: 0 });
  for (const socket of sockets.slice(1, 64)) respond(socket, '');
  const failed = (await outcomes).flatMap((outcome) =>
    outcome.status === 'rejected' ? [(outcome.reason as AppError).code] : [],
  );
  assert.deepEqual(failed, ['internal']);
  await client[Symbol.asyncDispose]();
  server.close();
});

function respond(socket: Socket | undefined, body: string): void {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-length: ${body.length}\r\n\r\n`;
  socket?.write(head + body, 'latin1');
}
