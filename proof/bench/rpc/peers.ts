import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createFileRegistry, type DescService, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { createClient, type ServiceImpl } from '@connectrpc/connect';
import { connectNodeAdapter, createConnectTransport } from '@connectrpc/connect-node';
import grpc from '@grpc/grpc-js';
import { systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import {
  ReadRequest,
  ReadResponse,
  type Row,
  TestServiceDefinition,
} from '@octavo/protocols/testing/v1/testing';
import { serveRpc } from '@octavo/rpc';
import { remoteClient } from '@octavo/rpc/remote';
import { createHttpServer } from '@octavo/web/server';
import { Registry } from 'prom-client';
import { Pool } from 'undici';

/** One way of calling another process: a server, and a call to it that returns the length of the text in the response. */
export interface Peer {
  serve(): Promise<string>;
  connect(address: string): (text: string) => Promise<number>;
}

const token = 'a token for measuring';

/** Response of every server: a row of about the size of a post. */
const row: Row = {
  id: 7,
  text: 'It has a body of about the length that posts have. '.repeat(4),
  data: Buffer.alloc(0),
  parentId: 6,
  counts: new Map(),
  createdAtMs: 1_760_000_000_000,
};

export const peers: Readonly<Record<string, Peer>> = {
  /** Bytes over node:http and undici, neither parsed nor checked: the least that any RPC on them costs. */
  floor: {
    async serve() {
      const bytes = ReadResponse.encode({ row }).finish();
      const headers = { 'content-type': 'application/proto', 'content-length': bytes.length };
      return listen(
        createServer((request, response) => {
          request.resume().on('end', () => response.writeHead(200, headers).end(bytes));
        }),
      );
    },
    connect(address) {
      const pool = new Pool(`http://${address}`, { connections: 64 });
      const body = ReadRequest.encode({ text: 'x' }).finish();
      return async () => {
        const answer = await pool.request({ path: '/', method: 'POST', body });
        return (await answer.body.bytes()).length;
      };
    },
  },

  octavo: {
    async serve() {
      const context = {
        log: silentLog,
        clock: systemClock,
        dataFolder: '',
        environment: 'production',
        metrics: new Registry(),
        host: '127.0.0.1',
        port: 0,
      } as const;
      const server = await createHttpServer({ name: 'bench', title: '', description: '', context });
      const handlers = {
        read: async () => ({ row }),
        write: async () => ({ id: 0 }),
        async *watch() {},
      };
      const { metrics } = context;
      await serveRpc(server.app, TestServiceDefinition, handlers, { log: silentLog, token, metrics });
      return new URL(await server.listen()).host;
    },
    connect(address) {
      const metrics = new Registry();
      const client = remoteClient(TestServiceDefinition, { address, token, log: silentLog, metrics });
      return async (text) => {
        const answer = await client.read({ text });
        return answer.row?.text.length ?? 0;
      };
    },
  },

  'grpc-js': {
    async serve() {
      const server = new grpc.Server();
      server.addService(
        { read: grpcRead },
        {
          read: (_call: unknown, answer: grpc.sendUnaryData<ReadResponse>) => answer(null, { row }),
        },
      );
      const credentials = grpc.ServerCredentials.createInsecure();
      const { promise, resolve } = Promise.withResolvers<number>();
      server.bindAsync('127.0.0.1:0', credentials, (_error, port) => resolve(port));
      return `127.0.0.1:${await promise}`;
    },
    connect(address) {
      const client = new grpc.Client(address, grpc.credentials.createInsecure());
      const { path, requestSerialize, responseDeserialize } = grpcRead;
      return (text) =>
        new Promise((resolve, reject) => {
          client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { text }, (error, answer) => {
            if (error) reject(error);
            else resolve(answer?.row?.text.length ?? 0);
          });
        });
    },
  },

  'connect-node': {
    async serve() {
      const service = describeService();
      const implementation: Record<string, unknown> = {
        read: () => ({ row: { id: 7n, text: row.text, parentId: 6n, createdAtMs: BigInt(row.createdAtMs) } }),
      };
      const routes = connectNodeAdapter({
        routes: (router) => router.service(service, implementation as Partial<ServiceImpl<DescService>>),
      });
      return listen(createServer(routes));
    },
    connect(address) {
      const transport = createConnectTransport({
        baseUrl: `http://${address}`,
        httpVersion: '1.1',
        nodeOptions: {},
      });
      const client = createClient(describeService(), transport);
      const read = client.read as unknown as (request: object) => Promise<{ row: Row }>;
      return async (text) => (await read({ text })).row.text.length;
    },
  },
};

const grpcRead: grpc.MethodDefinition<ReadRequest, ReadResponse> = {
  path: '/testing.v1.TestService/Read',
  requestStream: false,
  responseStream: false,
  requestSerialize: (message) => Buffer.from(ReadRequest.encode(message).finish()),
  requestDeserialize: (bytes) => ReadRequest.decode(bytes),
  responseSerialize: (message) => Buffer.from(ReadResponse.encode(message).finish()),
  responseDeserialize: (bytes) => ReadResponse.decode(bytes),
};

function describeService(): DescService {
  const proto = fileURLToPath(new URL('../../../packages/protocols', import.meta.url));
  const image = execFileSync('buf', ['build', proto, '-o', '-'], { maxBuffer: 1e8 });
  const service = createFileRegistry(fromBinary(FileDescriptorSetSchema, image)).getService(
    'testing.v1.TestService',
  );
  if (!service) throw new Error('the schema has no testing.v1.TestService');
  return service;
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
