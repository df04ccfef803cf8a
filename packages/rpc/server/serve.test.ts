import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { TestServiceDefinition, WatchRequest, WatchResponse } from '@octavo/protocols/testing/v1/testing';
import type { HttpApp } from '@octavo/web/server';
import Fastify from 'fastify';
import { EnvelopeParser, writeEnvelope } from '../envelope.ts';
import { handlersWith, rowOf, serveTest, signalOf, token } from '../testing.ts';
import { requireTokenOffLoopback } from '../token.ts';
import { serveRpc } from './serve.ts';

const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

/** The response that a plain HTTP client gets. */
async function post(
  url: string,
  init: { path?: string; headers?: Record<string, string | undefined>; body?: string | Uint8Array },
): Promise<{ status: number; type: string | null; body: Record<string, unknown> }> {
  const given = Object.entries({ ...headers, ...init.headers }).filter(([, value]) => value !== undefined);
  const response = await fetch(url + (init.path ?? '/testing.v1.TestService/Read'), {
    method: 'POST',
    headers: Object.fromEntries(given) as Record<string, string>,
    body: init.body ?? '{}',
  });
  const type = response.headers.get('content-type');
  return { status: response.status, type, body: (await response.json()) as Record<string, unknown> };
}

describe('a unary call by plain HTTP', () => {
  test('works in JSON, with or without the headers of the protocol', async () => {
    await using server = await serveTest(handlersWith());
    for (const more of [
      {},
      { 'connect-protocol-version': '1', 'connect-timeout-ms': '9999999999' },
      { 'content-type': 'application/json; charset=utf-8' },
      { 'content-encoding': 'identity' },
    ]) {
      const answer = await post(server.url, { headers: more, body: '{"text":"ü","unknown":[1]}' });
      assert.equal(answer.status, 200, JSON.stringify(more));
      assert.equal(answer.type, 'application/json');
      assert.equal((answer.body.row as { text: string }).text, 'ü');
    }
  });

  const errors: Record<string, [Parameters<typeof post>[1], number, string]> = {
    'no token': [{ headers: { authorization: undefined } }, 401, 'unauthenticated'],
    'another scheme': [{ headers: { authorization: `Basic ${token}` } }, 401, 'unauthenticated'],
    'an unknown method': [{ path: '/testing.v1.TestService/Erase' }, 404, 'unimplemented'],
    'a method of another case': [{ path: '/testing.v1.TestService/read' }, 404, 'unimplemented'],
    'another media type': [{ headers: { 'content-type': 'text/plain' } }, 415, 'unimplemented'],
    'a stream’s media type': [
      { headers: { 'content-type': 'application/connect+json' } },
      415,
      'unimplemented',
    ],
    'an unknown codec': [{ headers: { 'content-type': 'application/xml' } }, 415, 'unimplemented'],
    'a malformed media type': [{ headers: { 'content-type': '/' } }, 415, 'unimplemented'],
    compression: [{ headers: { 'content-encoding': 'gzip' } }, 415, 'unimplemented'],
    'another version': [{ headers: { 'connect-protocol-version': '2' } }, 400, 'invalid_argument'],
    'a timeout in words': [{ headers: { 'connect-timeout-ms': 'soon' } }, 400, 'invalid_argument'],
    'a timeout of 11 digits': [{ headers: { 'connect-timeout-ms': '12345678901' } }, 400, 'invalid_argument'],
    'a negative timeout': [{ headers: { 'connect-timeout-ms': '-1' } }, 400, 'invalid_argument'],
    'malformed JSON': [{ body: '{"text":' }, 400, 'invalid_argument'],
    'nested JSON': [{ body: `{"a":${'['.repeat(200)}${']'.repeat(200)}}` }, 400, 'invalid_argument'],
    'no body': [{ body: '' }, 400, 'invalid_argument'],
    'a malformed message': [
      { headers: { 'content-type': 'application/proto' }, body: Buffer.from([0x0a, 0xff]) },
      400,
      'invalid_argument',
    ],
    'a message over the limit': [{ body: `{"text":"${'x'.repeat(2_000)}"}` }, 429, 'resource_exhausted'],
  };

  for (const [name, [init, status, code]] of Object.entries(errors)) {
    test(`is refused: ${name}`, async () => {
      let reads = 0;
      const read = async () => {
        reads += 1;
        return { row: undefined };
      };
      await using server = await serveTest(handlersWith({ read }), { messageBytesMax: 1_000 });
      const answer = await post(server.url, init);
      assert.deepEqual({ status: answer.status, code: answer.body.code }, { status, code });
      assert.equal(answer.type, 'application/json');
      assert.equal(reads, 0);
    });
  }

  test('is for POST only', async () => {
    await using server = await serveTest(handlersWith());
    const response = await fetch(`${server.url}/testing.v1.TestService/Read`, { headers });
    assert.equal(response.status, 405);
    assert.match(response.headers.get('allow') ?? '', /POST/);
  });

  test('takes an empty message', async () => {
    await using server = await serveTest(handlersWith());
    const response = await fetch(`${server.url}/testing.v1.TestService/Write`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/proto' },
      body: new Uint8Array(0),
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/proto');
    assert.equal((await response.arrayBuffer()).byteLength, 0);
  });

  test('times out with the code and the status of a timeout', async () => {
    await using server = await serveTest(handlersWith({ read: () => new Promise(() => {}) }));
    const answer = await post(server.url, { headers: { 'connect-timeout-ms': '20' } });
    assert.deepEqual(
      { status: answer.status, code: answer.body.code },
      { status: 504, code: 'deadline_exceeded' },
    );
  });

  test('explains errors to people', async () => {
    const fields = { title: 'is required' };
    await using server = await serveTest(
      handlersWith({
        async read() {
          throw new AppError('validation_failed', 'the title is required', { fields, reason: 'BAD' });
        },
      }),
    );
    const { status, body } = await post(server.url, {});
    assert.equal(status, 400);
    assert.equal(body.code, 'invalid_argument');
    assert.equal(body.message, 'the title is required');
    assert.deepEqual(
      (body.details as { type: string; debug: unknown }[]).map(({ type, debug }) => ({ type, debug })),
      [
        {
          type: 'google.rpc.ErrorInfo',
          debug: { reason: 'BAD', domain: 'octavo', metadata: { code: 'validation_failed' } },
        },
        {
          type: 'google.rpc.BadRequest',
          debug: { fieldViolations: [{ field: 'title', description: 'is required' }] },
        },
      ],
    );
  });
});

describe('a stream by plain HTTP', () => {
  const path = '/testing.v1.TestService/Watch';
  const proto = { ...headers, 'content-type': 'application/connect+proto' };
  const request = writeEnvelope(0, WatchRequest.encode({ count: 2 }).finish());

  async function watch(url: string, body: Uint8Array, more: Record<string, string> = {}) {
    const response = await fetch(url + path, { method: 'POST', headers: { ...proto, ...more }, body });
    const parser = new EnvelopeParser(1_000_000);
    parser.push(Buffer.from(await response.arrayBuffer()));
    const envelopes = [];
    for (let next = parser.next(); next; next = parser.next()) envelopes.push(next);
    const end = envelopes.pop();
    return { status: response.status, type: response.headers.get('content-type'), envelopes, end };
  }

  test('comes in envelopes, with an end', async () => {
    await using server = await serveTest(handlersWith());
    const answer = await watch(server.url, request);
    assert.deepEqual([answer.status, answer.type], [200, 'application/connect+proto']);
    assert.deepEqual(
      answer.envelopes.map(({ flags, payload }) => [flags, WatchResponse.decode(payload).rows[0]?.id]),
      [
        [0, 0],
        [0, 1],
      ],
    );
    assert.deepEqual([answer.end?.flags, answer.end?.payload.toString()], [2, '{}']);
  });

  test('comes in JSON', async () => {
    await using server = await serveTest(handlersWith());
    const json = { 'content-type': 'application/connect+json' };
    const answer = await watch(server.url, writeEnvelope(0, Buffer.from('{"count":"1"}')), json);
    assert.equal(answer.type, 'application/connect+json');
    assert.equal(JSON.parse(answer.envelopes[0]?.payload.toString() ?? '').rows[0].parentId, undefined);
    assert.equal(answer.end?.payload.toString(), '{}');
  });

  const bodies: Record<string, Uint8Array> = {
    'no envelope': new Uint8Array(0),
    'half a header': new Uint8Array(3),
    'half a message': request.subarray(0, -1),
    'two messages': Buffer.concat([request, request]),
    'an end instead of a message': writeEnvelope(2, Buffer.from('{}')),
    'a compressed message': writeEnvelope(1, Buffer.from('{}')),
    'a malformed message': writeEnvelope(0, Buffer.from([0x08])),
  };
  for (const [name, body] of Object.entries(bodies)) {
    test(`is refused in the form of a stream: ${name}`, async () => {
      await using server = await serveTest(handlersWith());
      const answer = await watch(server.url, body);
      assert.equal(answer.status, 200);
      assert.equal(answer.envelopes.length, 0);
      assert.equal(answer.end?.flags, 2);
      assert.equal(JSON.parse(answer.end?.payload.toString() ?? '').error.code, 'invalid_argument');
    });
  }

  test('is refused in the form of a stream: no token, compression, over the limit', async () => {
    await using server = await serveTest(handlersWith(), { messageBytesMax: 1 });
    const cases: [Uint8Array, Record<string, string>, string][] = [
      [request, { authorization: '' }, 'unauthenticated'],
      [Buffer.concat([request, request]), {}, 'resource_exhausted'],
    ];
    for (const [body, more, code] of cases) {
      const answer = await watch(server.url, body, more);
      assert.equal(answer.status, 200);
      assert.equal(JSON.parse(answer.end?.payload.toString() ?? '').error.code, code);
    }
    const compressed = { ...proto, 'connect-content-encoding': 'gzip' };
    const response = await fetch(server.url + path, { method: 'POST', headers: compressed, body: '' });
    assert.equal(response.status, 415);
  });
});

test('a stream whose client does not read is cut', async () => {
  const ended = signalOf<void>();
  const text = 'x'.repeat(1024 * 1024);
  await using server = await serveTest(
    handlersWith({
      async *watch() {
        try {
          for (;;) yield { rows: [rowOf(1, text)] };
        } finally {
          ended.tell();
        }
      },
    }),
    { streamIdleTimeoutMs: 50 },
  );
  const body = writeEnvelope(0, WatchRequest.encode({ count: 1 }).finish());
  const socket = connect(server.port, '127.0.0.1').pause();
  socket.write(
    `POST /testing.v1.TestService/Watch HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/connect+proto\r\ncontent-length: ${body.length}\r\n\r\n`,
  );
  socket.write(body);
  await ended.promise;
  while ((await server.connections()) > 0) await wait(5);
  socket.destroy();
});

test('a plain Fastify serves it too, beside other routes', async () => {
  const app = Fastify();
  app.get('/', async () => 'hello');
  await serveRpc(app as unknown as HttpApp, TestServiceDefinition, handlersWith(), { log: silentLog });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  assert.equal(await (await fetch(url)).text(), 'hello');
  assert.equal((await post(url, {})).status, 200);
  assert.equal((await post(url, { headers: { authorization: undefined } })).status, 200);
  await app.close();
});

test('in production an address that other machines can reach is refused without a token', () => {
  const environment = 'production';
  const tokenSetting = 'RPC_TOKEN';
  const offMachine = [
    '10.0.0.7:50051',
    'posts:50051',
    '0.0.0.0',
    '::',
    'localhost:1,example.org:1',
    '127.0.0.1.evil.org:1',
  ];
  for (const address of offMachine) {
    assert.throws(() => requireTokenOffLoopback({ tokenSetting, address, token: undefined, environment }), {
      code: 'invalid_input',
      fields: { RPC_TOKEN: `is required in production with ${address}, which other machines can reach` },
    });
    requireTokenOffLoopback({ tokenSetting, address, token, environment });
    requireTokenOffLoopback({ tokenSetting, address, token: undefined, environment: 'development' });
  }
  for (const address of [
    '127.0.0.1:50051',
    'http://localhost:1',
    '[::1]:1',
    '::1',
    '127.0.0.1',
    'localhost:1, [::1]:2',
  ]) {
    requireTokenOffLoopback({ tokenSetting, address, token: undefined, environment });
  }
});
