import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { testFolder } from '@octavo/testing';
import { entry } from '../command-line.ts';
import { Random } from '../random.ts';
import { Client } from './client.ts';
import { type Engines, startEngines } from './engines.ts';
import { type Durations, type Fault, faultsOf, killOf } from './faults.ts';
import { Ledger } from './ledger.ts';
import { budgetsLoad } from './load-budgets.ts';
import { chatLoad, portfolioLoad } from './load-chat.ts';
import { postPasswords, postsLoad } from './load-posts.ts';
import { pollsLoad, quotesLoad } from './load-public.ts';
import { signInLoad } from './load-sign-in.ts';
import { Secrets } from './secrets.ts';
import { createSystem, hasServers, type Layout, type Process, type System, unreadyOf } from './system.ts';
import { type Stage, Worker } from './workload.ts';

export interface DayOptions {
  readonly layout: Layout;
  readonly seed: number;
  /** Time for faults; the rest of them is left out. Kills take the time that they need. */
  readonly minutes: number;
  /** Number of kills of each service, its replicas in turn, in place of all other faults. */
  readonly kills?: number | undefined;
  /** Leaves out faults whose text, such as `freeze: NATS`, does not match. */
  readonly only?: RegExp | undefined;
  readonly durations: Durations;
  /** Longest time for everything to work again after a fault. */
  readonly patienceMs: number;
  /** Settings besides. */
  readonly environment?: Readonly<Record<string, string>>;
  print(line: string): void;
}

/** A fault that happened, and how long everything took to work again after it. */
export interface Recovery {
  readonly kind: string;
  readonly target: string;
  /** Undefined if something did not work in time. */
  readonly recoveryMs: number | undefined;
  /** The load that took longest. */
  readonly slowest: string;
}

export interface DayReport {
  readonly recoveries: readonly Recovery[];
  /** Faults of the last round for which there was no time. */
  readonly left: number;
  readonly totals: ReturnType<Ledger['totals']>;
  readonly silences: readonly {
    readonly name: string;
    readonly done: number;
    readonly longestSilenceMs: number;
  }[];
  /** Lost, doubled or refused writes, gaps, and responses that must not be. */
  readonly findings: readonly string[];
}

/** Runs all services under load, and lets faults happen to them one after another. */
export async function runDay(options: DayOptions): Promise<DayReport> {
  const { layout, print, seed } = options;
  const startedMs = performance.now();
  const say = (line: string) =>
    print(`${((performance.now() - startedMs) / 1_000).toFixed(1).padStart(7)} s  ${line}`);
  const ledger = new Ledger();
  const secrets = new Secrets();
  await using engines = await startEngines({ hasServers: hasServers(layout) });
  const logFolder = testFolder('hard-day-logs');
  const environment = { ...settingsOf(engines), ...options.environment };
  for (const [name, value] of Object.entries(environment))
    if (/(SECRET|TOKEN|PASSWORD)$/.test(name)) secrets.add(value);
  secrets.add(URL.parse(engines.environment.DATABASE_URL ?? '')?.password ?? '');
  await using system = await createSystem(layout, {
    environment,
    dataFolder: engines.dataFolder,
    logFolder,
    ledger,
  });
  await system.start();
  say(`${system.processes.length} processes are ready; their logs are in ${logFolder}`);
  const over = new AbortController();
  using _readers = { [Symbol.dispose]: () => over.abort() };
  const stage = stageOf({ system, engines, environment, ledger, secrets, seed, over: over.signal });
  const workers = (await loadsOf(stage)).map((workload) => new Worker(workload, ledger));
  for (const worker of workers) worker.start();
  await recoveryOf({ system, workers, patienceMs: options.patienceMs, sinceMs: performance.now() });
  say(`all ${workers.length} loads work`);
  const { recoveries, left } = await letFaultsHappen(options, { system, engines, workers, ledger, say });
  await Promise.all(workers.map((worker) => worker.stop()));
  say('the load has ended; comparing');
  for (const { workload } of workers)
    await workload
      .verify?.()
      .catch((error: Error) => ledger.report(`${workload.name}: ${error.stack ?? error}`));
  say('compared');
  const { lines, found } = await secrets.searchLogs(logFolder);
  for (const line of found) ledger.report(`a secret is in a log: ${line}`);
  say(`searched ${lines} lines of logs for ${secrets.count} secrets`);
  return {
    recoveries,
    left,
    totals: ledger.totals(),
    silences: workers.map(({ workload: { name }, done, longestSilenceMs }) => ({
      name,
      done,
      longestSilenceMs,
    })),
    findings: ledger.findings(),
  };
}

/** Lets one fault happen after another, each after the recovery from the one before, until the time is over. */
async function letFaultsHappen(
  options: DayOptions,
  parts: Parts,
): Promise<Pick<DayReport, 'recoveries' | 'left'>> {
  const { system, engines, workers, ledger, say } = parts;
  const { patienceMs } = options;
  const random = new Random(options.seed);
  const endMs = performance.now() + options.minutes * 60_000;
  const recoveries: Recovery[] = [];
  let faults: Fault[] = [];
  while (options.kills !== undefined || performance.now() < endMs) {
    if (faults.length === 0) {
      // Each kill has its turn once; other faults come again while there is time.
      if (options.kills !== undefined && recoveries.length > 0) break;
      faults = faultsFor(options, { system, engines, random });
    }
    const fault = faults.shift() as Fault;
    await delay(random.below(300));
    say(`${fault.kind}: ${fault.target}`);
    await fault.run();
    const { recoveryMs, slowest } = await recoveryOf({
      system,
      workers,
      patienceMs,
      sinceMs: performance.now(),
    });
    if (recoveryMs === undefined)
      ledger.report(`${fault.kind}: ${fault.target}: no recovery in time of ${slowest}`);
    say(
      `  recovered in ${recoveryMs === undefined ? `over ${patienceMs / 1_000}` : (recoveryMs / 1_000).toFixed(1)} s (${slowest})`,
    );
    recoveries.push({ kind: fault.kind, target: fault.target, recoveryMs, slowest });
  }
  return { recoveries, left: faults.length };
}

interface Parts {
  readonly system: System;
  readonly engines: Engines;
  readonly workers: readonly Worker[];
  readonly ledger: Ledger;
  say(line: string): void;
}

async function loadsOf(stage: Stage) {
  const loads = await Promise.all([
    postsLoad(stage),
    signInLoad(stage),
    pollsLoad(stage),
    quotesLoad(stage),
    budgetsLoad(stage),
    chatLoad(stage),
    portfolioLoad(stage),
  ]);
  return loads.flat();
}

function faultsFor(
  { kills, only, durations }: DayOptions,
  { system, engines, random }: { system: System; engines: Engines; random: Random },
): Fault[] {
  const all =
    kills === undefined
      ? faultsOf(system, engines, durations)
      : system
          .groups()
          .flatMap((replicas) =>
            Array.from({ length: kills }, (_, turn) =>
              killOf(replicas[turn % replicas.length] as Process, durations),
            ),
          );
  return random.shuffled(all.filter(({ kind, target }) => only?.test(`${kind}: ${target}`) ?? true));
}

/** Time until every load has done something that it began after a moment, and every process is ready. */
async function recoveryOf({
  system,
  workers,
  sinceMs,
  patienceMs,
}: {
  system: System;
  workers: readonly Worker[];
  sinceMs: number;
  patienceMs: number;
}) {
  const endMs = sinceMs + patienceMs;
  let readyMs: number | undefined;
  let unready = system.addresses();
  for (;;) {
    unready = await unreadyOf(unready);
    if (unready.length === 0) readyMs ??= performance.now();
    const frequent = workers.filter(({ workload }) => !workload.isRare);
    const times = frequent.map((worker) => ({
      name: worker.workload.name,
      atMs: worker.successAfter(sinceMs),
    }));
    const all = [...times, { name: 'readiness', atMs: readyMs }];
    const late = all.filter(({ atMs }) => atMs === undefined);
    if (late.length === 0) {
      const last = all.reduce((most, each) => ((each.atMs ?? 0) > (most.atMs ?? 0) ? each : most));
      return { recoveryMs: (last.atMs ?? 0) - sinceMs, slowest: last.name };
    }
    if (performance.now() > endMs) {
      const verdicts = await Promise.all(unready.map(verdictOf));
      return { recoveryMs: undefined, slowest: [...late.map(({ name }) => name), ...verdicts].join(', ') };
    }
    await delay(50);
  }
}

/** The readiness of an address in its own words. */
async function verdictOf(url: string): Promise<string> {
  const response = await fetch(`${url}/readiness`).catch((error: Error) => error);
  return `${url}: ${response instanceof Error ? response : await response.text()}`;
}

function stageOf(parts: {
  system: System;
  engines: Engines;
  environment: Readonly<Record<string, string>>;
  ledger: Ledger;
  secrets: Secrets;
  seed: number;
  over: AbortSignal;
}): Stage {
  const { system, engines, environment, ledger, secrets, seed, over } = parts;
  return {
    ledger,
    engines,
    over,
    mark: `day${seed}`,
    // Accounts are in the memory of one process.
    clientOf: (service) =>
      new Client(service, system.addressesOf(service).slice(0, service === 'tokens' ? 1 : undefined), {
        ledger,
        secrets,
      }),
    grpcAddressOf(service) {
      const addresses = system.grpcAddressesOf(service);
      return addresses[Math.floor(Math.random() * addresses.length)] as string;
    },
    endsOf: (service) => system.endsOf(service),
    async octavo(args, more = {}) {
      const folder = hasOwnFolders(environment)
        ? testFolder('hard-day-command')
        : dataFolderOf(engines, system);
      const child = spawn(process.execPath, [entry, ...args], {
        env: { PATH: process.env.PATH, ...environment, OCTAVO_DATA: folder, ...more },
        stdio: 'ignore',
      });
      const [code] = (await once(child, 'exit')) as [number | null];
      return code ?? 1;
    },
  };
}

function hasOwnFolders(environment: Readonly<Record<string, string>>): boolean {
  return environment.DATABASE_URL !== undefined;
}

function dataFolderOf(engines: Engines, { processes }: System): string {
  return processes.length === 0 ? join(engines.dataFolder, 'none') : engines.dataFolder;
}

/** Settings of all services: keys that replicas share, no limits of requests, fast hashes. */
function settingsOf(engines: Engines): Record<string, string> {
  const noLimits = [
    'RATE_LIMIT_MAX',
    'PASSWORDLESS_LIMIT_POST_PER_IP',
    'PASSWORDLESS_LIMIT_MAGIC_PER_IP',
    'PASSWORDLESS_LIMIT_MAGIC_PER_ADDRESS',
    'PASSWORDLESS_LIMIT_ENROLL_PER_IP',
    'PASSWORDLESS_LIMIT_VERIFY_PER_IP',
    'PASSWORDLESS_LIMIT_REFRESH_PER_IP',
    'QUOTES_LIMIT_WRITES',
    'QUOTES_LIMIT_SIGN_INS',
    'QUOTES_LIMIT_SIGN_UPS',
    'BUDGETS_RATE_LIMIT_PER_MINUTE',
    'BUDGETS_RATE_LIMIT_BURST',
    'BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE',
    'CHAT_RATE_LIMIT',
    'UPLOAD_RATE_LIMIT',
    'SESSION_RATE_LIMIT',
    'READ_RATE_LIMIT',
    'PORTFOLIO_TOKEN_RATE_LIMIT',
  ];
  const secrets = [
    'RPC_TOKEN',
    'AUTHZ_SECRET',
    'GATEWAY_JWT_SECRET',
    'JWT_ACCESS_SECRET',
    'JWT_REFRESH_SECRET',
    'PASSWORDLESS_JWT_SECRET',
    'POLLS_SECRET',
    'QUOTES_SECRET',
    'JWT_SECRET',
    'CHAT_SECRET',
    'PORTFOLIO_JWT_SECRET',
  ];
  return {
    NODE_ENV: 'test',
    LOG_LEVEL: 'info',
    ARGON2_MEMORY_KIB: '1024',
    ARGON2_PASSES: '1',
    EMAIL_VERIFICATION: 'off',
    PASSWORDLESS_REFRESH_RETRY_SECONDS: '60',
    PASSWORDLESS_MAGIC_LINK_BASE_URL: 'http://localhost:3003/verify/magic',
    ...postPasswords,
    ...Object.fromEntries(noLimits.map((name) => [name, '0'])),
    ...Object.fromEntries(secrets.map((name) => [name, randomBytes(32).toString('hex')])),
    ...engines.environment,
  };
}
