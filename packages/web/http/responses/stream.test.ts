import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { AppError } from '@octavo/core';
import type { HttpApp } from '../server.ts';
import { startTestServer, Wire } from '../testing.ts';
import { preferredCoding, sendStream } from './stream.ts';

const encodings = ['zstd', 'gzip'] as const;
const piece = 'x'.repeat(64 * 1024);

/** A route that streams, and what became of its pieces. */
function streamed(pieces: () => AsyncGenerator<string>) {
  const seen = { asked: 0, ended: Promise.withResolvers<void>() };
  async function* watched() {
    try {
      for await (const each of pieces()) {
        seen.asked++;
        yield each;
      }
    } finally {
      seen.ended.resolve();
    }
  }
  const addRoutes = (app: HttpApp): void => {
    app.get('/stream', { access: 'public' }, (_request, reply) =>
      sendStream(reply.type('text/plain'), watched(), { encodings }),
    );
  };
  return { seen, addRoutes };
}

async function* few() {
  yield 'one ';
  yield 'two';
}

async function* endless() {
  for (;;) yield piece;
}

describe('a streamed response', () => {
  test('arrives whole, in the coding that the client takes', async () => {
    await using server = await startTestServer(streamed(few).addRoutes);
    for (const [accept, coding, decode] of [
      ['identity', null, (bytes: Buffer) => bytes],
      ['gzip', 'gzip', gunzipSync],
      ['gzip;q=0.5, zstd', 'zstd', zstdDecompressSync],
    ] as const) {
      await using wire = await Wire.open(server.port);
      wire.send('GET /stream HTTP/1.1', 'Host: x', `Accept-Encoding: ${accept}`, 'Connection: close', '');
      await wire.closed;
      const [head = '', ...rest] = wire.received.split('\r\n\r\n');
      assert.equal(/content-encoding: (\w+)/i.exec(head)?.[1] ?? null, coding);
      assert.match(head, /vary: Accept-Encoding/i);
      assert.equal(String(decode(unchunk(rest.join('\r\n\r\n')))), 'one two');
    }
  });

  test('varies by coding and by origin', async () => {
    await using server = await startTestServer(streamed(few).addRoutes, { corsOrigin: 'https://a.example' });
    assert.equal((await server.send('/stream')).headers.get('vary'), 'Origin, Accept-Encoding');
  });

  test('reads no piece for HEAD', async () => {
    const { seen, addRoutes } = streamed(endless);
    await using server = await startTestServer(addRoutes);
    const { status, headers } = await server.send('/stream', { method: 'HEAD' });
    assert.deepEqual([status, headers.get('content-type'), seen.asked], [200, 'text/plain', 0]);
  });

  test('comes no faster than it is read, and ends when the client goes', async () => {
    const { seen, addRoutes } = streamed(endless);
    await using server = await startTestServer(addRoutes);
    const wire = await Wire.open(server.port);
    wire.socket.pause();
    wire.send('GET /stream HTTP/1.1', 'Host: x', '');
    let before = -1;
    while (before !== seen.asked || before === 0) {
      before = seen.asked;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.ok(seen.asked < 400, `${seen.asked} pieces of 64 KiB for a client that reads none`);
    await wire[Symbol.asyncDispose]();
    await seen.ended.promise;
  });

  test('ends its source too if the client goes before the first piece', { timeout: 60_000 }, async () => {
    for (const [accept, length] of [
      ['identity', undefined],
      ['gzip', undefined],
      ['identity', '400'],
    ] as const) {
      const asked = Promise.withResolvers<void>();
      const gone = Promise.withResolvers<void>();
      const ended = Promise.withResolvers<void>();
      async function* slowToBegin() {
        try {
          asked.resolve();
          await gone.promise;
          for (;;) yield 'text';
        } finally {
          ended.resolve();
        }
      }
      await using server = await startTestServer((app) => {
        app.get('/slow', { access: 'public' }, (_request, reply) => {
          reply.raw.once('close', gone.resolve);
          if (length) reply.header('content-length', length);
          return sendStream(reply.type('text/plain'), slowToBegin(), { encodings });
        });
      });
      const wire = await Wire.open(server.port);
      wire.send('GET /slow HTTP/1.1', 'Host: x', `Accept-Encoding: ${accept}`, '');
      await asked.promise;
      await wire[Symbol.asyncDispose]();
      await ended.promise;
      assert.doesNotMatch(JSON.stringify(server.log), /premature/i);
    }
  });

  test('of known length is complete with its last byte, even if the client goes before the source ends', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    async function* slowToEnd() {
      yield 'one ';
      yield 'two';
      await released;
    }
    await using server = await startTestServer((app) => {
      app.get('/file', { access: 'public' }, (_request, reply) =>
        sendStream(reply.type('text/plain').header('content-length', '7'), slowToEnd()),
      );
    });
    const wire = await Wire.open(server.port);
    wire.send('GET /file HTTP/1.1', 'Host: x', 'Connection: close', '');
    await Promise.race([wire.closed, wire.until(/one two$/).then(() => wire[Symbol.asyncDispose]())]);
    const counted = /_count\{route="\/file",method="GET",status="(\d+)"\} 1/;
    let text = '';
    while (!counted.test(text)) text = (await server.send('/metrics')).text;
    release();
    assert.equal(counted.exec(text)?.[1], '200');
  });

  test('that fails before it begins is an error like any other', async () => {
    const { addRoutes } = streamed(async function* () {
      throw new AppError('unavailable', 'The store is away.');
      // biome-ignore lint/correctness/noUnreachable: makes it a generator of text
      yield '';
    });
    await using server = await startTestServer(addRoutes);
    const { status, error } = await server.send('/stream');
    assert.deepEqual([status, error.message], [503, 'The store is away.']);
  });

  test('that fails while it is still being compressed says nothing of the coding', async () => {
    const { addRoutes } = streamed(async function* () {
      yield 'a';
      throw new Error('disk gone');
    });
    await using server = await startTestServer(addRoutes);
    const { status, headers, error } = await server.send('/stream', {
      headers: { 'accept-encoding': 'gzip' },
    });
    assert.deepEqual([status, headers.get('content-encoding'), error.code], [500, null, 'INTERNAL_ERROR']);
  });

  test('that fails midway never looks whole', async () => {
    for (const accept of ['identity', 'gzip', 'zstd']) {
      const { addRoutes } = streamed(async function* () {
        for (let index = 0; index < 20; index++) yield randomBytes(32 * 1024).toString('hex');
        throw new Error('disk gone');
      });
      await using server = await startTestServer(addRoutes);
      await assert.rejects(server.send('/stream', { headers: { 'accept-encoding': accept } }));
      await using wire = await Wire.open(server.port);
      wire.send('GET /stream HTTP/1.1', 'Host: x', `Accept-Encoding: ${accept}`, 'Connection: close', '');
      await wire.closed;
      assert.doesNotMatch(wire.received, /\r\n0\r\n\r\n$/);
      assert.match(JSON.stringify(server.log), /response cut off.*disk gone|disk gone.*response cut off/);
      const { text } = await server.send('/metrics');
      assert.match(text, /_count\{route="\/stream",method="GET",status="500"\} 2/);
    }
  });
});

test('the coding follows the weights of Accept-Encoding', () => {
  const cases: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['gzip, zstd', 'zstd'],
    ['zstd;q=0.1, gzip;q=0.2', 'gzip'],
    ['*', 'zstd'],
    ['*;q=0.5, zstd;q=0', 'gzip'],
    ['gzip;q=0', undefined],
    ['identity, gzip;q=0.5', undefined],
    ['br', undefined],
    ['GZIP ; q=1.0', 'gzip'],
  ];
  for (const [accept, coding] of cases) assert.equal(preferredCoding(accept, encodings), coding);
});

/** The bytes of a body in the chunked coding, read as Latin-1. */
function unchunk(text: string): Buffer {
  const parts: Buffer[] = [];
  let rest = text;
  for (;;) {
    const lineEnd = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.slice(0, lineEnd), 16);
    if (!size) return Buffer.concat(parts);
    parts.push(Buffer.from(rest.slice(lineEnd + 2, lineEnd + 2 + size), 'latin1'));
    rest = rest.slice(lineEnd + 4 + size);
  }
}
