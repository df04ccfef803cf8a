import { existsSync } from 'node:fs';
import { AppError, choice, integer, text } from '@octavo/core';
import type { Database, DatabaseOptions, ReadWork } from './database.ts';
import { readMigrations } from './migrations.ts';
import type { MoveOptions, MoveResult } from './move/move.ts';
import { backupFile, restoreFile } from './sqlite/backup.ts';
import { sqliteFile } from './sqlite/file.ts';
import { openSqlite, readSqlite } from './sqlite/open.ts';

/** The setting that says where a service keeps its data; services spread it into theirs. */
export const databaseSettings = {
  DATABASE_URL: text({
    secret: true,
    help: 'PostgreSQL database to store data in; SQLite files in the data folder if unset',
    check: problemOfUrl,
  }),
  DATABASE_POOLER: choice(['none', 'transaction', 'named'], {
    default: 'none',
    help: 'A pooler at DATABASE_URL, such as PgBouncer: none also for one in session mode, named for one that keeps prepared statements',
  }),
  DATABASE_DIRECT_URL: text({
    secret: true,
    help: 'PostgreSQL itself behind the pooler, for migrations, restores and to notice that it is frozen; DATABASE_URL if unset',
    check: problemOfUrl,
  }),
  DATABASE_CONNECTIONS: integer({
    default: 8,
    min: 1,
    max: 1_000,
    help: 'Most connections to PostgreSQL of a process, whatever its services; streams of exports have half as many beside',
  }),
};

/** Returns the problem of the address of a database, or nothing. */
export function problemOfUrl(url: string): string | undefined {
  const isAddress = /^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url);
  return isAddress ? undefined : 'must be an address such as postgres://user:password@host:5432/database';
}

/**
 * Opens the data of a service and runs missing migrations under a lock. Without a `url` the data is a SQLite file.
 * Throws `precondition_failed` where the schema is newer than the program or does not fit its migrations.
 */
export async function openDatabase<DB>(options: DatabaseOptions): Promise<Database<DB>> {
  const { name, url } = options;
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name)) throw new Error(`${name} cannot name a database`);
  if (!url) return openSqlite<DB>(options);
  const problem = problemOfUrl(url);
  if (problem !== undefined) throw new AppError('invalid_input', `The URL of a database ${problem}.`);
  // Loaded only where it is used, so that SQLite starts without it.
  const { openPostgres } = await import('./postgres/open.ts');
  return openPostgres<DB>({ ...options, url });
}

/**
 * Reads the data of a service as it is: nothing is created or migrated, so tables may be missing. Resolves to undefined where there is no
 * data yet. Throws `unavailable` for a database that cannot be used.
 */
export async function readDatabase<DB, T>(
  options: DatabaseOptions,
  work: ReadWork<DB, T>,
): Promise<T | undefined> {
  const { url } = options;
  if (!url) return readSqlite(options, work);
  const { readPostgres } = await import('./postgres/open.ts');
  return readPostgres({ ...options, url }, work);
}

/**
 * Copies a SQLite database to a new file while it is served; {@link restoreDatabase} reads the copy. Gives false where there is
 * no data yet. A PostgreSQL database is for `pg_dump`: throws `invalid_input`.
 */
export async function backupDatabase(options: DatabaseOptions, file: string): Promise<boolean> {
  if (options.url)
    throw new AppError('invalid_input', `use pg_dump for the PostgreSQL schema ${options.name}`);
  const source = sqliteFile(options);
  if (!existsSync(source)) return false;
  await backupFile(source, file);
  return true;
}

/** Returns true if there is a SQLite file. */
export function hasDatabase(options: DatabaseOptions): boolean {
  return existsSync(sqliteFile(options));
}

/**
 * Puts a backup of the same kind of database in place, all or nothing; the next start migrates it. On PostgreSQL it reads
 * the backups that earlier versions wrote. Stop the service first. Throws `conflict` where the target has rows and `overwrite` is
 * not set, `invalid_input` for a file that is no such backup, `precondition_failed` for one from a newer version.
 */
export async function restoreDatabase(
  options: DatabaseOptions & { file: string; overwrite?: boolean },
): Promise<void> {
  const { name, url, file, overwrite = false } = options;
  const migrations = readMigrations(options.migrations, url ? 'postgres' : 'sqlite');
  if (url) {
    const { restoreSchema } = await import('./postgres/restore.ts');
    const place = options.directUrl ? { url: options.directUrl } : { url, pooler: options.pooler };
    await restoreSchema({ ...place, schema: name, file, migrations, overwrite, log: options.log });
  } else {
    await restoreFile({ file, target: sqliteFile(options), migrations, overwrite });
  }
}

/**
 * Copies the data of a service from its SQLite file to the schema at its `url`, or back, and compares both. Stop the service first. See
 * `MoveOptions`.
 */
export async function moveDatabase(to: 'sqlite' | 'postgres', options: MoveOptions): Promise<MoveResult> {
  if (to === 'sqlite') return (await import('./move/to-sqlite.ts')).moveToSqlite(options);
  return (await import('./move/to-postgres.ts')).moveToPostgres(options);
}
