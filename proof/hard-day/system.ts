import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, type WriteStream } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { topology } from '../../apps/octavo/index.ts';
import { basePort } from '../../apps/octavo/topology.ts';
import { entry } from '../command-line.ts';
import type { Ledger } from './ledger.ts';

/** Ways to run the eight services. */
export const layouts = {
  up: 'one process (`octavo up`) on SQLite',
  pair: 'two processes with all services each, on PostgreSQL, NATS and S3',
  apart: 'a process for each service, on SQLite',
  cluster: 'two processes for each service, on PostgreSQL, NATS and S3',
} as const;

export type Layout = keyof typeof layouts;

/** True if the services run on PostgreSQL, NATS and S3. */
export function hasServers(layout: Layout): boolean {
  return layout === 'pair' || layout === 'cluster';
}

const sites = ['gateway', 'tokens', 'passwordless', 'polls', 'quotes', 'budgets', 'chat', 'portfolio'];
const supervisorPauseMs = 300;

/** A process that is started again whenever it ends, as a supervisor does. */
export class Process {
  readonly label: string;
  readonly port: number;
  /** Number of times that it ended. */
  ends = 0;
  readonly #args: readonly string[];
  readonly #environment: Readonly<Record<string, string>>;
  readonly #log: WriteStream;
  readonly #ledger: Ledger;
  #child: ChildProcess | undefined;
  #isWanted = false;

  constructor(
    label: string,
    command: { args: readonly string[]; port: number; environment: Readonly<Record<string, string>> },
    { logFolder, ledger }: { logFolder: string; ledger: Ledger },
  ) {
    this.label = label;
    this.port = command.port;
    this.#args = [...command.args, '--port', String(command.port)];
    this.#environment = command.environment;
    this.#log = createWriteStream(join(logFolder, `${label}.log`));
    this.#ledger = ledger;
  }

  start(): void {
    this.#isWanted = true;
    const child = spawn(process.execPath, ['--max-semi-space-size=8', entry, ...this.#args], {
      env: { PATH: process.env.PATH, ...this.#environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    child.stderr?.pipe(this.#log, { end: false });
    const startedMs = performance.now();
    child.once('exit', async (code, signal) => {
      this.ends++;
      if (!this.#isWanted || child !== this.#child) return;
      // While an engine is away, a process that starts may give up and be started again. One that runs must not end.
      if (performance.now() - startedMs > 60_000)
        this.#ledger.report(`${this.label} ended by itself with ${code ?? signal}`);
      await delay(supervisorPauseMs);
      if (this.#isWanted && child === this.#child) this.start();
    });
  }

  /** Kills the process, as a failing machine does. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops the process, as an update does: it is told to end, and ends well within ten seconds. */
  async stop(): Promise<void> {
    const startedMs = performance.now();
    const code = await this.#end('SIGTERM');
    const tookMs = performance.now() - startedMs;
    if (code !== 0) this.#ledger.report(`${this.label} ended with ${code} on SIGTERM`);
    if (tookMs > 30_000) this.#ledger.report(`${this.label} took ${Math.round(tookMs)} ms to end`);
  }

  /** Ends it without waiting, where this process itself ends. */
  abandon(): void {
    this.#isWanted = false;
    this.#child?.kill('SIGKILL');
  }

  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    this.#isWanted = false;
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return 0;
    const gone = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill(signal);
    const [code] = (await gone) as [number | null];
    return code;
  }
}

/** Running processes of all services. */
export class System implements AsyncDisposable {
  readonly processes: readonly Process[];
  /** Addresses of the replicas of each service. */
  readonly #addresses: Readonly<Record<string, readonly string[]>>;
  readonly #owners: Readonly<Record<string, readonly Process[]>>;

  constructor(members: readonly Member[]) {
    this.processes = members.map(({ process }) => process);
    process.prependOnceListener('exit', () => {
      for (const each of this.processes) each.abandon();
    });
    const names = [...new Set(members.flatMap(({ urls }) => Object.keys(urls)))];
    this.#addresses = Object.fromEntries(
      names.map((name) => [name, members.flatMap(({ urls }) => urls[name] ?? [])]),
    );
    this.#owners = Object.fromEntries(
      names.map((name) => [name, members.flatMap(({ urls, process }) => (urls[name] ? [process] : []))]),
    );
  }

  addressesOf(service: string): readonly string[] {
    return this.#addresses[service] ?? [];
  }

  /** Processes that are replicas of each other. */
  groups(): (readonly Process[])[] {
    return [...Map.groupBy(this.processes, ({ label }) => label.replace(/-\d+$/, '')).values()];
  }

  /** Addresses of gRPC, whose port follows that of the process. */
  grpcAddressesOf(service: string): readonly string[] {
    return (this.#owners[service] ?? []).map(({ port }) => `localhost:${port + 53}`);
  }

  endsOf(service: string): number {
    return (this.#owners[service] ?? []).reduce((sum, { ends }) => sum + ends, 0);
  }

  /** Starts all, and waits until they are ready. */
  async start(): Promise<void> {
    for (const process of this.processes) process.start();
    const endMs = performance.now() + 300_000;
    let unready = this.addresses();
    while (unready.length > 0) {
      if (performance.now() > endMs) throw new Error(`not ready after five minutes: ${unready.join(', ')}`);
      await delay(200);
      unready = await unreadyOf(unready);
    }
  }

  /** Addresses of all services. */
  addresses(): string[] {
    return Object.values(this.#addresses).flat();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map((process) => process.kill()));
  }
}

/** Addresses whose readiness is not 200. */
export async function unreadyOf(addresses: readonly string[]): Promise<string[]> {
  const verdicts = await Promise.all(
    addresses.map(async (url) => {
      const signal = AbortSignal.timeout(10_000);
      const response = await fetch(`${url}/readiness`, { signal }).catch(() => undefined);
      await response?.arrayBuffer().catch(() => undefined);
      return response?.status === 200 ? [] : [url];
    }),
  );
  return verdicts.flat();
}

interface Member {
  readonly process: Process;
  readonly urls: Readonly<Record<string, string>>;
}

/** Settings of all processes. */
export interface Ground {
  readonly environment: Readonly<Record<string, string>>;
  readonly dataFolder: string;
  readonly logFolder: string;
  readonly ledger: Ledger;
}

/** The processes of a layout, not started yet. */
export async function createSystem(layout: Layout, ground: Ground): Promise<System> {
  mkdirSync(ground.logFolder, { recursive: true });
  if (layout === 'up') return new System([await memberOf('up', ['up'], ground)]);
  if (layout === 'pair')
    return new System(
      await Promise.all([1, 2].map((number) => memberOf(`all-${number}`, ['serve', ...sites], ground))),
    );
  const replicas = layout === 'cluster' ? 2 : 1;
  const several = (name: string, environment: Record<string, string> = {}, count = replicas) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        memberOf(`${name}-${index + 1}`, ['serve', name], {
          ...ground,
          environment: { ...ground.environment, ...environment },
        }),
      ),
    );
  const hasWorkers = layout === 'cluster';
  const apart = (names: readonly string[], members: readonly Member[]) =>
    members.flatMap(({ urls }) => names.map((name) => new URL(urls[name] as string).host)).join();
  const off = hasWorkers ? 'off' : 'on';
  const posts = await several('posts', { POSTS_WORKER: off });
  const authz = await several('authz');
  const workers = hasWorkers
    ? [...(await several('posts-worker')), ...(await several('passwordless-worker'))]
    : [];
  const backends = { POSTSVC_ADDR: apart(['posts'], posts), AUTHSVC_ADDR: apart(['authz'], authz) };
  const portfolio = await several('portfolio');
  const others: Member[] = [];
  for (const name of ['polls', 'quotes', 'budgets']) others.push(...(await several(name)));
  return new System([
    ...posts,
    ...authz,
    ...workers,
    ...(await several('gateway', backends)),
    ...(await several('tokens', {}, 1)),
    ...(await several('passwordless', { PASSWORDLESS_WORKER: off })),
    ...others,
    ...(await several('chat', { DOMAIN_API_URL: portfolio[0]?.urls.portfolio ?? '' })),
    ...portfolio,
  ]);
}

async function memberOf(label: string, args: readonly string[], ground: Ground): Promise<Member> {
  const isWhole = args.length !== 2;
  const port = await freePorts(isWhole);
  const dataFolder = hasOwnFolder(ground) ? join(ground.dataFolder, label) : ground.dataFolder;
  mkdirSync(dataFolder, { recursive: true });
  const environment = { ...ground.environment, OCTAVO_DATA: dataFolder };
  const process = new Process(label, { args, port, environment }, ground);
  const names = isWhole ? sites : args.slice(1);
  const urls = Object.fromEntries(
    names.map((name) => [name, `http://127.0.0.1:${port + (isWhole ? offsetOf(name) : 0)}`]),
  );
  return { process, urls };
}

/** Replicas on PostgreSQL are machines of their own. */
function hasOwnFolder({ environment }: Ground): boolean {
  return environment.DATABASE_URL !== undefined;
}

function offsetOf(name: string): number {
  return (topology.find((each) => each.name === name)?.upPort ?? basePort) - basePort;
}

const given = new Set<number>();

/** A free port below those that systems give to clients, with room for the other services and gRPC. */
async function freePorts(isWhole: boolean): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const needed = [port + 53, ...Array.from({ length: isWhole ? 10 : 1 }, (_, index) => port + index)];
    if (needed.some((each) => given.has(each))) continue;
    if (!(await Promise.all(needed.map(isFree))).every(Boolean)) continue;
    for (const each of needed) given.add(each);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once('error', () => resolve(false));
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  return promise;
}
