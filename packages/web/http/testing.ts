import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import { systemClock } from '@octavo/core';
import { createLog } from '@octavo/core/log';
import { sendRequest, type TestRequest, type TestResponse } from '@octavo/testing';
import { Registry } from 'prom-client';
import type { HttpServerOptions } from './options.ts';
import { createHttpServer, type HttpApp, type HttpServer } from './server.ts';

/** A server with the given routes on a free port, and what it logged. */
export interface TestServer extends AsyncDisposable {
  readonly server: HttpServer;
  readonly url: string;
  readonly port: number;
  readonly log: Record<string, unknown>[];
  /** Ends requests that are still arriving as Node does when their time is up, now and not by the clock of the machine. */
  expireRequests(): void;
  /** `GET` by default. A body is sent as JSON unless it is text or the headers say otherwise. */
  send(path: string, request?: TestRequest): Promise<AppResponse>;
}

export interface AppResponse extends TestResponse {
  /** The parts of an error in the default shape. */
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly fields: Record<string, string>;
  };
}

/** Starts a server for a test. */
export async function startTestServer(
  addRoutes: (app: HttpApp) => void,
  options: Partial<HttpServerOptions> & { port?: number } = {},
): Promise<TestServer> {
  const log: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(line, _encoding, done) {
      log.push(JSON.parse(String(line)));
      done();
    },
  });
  const server = await createHttpServer({
    name: 'notes',
    title: 'Notes',
    description: 'Notes of the tests.',
    context: {
      log: createLog({ service: 'notes', level: 'debug', destination }),
      clock: systemClock,
      dataFolder: '',
      environment: 'test',
      metrics: new Registry(),
      host: '127.0.0.1',
      port: options.port ?? 0,
    },
    ...options,
  });
  addRoutes(server.app);
  const node = server.app.server;
  const sockets = new Set<Socket>();
  node.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const url = await server.listen();
  return {
    server,
    url,
    port: Number(new URL(url).port),
    log,
    expireRequests() {
      const late = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      for (const socket of sockets) node.emit('clientError', late, socket);
    },
    send: (path, given) => send(`${url}${path}`, given),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function send(url: string, request?: TestRequest): Promise<AppResponse> {
  const response = await sendRequest(url, request);
  return { ...response, error: response.json?.error };
}

/** A raw connection, for what HTTP clients would not send or would hide. */
export class Wire implements AsyncDisposable {
  readonly socket: Socket;
  /** Settles when the other side has closed. */
  readonly closed: Promise<void>;
  received = '';

  private constructor(socket: Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        this.received += bytes.toString('latin1');
      });
  }

  static async open(port: number): Promise<Wire> {
    const socket = connect(port, '127.0.0.1');
    const wire = new Wire(socket);
    await once(socket, 'connect');
    return wire;
  }

  /** Sends lines, each ended by CRLF. */
  send(...lines: string[]): void {
    this.socket.write(lines.map((line) => `${line}\r\n`).join(''));
  }

  /** The received text once it matches; throws if the connection closes first. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.received)) {
      if (this.socket.closed) throw new Error(`closed after ${JSON.stringify(this.received)}`);
      await Promise.race([once(this.socket, 'data'), this.closed]);
    }
    return this.received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await this.closed;
  }
}

/** Sends one raw request and returns the whole response, once the server has closed the connection. */
export async function exchange(port: number, ...lines: string[]): Promise<string> {
  await using wire = await Wire.open(port);
  wire.send(...lines);
  await wire.closed;
  return wire.received;
}
