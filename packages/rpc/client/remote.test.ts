import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '@octavo/core';
import pino from 'pino';
import { Registry } from 'prom-client';
import { clientOf, closedPort, handlersWith, rowOf, serveTest, signalOf, token } from '../testing.ts';

describe('a call that fails', () => {
  test('is tried again if it is a read and the connection broke', async () => {
    let reads = 0;
    await using server = await serveTest(
      handlersWith({
        async read({ text }) {
          reads += 1;
          if (reads < 3) server.cut();
          return { row: rowOf(reads, text) };
        },
      }),
    );
    await using client = clientOf(server.url);
    assert.equal((await client.read({ text: '' })).row?.id, 3);
  });

  test('is tried again if it is a stream that sent nothing yet', async () => {
    let watches = 0;
    await using server = await serveTest(
      handlersWith({
        async *watch() {
          watches += 1;
          if (watches < 3) server.cut();
          yield { rows: [rowOf(watches)] };
        },
      }),
    );
    await using client = clientOf(server.url);
    assert.deepEqual(await Array.fromAsync(client.watch({ count: 0 })), [{ rows: [rowOf(3)] }]);
  });

  test('is not tried again if it is a write', async () => {
    let writes = 0;
    await using server = await serveTest(
      handlersWith({
        async write() {
          writes += 1;
          server.cut();
          return { id: 0 };
        },
      }),
    );
    await using client = clientOf(server.url);
    await assert.rejects(client.write({ row: undefined }), { code: 'timeout' });
    await wait(150);
    assert.equal(writes, 1);
  });

  test('is tried again if it is a read and the handler is unavailable, but not forever', async () => {
    let reads = 0;
    await using server = await serveTest(
      handlersWith({
        async read({ text }) {
          reads += 1;
          if (text === 'soon' && reads === 2) return { row: rowOf(reads) };
          throw new AppError('unavailable', 'the store is away');
        },
        async write() {
          reads += 1;
          throw new AppError('unavailable', 'the store is away');
        },
      }),
    );
    await using client = clientOf(server.url);
    assert.equal((await client.read({ text: 'soon' })).row?.id, 2);
    reads = 0;
    await assert.rejects(client.read({ text: '' }), { code: 'unavailable', message: 'the store is away' });
    assert.equal(reads, 3);
    reads = 0;
    await assert.rejects(client.write({ row: undefined }), { code: 'unavailable' });
    assert.equal(reads, 1);
  });

  test('is tried at another server, even a write, if an overloaded server refused it', async () => {
    let writes = 0;
    const handlers = handlersWith({
      async write() {
        writes += 1;
        return { id: writes };
      },
    });
    await using overloaded = await serveTest(handlers, { limits: { inFlight: -1 } });
    await using other = await serveTest(handlers);
    await using client = clientOf(`${overloaded.url},${other.url}`);
    for (let call = 1; call <= 6; call += 1) assert.equal((await client.write({ row: undefined })).id, call);
    await using alone = clientOf(overloaded.url);
    await assert.rejects(alone.write({ row: undefined }), {
      code: 'unavailable',
      message: 'The server is overloaded. Try again shortly.',
      retryAfterSeconds: 1,
    });
    assert.equal(writes, 6);
  });

  test('does not wait for another attempt beyond its deadline', async () => {
    await using client = clientOf(`127.0.0.1:${await closedPort()}`);
    const order: string[] = [];
    const timer = setTimeout(() => order.push('a second later'), 1_000);
    await assert.rejects(client.read({ text: '' }, { timeoutMs: 10 }), (error: AppError) =>
      ['timeout', 'unavailable'].includes(error.code),
    );
    clearTimeout(timer);
    assert.deepEqual(order, []);
  });
});

describe('servers behind one address', () => {
  test('share the calls, and a dead one costs none', async () => {
    const counts = [0, 0];
    const handlersOf = (index: number) =>
      handlersWith({
        async write() {
          counts[index] = (counts[index] ?? 0) + 1;
          return { id: 0 };
        },
      });
    await using one = await serveTest(handlersOf(0));
    await using other = await serveTest(handlersOf(1));
    await using client = clientOf(`${one.url},127.0.0.1:${await closedPort()},${other.url}`);
    for (let call = 0; call < 100; call += 1) await client.write({ row: undefined });
    await Promise.all(Array.from({ length: 100 }, () => client.write({ row: undefined })));
    assert.ok(Math.min(...counts) >= 60, String(counts));
    assert.equal(
      counts.reduce((one, more) => one + more),
      200,
    );
    await client.ping(AbortSignal.timeout(60_000));
  });

  test('are restarted one by one without a call that fails, even a write', async () => {
    const start = (port = 0) => serveTest(handlersWith(), { port, limits: { drainMs: 2_000 } });
    const [one, other] = [await start(), await start()];
    await using client = clientOf(`${one.url},${other.url}`);
    const over = new AbortController();
    const failures: unknown[] = [];
    let written = 0;
    const write = async () => {
      for (; !over.signal.aborted; written++) {
        await client.write({ row: undefined }).catch((error) => failures.push(error));
        await wait(1);
      }
    };
    const writing = Promise.all(Array.from({ length: 20 }, write));
    for (let server of [one, other]) {
      await wait(50);
      await server[Symbol.asyncDispose]();
      await wait(50);
      server = await start(server.port);
      after(() => server[Symbol.asyncDispose]());
    }
    over.abort();
    await writing;
    assert.deepEqual(failures, []);
    assert.ok(written > 100, `${written} written`);
  });

  test('are avoided once they close their connections, while there are others', async () => {
    const counts = [0, 0];
    const handlersOf = (index: number) =>
      handlersWith({
        async write() {
          counts[index] = (counts[index] ?? 0) + 1;
          return { id: 0 };
        },
      });
    const leaving = await serveTest(handlersOf(0), { limits: { drainMs: 500 } });
    await using staying = await serveTest(handlersOf(1));
    await using client = clientOf(`${leaving.url},${staying.url}`);
    for (let call = 0; call < 10; call += 1) await client.write({ row: undefined });
    const stopped = leaving[Symbol.asyncDispose]();
    const [before = 0] = counts;
    for (let call = 0; call < 50; call += 1) await client.write({ row: undefined });
    await stopped;
    assert.ok((counts[0] ?? 0) <= before + 1, `${counts} after ${before}`);
  });

  test('are found by their name', async () => {
    await using server = await serveTest(handlersWith());
    await using client = clientOf(`localhost:${server.port}`);
    for (let call = 0; call < 5; call += 1) await client.write({ row: undefined });
    await using unknown = clientOf('nowhere.invalid:80');
    await assert.rejects(unknown.read({ text: '' }), { code: 'unavailable' });
    await assert.rejects(unknown.ping(AbortSignal.timeout(1_000)), { code: 'unavailable' });
  });

  test('are logged when they fail and when they come back', async () => {
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) });
    const port = await closedPort();
    await using client = clientOf(`127.0.0.1:${port}`, { log });
    for (let call = 0; call < 3; call += 1) await assert.rejects(client.write({ row: undefined }));
    await using _server = await serveTest(handlersWith(), { port });
    await client.write({ row: undefined });
    await client.write({ row: undefined });
    assert.deepEqual(lines, ['RPC server does not accept calls', 'RPC server accepts calls again']);
  });
});

test('a request id or span cannot add headers', async () => {
  await using server = await serveTest(handlersWith());
  await using client = clientOf(server.url);
  for (const evil of ['a\r\nauthorization: x', 'a\0', 'ü']) {
    for (const options of [{ requestId: evil }, { traceparent: evil }]) {
      await assert.rejects(client.read({ text: '' }, options), { code: 'internal' });
      await assert.rejects(Array.fromAsync(client.watch({ count: 1 }, options)), { code: 'internal' });
    }
  }
});

test('a wrong or missing token is refused, also by a stream', async () => {
  await using server = await serveTest(handlersWith());
  for (const wrong of ['', 'x', `${token}x`, token.slice(1)]) {
    await using client = clientOf(server.url, { token: wrong });
    await assert.rejects(client.read({ text: '' }), { code: 'unauthenticated' });
    await assert.rejects(client.write({ row: undefined }), { code: 'unauthenticated' });
    await assert.rejects(Array.fromAsync(client.watch({ count: 1 })), { code: 'unauthenticated' });
    await client.ping();
  }
});

test('messages over the limit are refused on either side', async () => {
  await using server = await serveTest(handlersWith(), { messageBytesMax: 10_000 });
  await using careless = clientOf(server.url);
  const text = 'x'.repeat(10_001 - 3);
  assert.equal((await careless.read({ text: text.slice(1) })).row?.text.length, 9_997);
  await assert.rejects(careless.read({ text }), { code: 'too_large' });
  await using careful = clientOf(server.url, { messageBytesMax: 5_000 });
  await assert.rejects(careful.read({ text }), { code: 'too_large' });
  await using narrow = clientOf(server.url, { messageBytesMax: 5_000 });
  assert.equal((await narrow.read({ text: 'x'.repeat(4_000) })).row?.text.length, 4_000);
});

test('a stopping server finishes calls in flight, and its clients learn at once that it is gone', async () => {
  const started = signalOf<void>();
  const finish = signalOf<void>();
  const server = await serveTest(
    handlersWith({
      async write() {
        started.tell();
        await finish.promise;
        return { id: 7 };
      },
    }),
  );
  await using client = clientOf(server.url);
  await client.read({ text: '' });
  const write = client.write({ row: undefined });
  await started.promise;
  const stopped = server[Symbol.asyncDispose]();
  await assert.rejects(client.read({ text: '' }), { code: 'unavailable' });
  finish.tell();
  assert.equal((await write).id, 7);
  await stopped;
});

test('calls are counted by method and code on both sides', async () => {
  const metrics = new Registry();
  await using server = await serveTest(
    handlersWith({
      async write() {
        throw new AppError('conflict', 'no');
      },
    }),
    { metrics },
  );
  await using client = clientOf(server.url, { metrics });
  await client.read({ text: '' });
  await client.read({ text: '' });
  await assert.rejects(client.write({ row: undefined }));
  await Array.fromAsync(client.watch({ count: 1 }));
  const text = await metrics.metrics();
  for (const side of ['client', 'server']) {
    const countOf = (method: string, code: string) =>
      `rpc_${side}_duration_seconds_count{method="testing.v1.TestService/${method}",code="${code}"}`;
    assert.ok(text.includes(`${countOf('Read', 'ok')} 2\n`), text);
    assert.ok(text.includes(`${countOf('Write', 'conflict')} 1\n`));
    assert.ok(text.includes(`${countOf('Watch', 'ok')} 1\n`));
  }
});

test('a malformed address is refused', () => {
  for (const address of [
    '',
    'host',
    'https://host:1',
    'http://host:1/path',
    'host:99999',
    'a:1,',
    'http://u:p@h:1',
  ]) {
    assert.throws(() => clientOf(address), { code: 'invalid_input' }, address);
  }
});
