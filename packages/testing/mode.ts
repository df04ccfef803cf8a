import type { Environment } from '@octavo/core';
import { startPgbouncer } from './pgbouncer.ts';
import { testDatabaseUrl } from './postgres.ts';

/** Engines that the tests of a service use. */
export interface TestMode {
  /** A fresh database on PostgreSQL (`TEST_DATABASE=postgres`), or undefined for SQLite (the default). */
  readonly databaseUrl: string | undefined;
  /** True if services call each other over the network (`TEST_RPC=remote`), false in process (the default). */
  readonly isRemote: boolean;
}

/** True if a PgBouncer stands before the database (`TEST_POOLER=transaction`). */
const isPooled = process.env.TEST_POOLER === 'transaction';
/** Settings beside `DATABASE_URL`: the pooler, and how many connections a process has (`TEST_CONNECTIONS=1`). `testConfig` adds them. */
export const testConnections: Environment = {
  DATABASE_POOLER: isPooled ? 'transaction' : undefined,
  DATABASE_CONNECTIONS: process.env.TEST_CONNECTIONS,
};
const transactionMode = { pool_mode: 'transaction', max_client_conn: 400 };

/**
 * Reads the mode from the environment. The database is dropped after all tests of the process.
 * Throws if PostgreSQL is asked for and there is none.
 */
export async function testMode(): Promise<TestMode> {
  const isRemote = process.env.TEST_RPC === 'remote';
  if (process.env.TEST_DATABASE !== 'postgres') return { databaseUrl: undefined, isRemote };
  const { url, skip } = await testDatabaseUrl();
  if (url === undefined) throw new Error(skip);
  return { databaseUrl: isPooled ? await startPgbouncer(url, transactionMode) : url, isRemote };
}

/** Settings of a service with accounts: light hashes, and an empty database of the mode of the tests where they name none. */
export async function accountsEnvironment(given: Environment): Promise<Environment> {
  const DATABASE_URL = given.DATABASE_URL ?? (await testMode()).databaseUrl;
  const hashes = { ARGON2_MEMORY_KIB: '8', ARGON2_PASSES: '1' };
  return { ...hashes, ...given, DATABASE_URL, ...testConnections };
}
