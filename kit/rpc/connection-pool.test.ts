import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '../errors.ts';
import { clientOf, handlersWith, rowOf, serveTest, signalOf } from './testing.ts';

test('connections are bounded, kept, and survive errors', async () => {
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
  await using client = clientOf(server.url);
  await Promise.all(Array.from({ length: 500 }, () => client.read({ text: '' })));
  assert.equal(await server.connections(), 64);
  for (let call = 0; call < 10; call += 1) await assert.rejects(client.write({ row: undefined }));
  assert.equal(await server.connections(), 64);
  for (let call = 0; call < 10; call += 1) await Array.fromAsync(client.watch({ count: 2 }));
  assert.ok((await server.connections()) <= 66, 'streams take turns on two more');
});

test('a connection that the server is about to close is not used again', async () => {
  await using server = await serveTest(handlersWith(), { limits: { keepAliveTimeoutMs: 40 } });
  await using client = clientOf(server.url);
  for (let call = 0; call < 10; call += 1) {
    await client.write({ row: undefined });
    await wait(4 * call);
  }
});

test('a call whose turn comes too late is not sent', async () => {
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
  await assert.rejects(client.read({ text: 'late' }, { timeoutMs: 50 }), { code: 'timeout' });
  const last = client.read({ text: 'last' });
  released.tell();
  await Promise.all([...first, last]);
  assert.deepEqual(new Set(texts), new Set(['first', 'last']));
});

test('a client that is disposed lets calls end, and takes no more', async () => {
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
