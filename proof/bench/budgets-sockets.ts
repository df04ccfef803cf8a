/**
 * Fan-out of notifications to WebSockets of one service process, beside bare `ws` that sends the same texts to the same sockets, from
 * memory. A notification belongs to one account, and an account may have any number of sockets, so the clients are spread in two ways:
 * - one account with all of them, such as screens that show the same books. Messages to it are sent one after another, four at a time,
 *   and counted where they arrive.
 * - a thousand accounts with five devices each. Messages go to one account after another, 64 at a time, and each of ours is committed
 *   before it is answered.
 * Then the delay of delivery: one message a second to all sockets of the one account, from before its request to each socket.
 * Clients are two processes of their own. Every message must arrive at every socket, in order. Where clients take most of the machine,
 * the CPU time of the server for a message that arrives says more than the rate.
 *
 *   node proof/bench/budgets-sockets.ts [rounds] [seconds] [sockets]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ClientReport, startClients } from './budgets/socket-clients.ts';
import { light, register, send, startBudgetsProcess } from './budgets/start.ts';
import { bests } from './lib/compare.ts';
import { cpuUsOf } from './lib/cpu.ts';
import { quantiles } from './lib/load.ts';

const [rounds = 3, seconds = 4, sockets = 5_000] = process.argv.slice(2).map(Number);
const devices = 5;
const inFlightToOne = 4;
const inFlightToMany = 64;
const delaySeconds = 10;

/** A server and the `Authorization` of its accounts. */
interface Target {
  readonly url: string;
  readonly pid: number | undefined;
  readonly accounts: readonly string[];
}

await using service = await startBudgetsProcess(undefined, light);
using bare = await startBare();
const accounts: string[] = [];
for (let number = 0; number < sockets / devices; number++) {
  accounts.push((await register(service.url, `user-${number}@example.com`)).authorization ?? '');
}
const ours = { url: service.url, pid: service.child.pid, accounts };
const floor = { ...bare, accounts: accounts.map((_, number) => `Bearer ${number}`) };

await compare('one account', 1, inFlightToOne);
await compare(`${accounts.length} accounts`, accounts.length, inFlightToMany);
for (const [name, target] of Object.entries({ ours, 'bare ws': floor })) {
  const { p50Ms, p99Ms, maxMs } = quantiles(
    await delays({ ...target, accounts: target.accounts.slice(0, 1) }),
  );
  const figures = [p50Ms, p99Ms, maxMs].map((ms) => `${ms.toFixed(0)} ms`);
  console.log(
    `one message to ${sockets} sockets, ${name}: p50 ${figures[0]}, p99 ${figures[1]}, max ${figures[2]}`,
  );
}

async function compare(title: string, count: number, inFlight: number): Promise<void> {
  const cpuUs = new Map<Target, number>();
  const of = (target: Target) => async () => {
    const some = { ...target, accounts: target.accounts.slice(0, count) };
    const measured = await rate(some, inFlight);
    cpuUs.set(target, Math.min(cpuUs.get(target) ?? Number.POSITIVE_INFINITY, measured.cpuUs));
    return measured.perSecond;
  };
  const found = await bests({ ours: of(ours), 'bare ws': of(floor) }, rounds);
  const { ours: own = 0, 'bare ws': other = 0 } = found;
  const cpu = [ours, floor].map((target) => (cpuUs.get(target) ?? 0).toFixed(1));
  console.log(
    `${sockets} sockets of ${title}: ${own.toFixed(0)} messages/s, bare ws ${other.toFixed(0)}/s, ${(own / other).toFixed(2)} of it; CPU time of a message ${cpu[0]} and ${cpu[1]} µs`,
  );
}

/** Messages that arrive in a second while as many are sent as arrive, and the CPU time of the server for each. */
async function rate(target: Target, inFlight: number): Promise<{ perSecond: number; cpuUs: number }> {
  await using clients = await startClients(target, sockets);
  let isOver = false;
  let sent = 0;
  const each = sockets / target.accounts.length;
  const drive = async () => {
    while (!isOver) {
      const number = sent++;
      await clients.until((number - inFlight + 1) * each);
      await tell(target.url, target.accounts[number % target.accounts.length] ?? '');
    }
  };
  const driven = Array.from({ length: inFlight }, drive);
  await setTimeout(1_000);
  const before = clients.received();
  const cpuBeforeUs = await cpuUsOf(target.pid);
  const startedMs = performance.now();
  await setTimeout(seconds * 1_000);
  const arrived = clients.received() - before;
  const perSecond = (arrived * 1_000) / (performance.now() - startedMs);
  const cpuUs = ((await cpuUsOf(target.pid)) - cpuBeforeUs) / arrived;
  isOver = true;
  await Promise.all(driven);
  await clients.until(sent * each);
  checkOrder(await clients.reports());
  return { perSecond, cpuUs };
}

async function delays(target: Target): Promise<number[]> {
  await using clients = await startClients(target, sockets);
  for (let sent = 1; sent <= delaySeconds; sent++) {
    await tell(target.url, target.accounts[0] ?? '');
    await setTimeout(1_000);
  }
  await clients.until(delaySeconds * sockets);
  const reports = await clients.reports();
  checkOrder(reports);
  return reports.flatMap(({ delaysMs }) => delaysMs);
}

/** Sends a message with the time, by which clients know how long it took. */
async function tell(url: string, authorization: string): Promise<void> {
  const message = String(performance.timeOrigin + performance.now());
  await send(`${url}/api/notifications`, { headers: { authorization }, body: { message } });
}

function checkOrder(reports: readonly ClientReport[]): void {
  const wrong = reports.reduce((sum, { outOfOrder }) => sum + outOfOrder, 0);
  if (wrong > 0) throw new Error(`${wrong} messages came twice, late, or after a hole`);
}

async function startBare(): Promise<{ url: string; pid: number | undefined } & Disposable> {
  const child = fork(fileURLToPath(new URL('./budgets/bare-sockets.ts', import.meta.url)));
  const [url] = (await once(child, 'message')) as [string];
  return { url, pid: child.pid, [Symbol.dispose]: () => void child.kill() };
}
