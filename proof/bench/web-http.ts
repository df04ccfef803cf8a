/**
 * Measures the cost of packages/web/http for a request: a trivial JSON route beside plain Fastify with hooks that do the same (ids,
 * checks, headers, load shedding, metrics), Fastify alone, and a bare node:http server that writes the same body. Servers and
 * load run in processes of their own, and rounds alternate. On a busy machine the rate tells more about the neighbors than
 * about the server, so the processor time of a request counts: the tenth percentile over windows of 15 ms.
 *
 *   node proof/bench/web-http.ts [rounds] [seconds a round]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock, Type } from '@octavo/core';
import { createLog } from '@octavo/core/log';
import { createHttpServer, securityHeaders } from '@octavo/web/server';
import Fastify from 'fastify';
import { Histogram, Registry } from 'prom-client';
import { loadPeer } from './lib/peer-packages.ts';

const names = ['bare node:http', 'Fastify alone', 'Fastify, same hooks', 'packages/web/http'] as const;
const reach = 0.85;
const closingBrace = '}'.charCodeAt(0);
const schema = { response: { 200: Type.Object({ hello: Type.String() }) } };
const [role = '', ...parameters] = process.argv.slice(2);

if (role === 'load') process.send?.(await load(parameters[0] ?? '', Number(parameters[1])));
else if (role === 'serve') await serve(parameters[0] ?? '');
else await compare(Number(role || 8), Number(parameters[0] ?? 1));

async function compare(rounds: number, seconds: number): Promise<void> {
  const servers = await Promise.all(names.map((name) => start(['serve', name])));
  const best = names.map(() => 0);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { message: url }] of servers.entries()) {
      const { child, message: perSecond } = await start(['load', `${url}/hello`, String(seconds)]);
      child.kill();
      best[index] = Math.max(best[index] ?? 0, Number(perSecond));
    }
  }
  const costs = await Promise.all(servers.map(({ child }) => costOf(child)));
  for (const [index, name] of names.entries()) {
    const [rate = 0, cost = 0, floor = 0] = [best[index], costs[index], costs[0]];
    console.log(
      `${name.padEnd(19)} ${Math.round(rate)} requests/s  ${cost.toFixed(1)} µs a request  ${(floor / cost).toFixed(2)}`,
    );
  }
  const share = (costs[2] ?? 0) / (costs[3] ?? 1);
  console.log(
    `${share >= reach ? 'reached' : 'missed'}: ${share.toFixed(2)} of the same hooks, ${reach} wanted`,
  );
}

async function start(given: string[]): Promise<{ child: ChildProcess; message: unknown }> {
  const child = fork(fileURLToPath(import.meta.url), given);
  const [message] = await once(child, 'message');
  return { child, message };
}

async function costOf(child: ChildProcess): Promise<number> {
  child.send('cost');
  const [cost] = (await once(child, 'message')) as [number];
  child.kill();
  return cost;
}

async function serve(name: string): Promise<void> {
  const starts = [startBare, startFastify, startFastifyWithHooks, startKit];
  const server = await (
    starts[names.indexOf(name as (typeof names)[number])] as () => Server | Promise<Server>
  )();
  if (!server.listening) await once(server, 'listening');
  const costs: number[] = [];
  sample(server, costs);
  process.on('message', () =>
    process.send?.(costs.sort((one, other) => one - other)[Math.floor(costs.length / 10)]),
  );
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** Notes the processor time of a request in each window that had enough of them. */
function sample(server: Server, costs: number[]): void {
  let requests = 0;
  let before = process.cpuUsage();
  server.on('request', () => {
    requests++;
  });
  setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    if (requests > 150) costs.push((user + system) / requests);
    before = process.cpuUsage();
    requests = 0;
  }, 15);
}

function startBare(): Server {
  const body = JSON.stringify({ hello: 'world' });
  return createServer((_request, response) => {
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': body.length,
    });
    response.end(body);
  }).listen(0, '127.0.0.1');
}

async function startFastify(): Promise<Server> {
  const app = Fastify();
  app.get('/hello', { schema }, async () => ({ hello: 'world' }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
}

/** Starts the server that a team would write without Octavo: each concern is a plugin or a hook of its own. */
async function startFastifyWithHooks(): Promise<Server> {
  const single = new Set([
    'authorization',
    'host',
    'content-length',
    'content-type',
    'content-encoding',
    'origin',
  ]);
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Duration of requests.',
    labelNames: ['route', 'method', 'status'],
    registers: [new Registry()],
  });
  const app = Fastify({
    genReqId: ({ headers }) => {
      const given = headers['x-request-id'];
      return typeof given === 'string' && /^[\w.-]{1,128}$/.test(given) ? given : randomUUID();
    },
    connectionTimeout: 120_000,
    requestTimeout: 60_000,
  });
  app.addHook('onRequest', (request, _reply, done) => {
    const seen = new Set<string>();
    const { rawHeaders } = request.raw;
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const header = (rawHeaders[index] as string).toLowerCase();
      if (single.has(header) && seen.has(header)) return done(new Error(`${header} is repeated`));
      seen.add(header);
    }
    done(request.url.length > 8_192 ? new Error('the address is too long') : undefined);
  });
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(securityHeaders.api).header('x-request-id', request.id);
    done();
  });
  await app.register(loadPeer('@fastify/under-pressure'), { maxEventLoopDelay: 500 });
  app.addHook('onResponse', ({ method, routeOptions }, { statusCode, elapsedTime }, done) => {
    durations.observe({ route: routeOptions.url ?? '', method, status: statusCode }, elapsedTime / 1000);
    done();
  });
  app.get('/hello', { schema }, async () => ({ hello: 'world' }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
}

async function startKit(): Promise<Server> {
  const { app, listen } = await createHttpServer({
    name: 'bench',
    title: 'Bench',
    description: 'One trivial route.',
    context: {
      log: createLog({ service: 'bench', level: 'warn' }),
      clock: systemClock,
      dataFolder: '.',
      environment: 'production',
      metrics: new Registry(),
      host: '127.0.0.1',
      port: 0,
    },
  });
  app.get('/hello', { access: 'public', schema }, async () => ({ hello: 'world' }));
  await listen();
  return app.server;
}

/** One request at a time on each of 64 connections, by bare sockets, so that the load costs less than what it measures. */
async function load(url: string, seconds: number): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  const request = `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAccept: application/json\r\n\r\n`;
  let answers = 0;
  for (let index = 0; index < 64; index++) {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.setNoDelay().on('data', (bytes) => {
      if (bytes.at(-1) !== closingBrace) return;
      answers++;
      socket.write(request);
    });
  }
  await setTimeout(300);
  answers = 0;
  const startMs = performance.now();
  await setTimeout(seconds * 1000);
  return (answers * 1000) / (performance.now() - startMs);
}
