import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createFileRegistry, type DescService, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import {
  type CallOptions,
  type Client,
  Code,
  ConnectError,
  createClient,
  type ServiceImpl,
} from '@connectrpc/connect';
import { connectNodeAdapter, createConnectTransport } from '@connectrpc/connect-node';
import { AppError, type ErrorCode } from '@octavo/core';
import { buf, bufFile, bufSkip } from '@octavo/testing/engines';
import { connectCodes } from './codes.ts';
import { clientOf, handlersWith, rowOf, serveTest, token } from './testing.ts';

const protoFolder = fileURLToPath(new URL('../protocols', import.meta.url));

/** The service as connect-node wants it, from the schema itself: without generated code. */
function describeService(): DescService {
  const image = buf('build', '-o', '-');
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
  const service = registry.getService('testing.v1.TestService');
  assert.ok(service);
  return service;
}

let service: DescService;
before(() => {
  if (!bufSkip) service = describeService();
});

describe('connect-node calls our server', { skip: bufSkip }, () => {
  let server: Awaited<ReturnType<typeof serveTest>>;
  before(async () => {
    server = await serveTest(
      handlersWith({
        read: ({ text }) =>
          text === 'hang' ? new Promise(() => {}) : Promise.resolve({ row: rowOf(7, text) }),
        async write({ row }) {
          throw new AppError((row?.text ?? '') as ErrorCode, 'no, ünï€', {
            fields: { title: 'is required' },
            reason: 'FINE',
            retryAfterSeconds: 1.5,
          });
        },
        async *watch({ count }) {
          for (let id = 0; id < count; id += 1) yield { rows: [rowOf(id)] };
          if (count > 100) throw new AppError('conflict', 'enough');
        },
      }),
      { limits: { graceMs: 100 } },
    );
  });
  after(() => server[Symbol.asyncDispose]());

  for (const useBinaryFormat of [true, false]) {
    const format = useBinaryFormat ? 'protobuf' : 'JSON';
    const open = (bearer = token): Client<DescService> =>
      createClient(
        service,
        createConnectTransport({
          baseUrl: server.url,
          httpVersion: '1.1',
          useBinaryFormat,
          interceptors: [
            (next) => (request) => {
              request.header.set('authorization', `Bearer ${bearer}`);
              return next(request);
            },
          ],
        }),
      );

    test(`by ${format}: a response`, async () => {
      const { row } = await unary(open(), 'read', { text: 'ünï€ 🎉' });
      const expected = rowOf(7, 'ünï€ 🎉');
      assert.equal(row.text, expected.text);
      assert.equal(row.id, BigInt(expected.id));
      assert.deepEqual(Buffer.from(row.data), expected.data);
      assert.deepEqual(row.counts, { a: 7n });
    });

    test(`by ${format}: a stream, whole, failed, and left`, async () => {
      const ids = [];
      for await (const { rows } of stream(open(), { count: 3n })) ids.push(rows[0]?.id);
      assert.deepEqual(ids, [0n, 1n, 2n]);
      let seen = 0;
      await assert.rejects(
        async () => {
          for await (const _ of stream(open(), { count: 101n })) seen += 1;
        },
        isError(Code.AlreadyExists, 'enough'),
      );
      assert.equal(seen, 101);
      const caller = new AbortController();
      for await (const _ of stream(open(), { count: 1_000_000n }, { signal: caller.signal })) break;
      caller.abort();
    });

    test(`by ${format}: every error by its code, with the details of gRPC`, async () => {
      for (const [code, connectCode] of Object.entries(connectCodes)) {
        const call = unary(open(), 'write', { row: { text: code } });
        await assert.rejects(call, (error: unknown) => {
          assert.ok(error instanceof ConnectError);
          const name = connectCode.replaceAll('_', '');
          assert.equal(Code[error.code].toLowerCase(), name);
          assert.equal(error.rawMessage, 'no, ünï€');
          const types = error.details.map((detail) => ('type' in detail ? detail.type : ''));
          assert.deepEqual(types, ['google.rpc.ErrorInfo', 'google.rpc.BadRequest', 'google.rpc.RetryInfo']);
          return true;
        });
      }
    });

    test(`by ${format}: a wrong token and a passed deadline`, async () => {
      const unauthenticated = isError(Code.Unauthenticated, 'the RPC token is missing or wrong');
      await assert.rejects(unary(open('x'), 'read', {}), unauthenticated);
      await assert.rejects(async () => {
        for await (const _ of stream(open('x'), { count: 1n }));
      }, unauthenticated);
      await assert.rejects(unary(open(), 'read', { text: 'hang' }, { timeoutMs: 50 }), (error: unknown) => {
        assert.ok(error instanceof ConnectError);
        assert.equal(error.code, Code.DeadlineExceeded);
        return true;
      });
    });
  }
});

describe('our client calls a connect-node server', { skip: bufSkip }, () => {
  const implementation: Record<string, unknown> = {
    read: ({ text }: { text: string }) => ({
      row: { id: 7n, text, data: Buffer.from([1]), counts: { a: 1n } },
    }),
    write: ({ row }: { row?: { text: string } }) => {
      throw new ConnectError('no, ünï€', Code[row?.text as keyof typeof Code]);
    },
    async *watch({ count }: { count: bigint }) {
      for (let id = 0n; id < count; id += 1n) yield { rows: [{ id }] };
      if (count > 100n) throw new ConnectError('enough', Code.ResourceExhausted);
    },
  };
  const handler = connectNodeAdapter({
    routes: (router) => router.service(service, implementation as Partial<ServiceImpl<DescService>>),
  });
  const server = createServer(handler);
  let address = '';
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `127.0.0.1:${(server.address() as { port: number }).port}`;
  });
  after(() => server.close());

  test('a response and a stream', async () => {
    await using client = clientOf(address);
    const { row } = await client.read({ text: 'ünï€ 🎉' });
    assert.deepEqual(row, {
      id: 7,
      text: 'ünï€ 🎉',
      data: Buffer.from([1]),
      counts: new Map([['a', 1]]),
      parentId: undefined,
      createdAtMs: 0,
    });
    const messages = await Array.fromAsync(client.watch({ count: 2 }));
    assert.deepEqual(
      messages.map(({ rows }) => rows[0]?.id),
      [0, 1],
    );
    await assert.rejects(Array.fromAsync(client.watch({ count: 101 })), {
      code: 'rate_limited',
      message: 'enough',
    });
  });

  test('every error by its code', async () => {
    await using client = clientOf(address);
    const expected: Record<string, ErrorCode> = {
      InvalidArgument: 'invalid_input',
      Unauthenticated: 'unauthenticated',
      PermissionDenied: 'forbidden',
      NotFound: 'not_found',
      AlreadyExists: 'conflict',
      Aborted: 'conflict',
      FailedPrecondition: 'precondition_failed',
      OutOfRange: 'invalid_input',
      ResourceExhausted: 'rate_limited',
      Unavailable: 'unavailable',
      DeadlineExceeded: 'timeout',
      Canceled: 'canceled',
      Unimplemented: 'internal',
      Internal: 'internal',
      Unknown: 'internal',
      DataLoss: 'internal',
    };
    for (const [name, code] of Object.entries(expected)) {
      const call = client.write({ row: rowOf(1, name) });
      await assert.rejects(call, { code, message: 'no, ünï€' }, name);
    }
  });
});

test('buf curl calls our server by the schema in packages/protocols/', { skip: bufSkip }, async () => {
  await using server = await serveTest(handlersWith());
  const curl = async (method: string, data: unknown, bearer = token) => {
    const { stdout } = await promisify(execFile)(bufFile, [
      ...['curl', '--schema', protoFolder, '--header', `authorization: Bearer ${bearer}`],
      ...['--data', JSON.stringify(data), `${server.url}/testing.v1.TestService/${method}`],
    ]);
    return stdout;
  };
  assert.equal(JSON.parse(await curl('Read', { text: 'ünï€ 🎉' })).row.text, 'ünï€ 🎉');
  const rows = (await curl('Watch', { count: 3 })).trim().split(/\n(?=\{)/);
  assert.deepEqual(
    rows.map((row) => JSON.parse(row).rows[0].id ?? '0'),
    ['0', '1', '2'],
  );
  await assert.rejects(curl('Read', {}, 'wrong'), /unauthenticated/);
});

type Message = Record<string, unknown>;

/** Fields of a response that the tests check. Without generated code, connect-node's messages have no types. */
interface Answer {
  readonly row: { id: bigint; text: string; data: Uint8Array; counts: Record<string, bigint> };
  readonly rows: readonly { id: bigint }[];
}

function unary(
  client: Client<DescService>,
  method: string,
  request: Message,
  options?: CallOptions,
): Promise<Answer> {
  const call = client[method] as unknown as (request: Message, options?: CallOptions) => Promise<Answer>;
  return call(request, options);
}

function stream(client: Client<DescService>, request: Message, options?: CallOptions): AsyncIterable<Answer> {
  const call = client.watch as unknown as (request: Message, options?: CallOptions) => AsyncIterable<Answer>;
  return call(request, options);
}

function isError(code: Code, message: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof ConnectError);
    assert.deepEqual([error.code, error.rawMessage], [code, message]);
    return true;
  };
}
