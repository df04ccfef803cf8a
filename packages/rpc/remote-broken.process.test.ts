import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AppError } from '@octavo/core';
import { promptly, until } from '@octavo/testing';
import { clientOf, listen } from './testing.ts';

describe('a server that dies', () => {
  test('fails its calls in flight, and is called again soon after its return', async (context) => {
    const first = await startServer(context, 0);
    await using client = clientOf(`127.0.0.1:${first.port}`);
    const stream = client.watch({ count: 0 })[Symbol.asyncIterator]();
    const hanging = once(first.process, 'message');
    await stream.next();
    const cut = assert.rejects(stream.next(), { code: 'unavailable' });
    await hanging;
    const written = once(first.process, 'message');
    const write = assert.rejects(client.write({ row: undefined }), { code: 'timeout' });
    await written;
    first.process.kill('SIGKILL');
    await Promise.all([cut, write]);

    // They fail at once, and do not wait for their deadline.
    const late = { timeoutMs: 600_000 };
    const unavailable = { code: 'unavailable', retryAfterSeconds: 1 };
    await promptly(() => assert.rejects(client.read({ text: '' }, late), unavailable));
    await promptly(() => assert.rejects(client.write({ row: undefined }, late), unavailable));
    await assert.rejects(client.ping(AbortSignal.timeout(1_000)), { code: 'unavailable' });

    const second = await startServer(context, first.port);
    const { row } = await promptly(() => client.read({ text: '' }, late));
    assert.equal(row?.id, second.process.pid);
    await client.ping(AbortSignal.timeout(60_000));
  });

  test('is replaced by another within the same read', async (context) => {
    const [one, other] = await Promise.all([startServer(context, 0), startServer(context, 0)]);
    await using client = clientOf(`127.0.0.1:${one.port}, http://127.0.0.1:${other.port}`);
    const text = `hang in ${one.process.pid}`;
    const hanging = once(one.process, 'message');
    const reads = [client.read({ text }), client.read({ text })];
    await hanging;
    one.process.kill('SIGKILL');
    for (const { row } of await Promise.all(reads)) assert.equal(row?.id, other.process.pid);
  });
});

test('a server that hangs is tried by one call a second until it responds again', async (context) => {
  const [one, other] = await Promise.all([startServer(context, 0), startServer(context, 0)]);
  await using client = clientOf(`127.0.0.1:${one.port},127.0.0.1:${other.port}`, { timeoutMs: 400 });
  for (let call = 0; call < 4; call += 1) await client.read({ text: '' }, { timeoutMs: 5_000 });
  one.process.kill('SIGSTOP');
  const outcomes: string[] = [];
  for (let call = 0; call < 40; call += 1) {
    outcomes.push(
      await client.read({ text: '' }).then(
        () => 'ok',
        (error: AppError) => error.code,
      ),
    );
  }
  const timeouts = outcomes.filter((outcome) => outcome === 'timeout').length;
  assert.ok(timeouts >= 1 && timeouts <= 10, outcomes.join(' '));
  one.process.kill('SIGCONT');
  await until(async () => {
    const { row } = await client.read({ text: '' }, { timeoutMs: 5_000 });
    return row?.id === one.process.pid;
  });
});

const proto = 'content-type: application/proto\r\n';

describe('a response is read', () => {
  const id7 = '\x08\x07';
  const cases: Record<string, string> = {
    'by its length': `HTTP/1.1 200 OK\r\n${proto}Content-Length: 2\r\n\r\n${id7}`,
    'by its chunks, with extensions and trailers': `${head('application/proto')}1;a=b\r\n\x08\r\n01\r\n\x07\r\n0\r\nx-t: 1\r\n\r\n`,
    'until the connection closes': `HTTP/1.1 200 OK\r\n${proto}\r\n${id7}`,
    'after an informational one': `HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\nHTTP/1.1 200 OK\r\n${proto}content-length: 2\r\n\r\n${id7}`,
  };
  for (const [name, bytes] of Object.entries(cases)) {
    test(name, async () => {
      for (const piece of [1, 7, bytes.length]) {
        await using server = await serveBytes(bytes, piece);
        await using client = clientOf(`127.0.0.1:${server.port}`);
        assert.deepEqual(await client.write({ row: undefined }), { id: 7 });
      }
    });
  }

  test('but never one that no request asked for', async () => {
    const response = (id: string) => `HTTP/1.1 200 OK\r\n${proto}content-length: 2\r\n\r\n\x08${id}`;
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', () => socket.write(response('\x07') + response('\x08'), 'latin1'));
    });
    const port = await listen(server);
    const client = clientOf(`127.0.0.1:${port}`);
    for (let call = 0; call < 5; call += 1) {
      assert.deepEqual(await client.write({ row: undefined }), { id: 7 });
    }
    await client[Symbol.asyncDispose]();
    server.close();
  });
});

describe('a response that is malformed or cut off', () => {
  const cases: Record<string, string> = {
    'an empty stream': head('application/connect+proto') + chunk(''),
    'a stream without its end': head('application/connect+proto') + chunk('\0\0\0\0\0') + chunk(''),
    'an envelope cut short': head('application/connect+proto') + chunk('\0\0\0\0\x09abc') + chunk(''),
    'an envelope with unknown flags': head('application/connect+proto') + chunk('\x01\0\0\0\0') + chunk(''),
    'an envelope over the limit': head('application/connect+proto') + chunk('\0\xff\xff\xff\xff') + chunk(''),
    'an end that is not JSON': head('application/connect+proto') + chunk('\x02\0\0\0\x01x') + chunk(''),
    'bytes after the end': head('application/connect+proto') + chunk('\x02\0\0\0\x02{}\0') + chunk(''),
    'a message that is not one':
      head('application/connect+proto') + chunk('\0\0\0\0\x02\x0a\xff') + chunk(''),
    'another content type': head('text/html') + chunk('<p>Hello') + chunk(''),
    'a proxy without a server': 'HTTP/1.1 502 Bad Gateway\r\ncontent-length: 3\r\n\r\nno!',
    'a redirect': 'HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n',
    'an error that is not JSON':
      'HTTP/1.1 500 Oh\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n{',
    'another protocol': 'SSH-2.0-OpenSSH_9.2\r\n',
    'HTTP/2': `HTTP/2 200 OK\r\n${proto}content-length: 0\r\n\r\n`,
    'a status in words': `HTTP/1.1 fine OK\r\n${proto}content-length: 0\r\n\r\n`,
    'a header without a colon': `HTTP/1.1 200 OK\r\n${proto}nonsense\r\n\r\n`,
    'a header without a name': `HTTP/1.1 200 OK\r\n${proto}: x\r\n\r\n`,
    'a length in words': `HTTP/1.1 200 OK\r\n${proto}content-length: many\r\n\r\n`,
    'two lengths': `HTTP/1.1 200 OK\r\n${proto}content-length: 0\r\ncontent-length: 2\r\n\r\n`,
    'a negative length': `HTTP/1.1 200 OK\r\n${proto}content-length: -1\r\n\r\n`,
    'a length besides chunks': `${head('application/proto').slice(0, -2)}content-length: 0\r\n\r\n${chunk('')}`,
    'a chunk without a size': `${head('application/proto')}x\r\n`,
    'a chunk longer than its size': `${head('application/proto')}1\r\n\x08\x01\r\n${chunk('')}`,
    'a head without an end': `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(17_000)}`,
    'a cut head': 'HTTP/1.1 200',
    'a cut body': `HTTP/1.1 200 OK\r\n${proto}content-length: 3\r\n\r\n\x08`,
    'a cut chunk': `${head('application/proto')}3\r\n\x08`,
    'chunks without the last': `${head('application/proto')}${chunk('\x08\x01')}`,
    'nothing but a closed connection': '',
  };

  for (const [name, bytes] of Object.entries(cases)) {
    test(`is an error: ${name}`, async () => {
      await using server = await serveBytes(bytes);
      await using client = clientOf(`127.0.0.1:${server.port}`, { streamIdleTimeoutMs: 2_000 });
      await assert.rejects(Array.fromAsync(client.watch({ count: 0 })), (error: AppError) => {
        assert.ok(error instanceof AppError);
        assert.match(error.code, /^(internal|timeout|unavailable)$/);
        return true;
      });
      await assert.rejects(client.write({ row: undefined }), (error: AppError) => {
        assert.ok(error instanceof AppError);
        assert.match(error.code, /^(internal|timeout|unavailable)$/);
        return true;
      });
    });
  }
});

function head(contentType: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ntransfer-encoding: chunked\r\n\r\n`;
}

function chunk(bytes: string): string {
  return `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
}

/** A server that responds to every request with these bytes (Latin-1), in pieces of this length. */
async function serveBytes(
  bytes: string,
  pieceLength = bytes.length,
): Promise<AsyncDisposable & { port: number }> {
  const server = createServer((socket) => {
    socket.on('error', () => {}).setNoDelay(true);
    socket.once('data', async () => {
      for (let at = 0; at < bytes.length; at += pieceLength) {
        socket.write(bytes.slice(at, at + pieceLength), 'latin1');
        await setImmediate();
      }
      socket.end();
    });
  });
  const port = await listen(server);
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}

async function startServer(
  context: { after(cleanUp: () => void): void },
  port: number,
): Promise<{ process: ChildProcess; port: number }> {
  const child = fork(fileURLToPath(import.meta.resolve('./testing-server.ts')), [String(port)]);
  context.after(() => child.kill('SIGKILL'));
  const [started] = (await once(child, 'message')) as [number];
  return { process: child, port: started };
}
