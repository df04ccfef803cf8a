import { EventEmitter, once } from 'node:events';
import type { TestContext } from 'node:test';
import type { Environment } from '@octavo/core';
import { AppError, FakeClock } from '@octavo/core';
import { createLog, silentLog } from '@octavo/core/log';
import { type Database, openDatabase } from '@octavo/data';
import type { ServiceContext } from '@octavo/data/service';
import { oidcMigrations } from '@octavo/people/sign-in';
import { AuthServiceDefinition } from '@octavo/protocols/authz/v1/authz';
import { type Client, localClient } from '@octavo/rpc';
import { remoteClient } from '@octavo/rpc/remote';
import { testConfig, testFolder, testMode } from '@octavo/testing';
import pg from 'pg';
import { Registry } from 'prom-client';
import { authz } from './service.ts';

import type { Tables } from './store.ts';

/** A database and a way to call. */
export interface World {
  readonly name: string;
  /** PostgreSQL, or SQLite if it is empty. */
  readonly databaseUrl: string | undefined;
  readonly remote: boolean;
}

export interface StartOptions {
  /** Another replica: it shares the database, the clock and the data folder. */
  readonly beside?: TestAuthz;
  readonly environment?: Environment;
  readonly nodeEnv?: ServiceContext['environment'];
  readonly dataFolder?: string;
}

export interface TestAuthz {
  readonly client: Client<AuthServiceDefinition>;
  readonly running: Awaited<ReturnType<typeof authz.start>>;
  readonly clock: FakeClock;
  readonly dataFolder: string;
  readonly metrics: Registry;
  readonly logs: Logs;
}

/** Collected log lines. */
export class Logs {
  readonly lines: Record<string, unknown>[] = [];
  readonly #events = new EventEmitter();

  write(line: string): void {
    this.lines.push(JSON.parse(line));
    this.#events.emit('line');
  }

  /** Waits until a message was logged a number of times. */
  async told(message: string, times = 1): Promise<void> {
    const signal = AbortSignal.timeout(5_000);
    while (this.lines.filter((line) => line.msg === message).length < times) {
      await once(this.#events, 'line', { signal });
    }
  }
}

const lightHashes = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' };

/** Runs the tests in the mode that the environment asks for. */
export async function inTestMode(tests: (world: World) => void): Promise<void> {
  const { databaseUrl, isRemote: remote } = await testMode();
  tests({ name: databaseUrl ? 'postgres' : 'sqlite', databaseUrl, remote });
}

/** The service with an empty database, or another replica of it. It stops after the test. */
export async function startAuthz(
  context: TestContext,
  world: World,
  options: StartOptions = {},
): Promise<TestAuthz> {
  const { beside } = options;
  const dataFolder = options.dataFolder ?? beside?.dataFolder ?? testFolder('authz');
  if (!beside && world.databaseUrl) await emptySchema(world.databaseUrl);
  const clock = beside?.clock ?? new FakeClock();
  const metrics = new Registry();
  const logs = new Logs();
  const log = createLog({ service: 'authz', destination: logs });
  const config = testConfig(authz.settings, {
    DATABASE_URL: world.databaseUrl,
    ...lightHashes,
    ...options.environment,
  });
  const running = await authz.start(
    config,
    {
      log,
      clock,
      dataFolder,
      environment: options.nodeEnv ?? 'test',
      metrics,
      host: '127.0.0.1',
      port: world.remote ? 0 : undefined,
    },
    {},
  );
  context.after(() => running[Symbol.asyncDispose]());
  return {
    client: clientOf(context, running, config.RPC_TOKEN),
    running,
    clock,
    dataFolder,
    metrics,
    logs,
  };
}

function clientOf(
  context: TestContext,
  running: Awaited<ReturnType<typeof authz.start>>,
  token: string | undefined,
): Client<AuthServiceDefinition> {
  if (!running.url) return localClient(AuthServiceDefinition, running.handlers, { log: silentLog });
  const client = remoteClient(AuthServiceDefinition, { address: running.url, token, log: silentLog });
  context.after(() => client[Symbol.asyncDispose]());
  return client;
}

/** The database of a started service, to look into. */
export function openStore(dataFolder: string, world: World): Promise<Database<Tables>> {
  return openDatabase<Tables>({
    name: 'authz',
    url: world.databaseUrl,
    folder: dataFolder,
    migrations: [oidcMigrations, new URL('./migrations/', import.meta.url)],
    log: silentLog,
  });
}

async function emptySchema(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('DROP SCHEMA IF EXISTS authz CASCADE');
  await client.end();
}

/** Returns the error that a call was refused with. */
export async function errorOf(call: Promise<unknown>): Promise<AppError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('the call was not refused');
}
