import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { freePort, testFolder } from '@octavo/testing';

export const password = 'ferries wait in the morning fog';

/** A message of the process with the services. */
export type Report =
  | { kind: 'ready'; sites: { name: string; url: string }[] }
  | { kind: 'stall'; cpuMs: number }
  | { kind: 'memory'; rss: number }
  | { kind: 'administrator'; name: string };

/** Everything that was found, each kind of finding once with an example. */
export class Findings {
  readonly #found = new Map<string, { count: number; example: string }>();

  add(what: string, example: string): void {
    const known = this.#found.get(what);
    if (known) known.count++;
    else this.#found.set(what, { count: 1, example: example.slice(0, 1_500) });
  }

  list(): string[] {
    return [...this.#found].map(([what, { count, example }]) => `${count} x ${what}\n    ${example}`);
  }
}

/** The running services. */
export interface Services extends AsyncDisposable {
  readonly sites: ReadonlyMap<string, string>;
  readonly grpcPort: number;
  readonly folder: string;
  readonly memory: { first: number; last: number; most: number };
  /** Descriptions of the requests that are under way, to tell what stopped the event loop. */
  readonly underWay: Set<string>;
  readonly isAlive: () => boolean;
  /** Creates another administrator, where one has lost its rights. */
  administrator(service: string, username: string): Promise<void>;
}

/** Starts all services in a process of their own. Errors in its log and stalls of its event loop are findings. */
export async function startServices(findings: Findings, databaseUrl = ''): Promise<Services> {
  const folder = testFolder('fuzz');
  const grpcPort = await freePort();
  const child = fork(join(import.meta.dirname, 'services-process.ts'), {
    env: environmentFor(folder, databaseUrl, grpcPort),
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  const underWay = new Set<string>();
  const memory = { first: 0, last: 0, most: 0 };
  let isAlive = true;
  let isStopping = false;
  const lastLines: string[] = [];
  child.once('exit', (code, signal) => {
    isAlive = false;
    if (!isStopping)
      findings.add(`the process ended with ${code ?? signal}`, [...lastLines, ...underWay].join('\n'));
  });
  readLog(child.stderr as Readable, findings, { underWay, lastLines });
  const sites = await siteOf(child);
  child.on('message', (report: Report) => {
    if (report.kind === 'stall' && report.cpuMs > 500)
      findings.add('the event loop stood still', `${report.cpuMs} ms: ${[...underWay].join('\n      ')}`);
    if (report.kind !== 'memory') return;
    memory.first ||= report.rss;
    memory.last = report.rss;
    memory.most = Math.max(memory.most, report.rss);
  });
  return {
    sites,
    grpcPort,
    folder,
    memory,
    underWay,
    isAlive: () => isAlive,
    administrator: (service, username) => createAdministrator(child, `${service} ${username}`),
    async [Symbol.asyncDispose]() {
      isStopping = true;
      if (!isAlive) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

function environmentFor(folder: string, databaseUrl: string, grpcPort: number): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    NODE_ENV: 'test',
    LOG_LEVEL: 'warn',
    OCTAVO_DATA: folder,
    OCTAVO_SSO: 'off',
    DATABASE_URL: databaseUrl,
    ARGON2_MEMORY_KIB: '8',
    ARGON2_PASSES: '1',
    // Each request comes from an address of its own, so that limits of clients do not end the test.
    TRUST_PROXY: '1',
    PASSWORDLESS_TRUST_PROXY: '1',
    GRPC_PORT: String(grpcPort),
    BUDGETS_RATE_LIMIT_PER_MINUTE: '0',
    BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE: '0',
    CHAT_RATE_LIMIT: '100000',
    POLLS_OPEN: 'on',
    DEMO_ADMIN_PASSWORD: password,
    DEMO_EDITOR_PASSWORD: password,
    FUZZ_PASSWORD: password,
  };
}

async function siteOf(child: ChildProcess): Promise<ReadonlyMap<string, string>> {
  const ready = Promise.withResolvers<ReadonlyMap<string, string>>();
  child.on('message', (report: Report) => {
    if (report.kind === 'ready') ready.resolve(new Map(report.sites.map(({ name, url }) => [name, url])));
  });
  child.once('exit', (code) => ready.reject(new Error(`the services ended with ${code} at their start`)));
  return ready.promise;
}

async function createAdministrator(child: ChildProcess, name: string): Promise<void> {
  child.send(name);
  for (;;) {
    const [report] = (await once(child, 'message', { signal: AbortSignal.timeout(20_000) })) as [Report];
    if (report.kind === 'administrator' && report.name === name) return;
  }
}

function readLog(
  stream: Readable,
  findings: Findings,
  { underWay, lastLines }: { underWay: ReadonlySet<string>; lastLines: string[] },
): void {
  createInterface({ input: stream }).on('line', (line) => {
    lastLines.push(line.slice(0, 300));
    if (lastLines.length > 5) lastLines.shift();
    if (!line.startsWith('{')) {
      if (line.trim() !== '' && !/ExperimentalWarning|--trace-warnings/.test(line))
        findings.add('a line in the log that is not JSON', line);
      return;
    }
    const { level, msg, service, err } = JSON.parse(line);
    if (level === 'error' || level === 'fatal')
      findings.add(
        `an error in the log of ${service}: ${msg} ${err?.message ?? ''}`.slice(0, 200),
        `${line}\n      ${[...underWay].join('\n      ')}`,
      );
  });
}
