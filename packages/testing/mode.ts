import { testDatabaseUrl } from './postgres.ts';

/** Engines that the tests of a service use. */
export interface TestMode {
  /** A fresh database on PostgreSQL (`TEST_DATABASE=postgres`), or undefined for SQLite (the default). */
  readonly databaseUrl: string | undefined;
  /** True if services call each other over the network (`TEST_RPC=remote`), false in process (the default). */
  readonly isRemote: boolean;
}

/**
 * Reads the mode from the environment. The database is dropped after all tests of the process.
 * Throws if PostgreSQL is asked for and there is none.
 */
export async function testMode(): Promise<TestMode> {
  const isRemote = process.env.TEST_RPC === 'remote';
  if (process.env.TEST_DATABASE !== 'postgres') return { databaseUrl: undefined, isRemote };
  const { url, skip } = await testDatabaseUrl();
  if (url === undefined) throw new Error(skip);
  return { databaseUrl: url, isRemote };
}
