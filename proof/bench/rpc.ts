/**
 * Unary calls between two processes on one machine, 64 in flight, small messages: ours beside plain node:http with undici
 * (the floor), grpc-js and connect-node; then ours within one process. Rounds alternate; the median of each counts.
 * CPU is the time of each process per call, which other load on the machine disturbs less than the rate.
 *
 *   node proof/bench/rpc.ts [rounds] [seconds] [in flight]
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { silentLog } from '@octavo/core/log';
import { TestServiceDefinition } from '@octavo/protocols/testing/v1/testing';
import { localClient } from '@octavo/rpc';
import { Registry } from 'prom-client';

const [rounds = 3, seconds = 3, inFlight = 64] = process.argv.slice(2).map(Number);
const names = ['floor', 'octavo', 'grpc-js', 'connect-node'];

interface Measurement {
  readonly perSecond: number;
  readonly clientMicros: number;
  readonly serverMicros: number;
}

const measurements = new Map<string, Measurement[]>(names.map((name) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const name of names) measurements.get(name)?.push(await measure(name));
}
for (const [name, all] of measurements) {
  const perSecond = median(all.map((each) => each.perSecond));
  const client = median(all.map((each) => each.clientMicros));
  const server = median(all.map((each) => each.serverMicros));
  console.log(
    `${name.padEnd(13)}${perSecond.toFixed(0).padStart(7)} calls/s   CPU per call: ` +
      `client ${client.toFixed(1).padStart(5)} µs, server ${server.toFixed(1).padStart(5)} µs`,
  );
}
console.log(
  `in process   ${(await measureLocal()).toFixed(2).padStart(7)} µs per call more than the handler alone`,
);

async function measure(name: string): Promise<Measurement> {
  const program = fileURLToPath(new URL('./rpc/process.ts', import.meta.url));
  const server = fork(program, ['server', name]);
  const [address] = (await once(server, 'message')) as [string];
  const client = fork(program, ['client', name, address, String(inFlight)]);
  await once(client, 'message');
  await ask<number>(server, 'reset');
  const { perSecond, calls, micros } = await ask<{ perSecond: number; calls: number; micros: number }>(
    client,
    seconds,
  );
  const serverMicros = await ask<number>(server, 'reset');
  client.disconnect();
  server.disconnect();
  return { perSecond, clientMicros: micros / calls, serverMicros: serverMicros / calls };
}

async function ask<T>(child: ChildProcess, question: string | number): Promise<T> {
  child.send(question);
  const [answer] = await once(child, 'message');
  return answer as T;
}

async function measureLocal(): Promise<number> {
  const answer = { row: undefined };
  const handlers = { read: async () => answer, write: async () => ({ id: 0 }), async *watch() {} };
  const client = localClient(TestServiceDefinition, handlers, { log: silentLog, metrics: new Registry() });
  const bare = () => handlers.read();
  const called = () => client.read({ text: '' });
  await repeat(called);
  await repeat(bare);
  return (await repeat(called)) - (await repeat(bare));
}

/** CPU time of one call in microseconds. */
async function repeat(call: () => Promise<unknown>): Promise<number> {
  const calls = 200_000;
  const { user, system } = process.cpuUsage();
  for (let count = 0; count < calls; count += 1) await call();
  const used = process.cpuUsage();
  return (used.user + used.system - user - system) / calls;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
