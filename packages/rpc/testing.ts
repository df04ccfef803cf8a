import { createServer, type Server } from 'node:net';
import { type Log, systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import type { ServiceContext } from '@octavo/data/service';
import {
  type ReadResponse,
  type Row,
  TestServiceDefinition,
  type WatchResponse,
} from '@octavo/protocols/testing/v1/testing';
import type { HttpServerOptions } from '@octavo/web/server';
import { createHttpServer } from '@octavo/web/server';
import { Registry } from 'prom-client';
import { type RemoteClient, type RemoteClientOptions, remoteClient } from './client/remote.ts';
import type { Handlers } from './contract.ts';
import { type LocalClientOptions, localClient } from './local.ts';
import { type ServeOptions, serveRpc } from './server/serve.ts';

export type TestHandlers = Handlers<TestServiceDefinition>;
export type TestClient = RemoteClient<TestServiceDefinition>;

export const token = 'token-of-the-tests';

/** A row in which every field has something to lose. */
export function rowOf(id: number, text = `row ${id} – ünï€ 🎉`): Row {
  return {
    id,
    text,
    data: Buffer.from([0, 255, id & 255]),
    parentId: id === 0 ? undefined : id - 1,
    counts: new Map([['a', id]]),
    createdAtMs: 1_760_000_000_000 + id,
  };
}

/** Handlers with plain responses, except for those given. */
export function handlersWith(handlers: Partial<TestHandlers> = {}): TestHandlers {
  return {
    read: async ({ text }): Promise<ReadResponse> => ({ row: rowOf(7, text) }),
    write: async ({ row }) => ({ id: row?.id ?? 0 }),
    async *watch({ count }): AsyncGenerator<WatchResponse> {
      for (let id = 0; id < count; id += 1) yield { rows: [rowOf(id)] };
    },
    ...handlers,
  };
}

/** A running server; `accepted` counts the connections made to it, `connections` those that are open. */
export interface TestServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  accepted(): number;
  connections(): Promise<number>;
  /** Cuts every connection. */
  cut(): void;
}

/** A server of the handlers on a free port, or on the given one. */
export async function serveTest(
  handlers: TestHandlers,
  options: Partial<ServeOptions> & { port?: number; limits?: HttpServerOptions['limits'] } = {},
): Promise<TestServer> {
  const log = options.log ?? silentLog;
  const context: ServiceContext = {
    log,
    clock: systemClock,
    dataFolder: '',
    environment: 'test',
    metrics: new Registry(),
    host: '127.0.0.1',
    port: options.port ?? 0,
  };
  const server = await createHttpServer({
    name: 'test',
    context,
    title: 'Test',
    description: 'Test',
    // Other tests may be keeping the machine busy.
    limits: { eventLoopDelayMs: 60_000, ...options.limits },
  });
  await serveRpc(server.app, TestServiceDefinition, handlers, { token, ...options, log });
  let accepted = 0;
  server.app.server.on('connection', () => {
    accepted += 1;
  });
  const url = await server.listen();
  return {
    url,
    port: Number(new URL(url).port),
    accepted: () => accepted,
    connections: () =>
      new Promise((resolve, reject) => {
        server.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    cut: () => server.app.server.closeAllConnections(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A client of the address with the right token. */
export function clientOf(address: string, options: Partial<RemoteClientOptions> = {}): TestClient {
  return remoteClient(TestServiceDefinition, { address, token, log: silentLog, ...options });
}

/** Options of client and server, whichever transport it is. */
export interface TransportOptions extends Partial<LocalClientOptions> {
  readonly log?: Log;
}

/** Connections of a client to handlers; the contract holds for each. */
export const transports: readonly {
  readonly name: string;
  open(handlers: TestHandlers, options?: TransportOptions): Promise<AsyncDisposable & { client: TestClient }>;
}[] = [
  {
    name: 'in process',
    async open(handlers, options = {}) {
      const client = localClient(TestServiceDefinition, handlers, { log: silentLog, ...options });
      return { client: client as TestClient, async [Symbol.asyncDispose]() {} };
    },
  },
  {
    name: 'over the network',
    async open(handlers, options = {}) {
      const { streamIdleTimeoutMs } = options;
      const server = await serveTest(handlers, {
        log: options.log,
        streamIdleTimeoutMs,
        limits: { graceMs: 100 },
      });
      const client = clientOf(server.url, { ...options, log: silentLog });
      return {
        client,
        async [Symbol.asyncDispose]() {
          await client[Symbol.asyncDispose]();
          await server[Symbol.asyncDispose]();
        },
      };
    },
  },
];

/** A promise and the function that resolves it, for handlers to tell the test what happened. */
export function signalOf<T>(): { promise: Promise<T>; tell(value: T): void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { promise, tell: resolve };
}

/** A port without a server. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Listens on a free port of this machine, and returns it. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as { port: number }).port;
}
