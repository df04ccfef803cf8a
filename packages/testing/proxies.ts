import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';

/** Headers by which proxies mark a request. */
export const proxyHeaders = [
  'forwarded',
  'via',
  'x-real-ip',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
];

/** A load balancer: each request goes to the next server. It ends after the tests of the calling file. */
export interface Balancer {
  readonly url: string;
  /** Starts sending requests to a server. */
  put(url: string): void;
  /** Stops sending requests to a server, and waits until it has responded to those in flight. */
  take(url: string): Promise<void>;
}

/** Starts it. A request that reached no server is retried at the next; one that may have reached a server gets 502. */
export async function startBalancer(): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true });
  const underWay = new Map<string, number>();
  let servers: string[] = [];
  let turn = 0;
  const balancer = createServer(async (incoming, outgoing) => {
    const body = Buffer.concat(await Array.fromAsync(incoming));
    const first = turn++ % servers.length;
    for (const server of [...servers.slice(first), ...servers.slice(0, first)]) {
      underWay.set(server, (underWay.get(server) ?? 0) + 1);
      const isAnswered = await forward({ incoming, outgoing, body, server, agent });
      underWay.set(server, (underWay.get(server) ?? 0) - 1);
      if (isAnswered) return;
    }
    outgoing.writeHead(502).end();
  });
  balancer.listen(0, '127.0.0.1');
  await once(balancer, 'listening');
  after(() => {
    balancer.closeAllConnections();
    balancer.close();
    agent.destroy();
  });
  return {
    url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    put(url) {
      servers = [...servers.filter((each) => each !== url), url];
    },
    async take(url) {
      servers = servers.filter((each) => each !== url);
      while ((underWay.get(url) ?? 0) > 0) await setTimeout(10);
    },
  };
}

/** False if the server could not be reached. */
async function forward(parts: {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
  body: Buffer;
  server: string;
  agent: Agent;
}): Promise<boolean> {
  const { incoming, outgoing, body, server, agent } = parts;
  const { method = 'GET', url = '/', headers } = incoming;
  const onward = request(server + url, { method, headers, agent });
  onward.end(body);
  try {
    const [answer] = (await once(onward, 'response')) as [IncomingMessage];
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    for await (const piece of answer) outgoing.write(piece);
    outgoing.end();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return false;
    if (outgoing.headersSent) outgoing.destroy();
    else outgoing.writeHead(502).end();
  }
  return true;
}

/** A connection to a server that tests can interrupt. */
export interface Gate {
  /** The address of the server through this proxy: `127.0.0.1:port`. */
  readonly address: string;
  /** Cuts all connections, and accepts none until it is opened again. */
  cut(): void;
  open(): void;
  /** Delays each piece by a number of milliseconds; 0 lets it through as it comes. */
  slow(delayMs: number): void;
  /** Lets nothing through, as a server that is frozen: it takes connections and requests, and does not respond. */
  freeze(): void;
  /** Lets through what was held back, also from connections whose client has left. */
  thaw(): void;
  /**
   * Passes everything on until a connection has sent these texts, each in a message after the one before, and then cuts it in place of
   * the response.
   */
  cutResponseTo(...texts: readonly string[]): void;
}

/** Texts at which a response is cut, and how many of them a connection has sent. */
const nothing: { texts: readonly string[]; seen: WeakMap<Socket, number> } = {
  texts: [],
  seen: new WeakMap(),
};

/** Starts a proxy in front of the server at `host:port`. It ends after the tests of the calling file. */
export async function startGate(server: string): Promise<Gate> {
  const gate = await openGate(server);
  after(() => gate[Symbol.asyncDispose]());
  return gate;
}

/** Starts a proxy that runs until it is disposed of. */
export async function openGate(server: string): Promise<Gate & AsyncDisposable> {
  const { hostname, port } = new URL(`tcp://${server}`);
  const sockets = new Map<Socket, Socket>();
  const lags = new WeakMap<Socket, Transform>();
  let delayMs = 0;
  let isOpen = true;
  let isFrozen = false;
  let unanswered = nothing;
  const join = (socket: Socket, other: Socket) => {
    if (delayMs > 0 && !lags.has(socket)) {
      const lag = lagOf(() => delayMs);
      lag.pipe(other);
      lags.set(socket, lag);
    }
    socket.pipe(lags.get(socket) ?? other);
  };
  const gate = createTcpServer((near) => {
    if (!isOpen) return near.destroy();
    const far = connect(Number(port), hostname);
    near.on('data', (bytes: Buffer) => {
      const { texts, seen } = unanswered;
      const count = seen.get(near) ?? 0;
      const text = texts[count];
      if (text === undefined || !bytes.includes(text)) return;
      seen.set(near, count + 1);
      if (count + 1 < texts.length) return;
      unanswered = nothing;
      far
        .unpipe()
        .once('data', () => near.destroy())
        .resume();
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.set(socket, other);
      if (!isFrozen) join(socket, other);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  const cut = () => {
    isOpen = false;
    for (const socket of sockets.keys()) socket.destroy();
  };
  gate.listen(0, '127.0.0.1');
  await once(gate, 'listening');
  return {
    address: `127.0.0.1:${(gate.address() as AddressInfo).port}`,
    cut,
    open() {
      isOpen = true;
    },
    freeze() {
      isFrozen = true;
      for (const socket of sockets.keys()) socket.unpipe();
    },
    thaw() {
      isFrozen = false;
      for (const [socket, other] of sockets) join(socket, other);
    },
    slow(ms) {
      delayMs = ms;
      if (isFrozen) return;
      for (const [socket, other] of sockets) {
        socket.unpipe();
        join(socket, other);
      }
    },
    cutResponseTo(...texts) {
      unanswered = { texts, seen: new WeakMap() };
    },
    async [Symbol.asyncDispose]() {
      cut();
      gate.close();
    },
  };
}

/** Passes everything on in its order, each piece after its delay. */
function lagOf(delayMs: () => number): Transform {
  return new Transform({
    transform(piece, _encoding, pass) {
      setTimeout(delayMs()).then(() => pass(null, piece));
    },
  });
}
