import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Environment } from '@octavo/core';
import { type Clock, systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { testFolder, testMode } from '@octavo/testing';
import { startSystem } from './index.ts';

/** A running gateway with its backends. Tests use its address. */
export interface TestSystem extends AsyncDisposable {
  readonly url: string;
  /** Passwords of the demo accounts admin, editor and viewer. */
  readonly passwords: Readonly<Record<'admin' | 'editor' | 'viewer', string>>;
  /** The processes, by service; empty if everything runs in this process. */
  readonly processes: Readonly<Record<string, ChildProcess>>;
}

const passwords = {
  admin: 'admin-of-the-tests',
  editor: 'editor-of-the-tests',
  viewer: 'viewer-of-the-tests',
};
const startMs = 60_000;

/**
 * Starts gateway, posts and authz in the mode that `testMode` reads from the environment: in this process or as three
 * processes, on SQLite or PostgreSQL. Call it at the top of a test file: the database is dropped after its tests. With a
 * clock it runs in this process.
 */
export async function startTestSystem(settings: Environment = {}, clock?: Clock): Promise<TestSystem> {
  const { databaseUrl = '', isRemote } = await testMode();
  const environment = {
    NODE_ENV: 'test',
    OCTAVO_DATA: testFolder('test'),
    LOG_LEVEL: 'error',
    DATABASE_URL: databaseUrl,
    DEMO_ADMIN_PASSWORD: passwords.admin,
    DEMO_EDITOR_PASSWORD: passwords.editor,
    DEMO_VIEWER_PASSWORD: passwords.viewer,
    ARGON2_MEMORY_KIB: '1024',
    ARGON2_PASSES: '1',
    ...settings,
  };
  const isHere = clock !== undefined || !isRemote;
  const started = isHere ? await startHere(environment, clock) : await startProcesses(environment);
  return { ...started, passwords };
}

/**
 * Starts one service as its own process on a free port, and returns it with its address once it is ready. `root` is the
 * folder of another copy of the project. The process ends with this one at the latest.
 */
export async function startProcess(
  name: string,
  environment: Environment,
  port = 0,
  root = join(import.meta.dirname, '../..'),
): Promise<{ url: string; child: ChildProcess }> {
  const entry = join(root, 'apps/octavo/octavo.js');
  const args = ['--max-semi-space-size=8', entry, 'serve', name, '--port', String(port)];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  killAtExit(child);
  const lines = createInterface({ input: child.stdout });
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`${name} ended with ${code}`)));
  ended.catch(() => {});
  const [line] = (await Promise.race([
    once(lines, 'line', { signal: AbortSignal.timeout(startMs) }),
    ended,
  ])) as [string];
  (child.stdout as Socket).unref();
  return { url: line.split(/\s+/)[1] ?? '', child };
}

const children: ChildProcess[] = [];

/** A child that a failed test leaves running does not keep this process alive, and is killed when it exits. */
function killAtExit(child: ChildProcess): void {
  child.unref();
  // First of the listeners: others remove the folders.
  if (children.length === 0) process.prependOnceListener('exit', killAll);
  children.push(child);
}

function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** Sends a process a signal and waits for its exit. Throws if it does not exit cleanly on SIGTERM. */
export async function stopProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.ref();
  // A test may have stopped it, and then failed.
  child.kill('SIGCONT');
  child.kill(signal);
  const [code, endedBy] = await gone;
  if (signal === 'SIGTERM' && code !== 0) throw new Error(`it ended with ${code ?? endedBy} on SIGTERM`);
}

type Started = Pick<TestSystem, 'url' | 'processes'> & AsyncDisposable;

async function startHere(environment: Environment, clock: Clock = systemClock): Promise<Started> {
  const ports = { gateway: 0 };
  const system = await startSystem(['gateway'], { environment, ports, log: silentLog, clock });
  const [address] = await system.addresses();
  return {
    url: address?.url ?? '',
    processes: {},
    [Symbol.asyncDispose]: () => system[Symbol.asyncDispose](),
  };
}

async function startProcesses(environment: Environment): Promise<Started> {
  const [posts, authz] = await Promise.all([
    startProcess('posts', environment),
    startProcess('authz', environment),
  ]);
  const gateway = await startProcess('gateway', {
    ...environment,
    POSTSVC_ADDR: new URL(posts.url).host,
    AUTHSVC_ADDR: new URL(authz.url).host,
  });
  return {
    url: gateway.url,
    processes: { posts: posts.child, authz: authz.child, gateway: gateway.child },
    async [Symbol.asyncDispose]() {
      await stopProcess(gateway.child);
      await Promise.all([stopProcess(posts.child), stopProcess(authz.child)]);
    },
  };
}
