import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Environment } from '#kit/config.ts';
import { silentLog } from '#kit/log.ts';
import { testFolder } from '#kit/testing/folder.ts';
import { testDatabaseUrl } from '#kit/testing/postgres.ts';
import { startSystem } from './index.ts';

/** A running gateway with everything behind it, as the tests see it: an address. */
export interface TestSystem extends AsyncDisposable {
  readonly url: string;
  /** Passwords of the demo accounts admin, editor and viewer. */
  readonly passwords: Readonly<Record<'admin' | 'editor' | 'viewer', string>>;
  /** The processes behind it, by service; empty where all is one process. */
  readonly processes: Readonly<Record<string, ChildProcess>>;
}

const passwords = {
  admin: 'admin-of-the-tests',
  editor: 'editor-of-the-tests',
  viewer: 'viewer-of-the-tests',
};
const startMs = 20_000;

/**
 * Starts gateway, posts and authz as TEST_RPC says (`local`: in this process; `remote`: as three processes) on what
 * TEST_DATABASE says (`sqlite` or `postgres`). Call it at the top of a test file: the database is dropped after its tests.
 */
export async function startTestSystem(settings: Environment = {}): Promise<TestSystem> {
  const environment = {
    NODE_ENV: 'test',
    OCTAVO_DATA: testFolder('test'),
    LOG_LEVEL: 'error',
    DATABASE_URL: process.env.TEST_DATABASE === 'postgres' ? await postgresUrl() : '',
    DEMO_ADMIN_PASSWORD: passwords.admin,
    DEMO_EDITOR_PASSWORD: passwords.editor,
    DEMO_VIEWER_PASSWORD: passwords.viewer,
    ARGON2_MEMORY_KIB: '1024',
    ARGON2_PASSES: '1',
    ...settings,
  };
  const started =
    process.env.TEST_RPC === 'remote' ? await startProcesses(environment) : await startHere(environment);
  return { ...started, passwords };
}

/**
 * Starts one service as a process of its own on a free port and gives it with its address once it is ready; of another
 * copy of the project where its root is given. It ends with this process at the latest.
 */
export async function startProcess(
  name: string,
  environment: Environment,
  port = 0,
  root = join(import.meta.dirname, '..'),
): Promise<{ url: string; child: ChildProcess }> {
  const entry = join(root, 'bin/octavo.js');
  const args = ['--max-semi-space-size=8', entry, 'serve', name, '--port', String(port)];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithThis(child);
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

/** A child that a failed test leaves running keeps this process from nothing, and is killed when it ends. */
function endWithThis(child: ChildProcess): void {
  child.unref();
  // Before the folders are removed.
  if (children.length === 0) process.prependOnceListener('exit', killAll);
  children.push(child);
}

function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** Ends a process by a signal and waits until it is gone; throws where SIGTERM does not end it well. */
export async function stopProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.ref();
  child.kill(signal);
  const [code, endedBy] = await gone;
  if (signal === 'SIGTERM' && code !== 0) throw new Error(`it ended with ${code ?? endedBy} on SIGTERM`);
}

type Started = Pick<TestSystem, 'url' | 'processes'> & AsyncDisposable;

async function startHere(environment: Environment): Promise<Started> {
  const system = await startSystem(['gateway'], { environment, ports: { gateway: 0 }, log: silentLog });
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

async function postgresUrl(): Promise<string> {
  const database = await testDatabaseUrl();
  if (database.url === undefined) throw new Error(database.skip);
  return database.url;
}
