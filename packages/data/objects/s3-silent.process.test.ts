import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { promptly } from '@octavo/testing';
import { startTestS3 } from '@octavo/testing/engines';
import { openS3Store } from './index.ts';

const content = async function* () {
  yield Buffer.from('bytes');
};

test('a server that accepts and never responds is unavailable after 10 s', {
  concurrency: true,
}, async (t) => {
  const server = await startTestS3();
  const store = await openS3Store(server);
  const options = { contentType: 'text/plain' };
  const stored = await store.put(content(), { keys: ['f/one'], ...options });
  server.freeze();
  const calls: Record<string, () => Promise<unknown>> = {
    list: () => store.list('f/'),
    find: () => store.find('f/one'),
    read: () => store.read(stored)[Symbol.asyncIterator]().next(),
    put: () => store.put(content(), { keys: ['f/two'], ...options }),
    ping: () => store.ping(),
  };
  await Promise.all(
    Object.entries(calls).map(([name, call]) =>
      t.test(name, async () => {
        await promptly(() => assert.rejects(call(), { code: 'unavailable' }));
      }),
    ),
  );
  await store[Symbol.asyncDispose]();
});

test('what a server that never responds was asked for ends when the store is closed', async () => {
  const server = await startTestS3();
  const store = await openS3Store(server);
  server.freeze();
  const startedMs = performance.now();
  const pending = [
    store.list('f/'),
    store.ping(),
    store.put(content(), { keys: ['f/three'], contentType: 'text/plain' }),
  ];
  const ended = Promise.all(pending.map((call) => assert.rejects(call, { code: 'unavailable' })));
  await setImmediate();
  await store[Symbol.asyncDispose]();
  await ended;
  // Before the 10 s after which each would end by itself; closing takes a few milliseconds.
  assert.ok(performance.now() - startedMs < 10_000);
});
