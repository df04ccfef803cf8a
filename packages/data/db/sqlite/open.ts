import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@octavo/core';
import { sql } from 'kysely';
import type { DatabaseOptions, ReadWork } from '../database.ts';
import { completeSlice, hasUnfinished, unfinishedTable } from '../deletion/unfinished.ts';
import { kyselyOver } from '../kysely.ts';
import { writeMetrics } from '../metrics.ts';
import { type HistoryTables, migrate, readMigrations } from '../migrations.ts';
import { SqliteConnection } from './connection.ts';
import { SqliteDatabase, transactionOn } from './database.ts';
import { describeFileError, fromSqliteError, isBusy } from './errors.ts';
import { createFile, sqliteFile } from './file.ts';
import { openReader } from './snapshots.ts';
import { begin } from './writer.ts';

const startAttempts = 200;
/** A long migration of another process may hold the lock. */
const migrationLockWaitMs = 120_000;

/** Opens `<folder>/<name>.sqlite`, readable by its owner only, in WAL mode, migrated. */
export async function openSqlite<DB>(options: DatabaseOptions): Promise<SqliteDatabase<DB>> {
  const file = sqliteFile(options);
  createFile(file);
  const writer = await openWriter(file);
  try {
    await whenFree(() => writer.exec('PRAGMA journal_mode = WAL'));
    await completeInterrupted(writer, options.log);
    await migrateFile(writer, options);
    const metrics = writeMetrics(options.metrics, options.name);
    return new SqliteDatabase<DB>({ file, writer, metrics, log: options.log });
  } catch (error) {
    const described = describeFileError(error, file);
    const translated = described === error ? fromSqliteError(error, writer) : described;
    writer[Symbol.dispose]();
    throw translated;
  }
}

/** Runs `work` on a read-only connection to the file as it is. Resolves to undefined where there is none, or one without tables. */
export async function readSqlite<DB, T>(
  options: DatabaseOptions,
  work: ReadWork<DB, T>,
): Promise<T | undefined> {
  const file = sqliteFile(options);
  if (!existsSync(file)) return undefined;
  using connection = openReader(file);
  return await transactionOn<DB>(connection).run(async (session) => {
    const { rows } = await sql<{
      name: string;
    }>`SELECT name FROM sqlite_schema WHERE type = 'table'`.execute(session.kysely);
    return rows.length === 0 ? undefined : work(session, new Set(rows.map(({ name }) => name)));
  });
}

async function openWriter(file: string): Promise<SqliteConnection> {
  try {
    return await whenFree(() => new SqliteConnection(file, { readOnly: false, busyTimeoutMs: 0 }));
  } catch (error) {
    throw describeFileError(error, file);
  }
}

/** Even a PRAGMA that only reads the schema meets the lock of another process that is changing the journal mode. */
async function whenFree<T>(work: () => T): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || attempt === startAttempts) throw error;
    }
    await delay(5 + Math.random() * 20);
  }
}

/**
 * Runs the missing migrations, all in one transaction. Kysely takes no lock on SQLite, so BEGIN IMMEDIATE is the lock: other
 * processes that start at the same time wait for it.
 */
async function migrateFile(connection: SqliteConnection, options: DatabaseOptions): Promise<void> {
  const migrations = readMigrations(options.migrations, 'sqlite');
  const runScript = (sql: string): void => {
    connection.exec(sql);
    if (!connection.isTransaction) throw new Error('a migration must not end the transaction');
  };
  // A migration may rebuild a table; dropping the old one would delete what refers to it (sqlite.org/lang_altertable.html).
  connection.exec('PRAGMA foreign_keys = OFF');
  await begin(connection, migrationLockWaitMs);
  try {
    runScript(unfinishedTable);
    const kysely = kyselyOver<HistoryTables>('sqlite', connection.runner);
    const count = await migrate({ kysely, runScript, migrations, log: options.log });
    if (count > 0) checkForeignKeys(connection);
    connection.exec('COMMIT');
  } catch (error) {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    throw error;
  }
  connection.exec('PRAGMA foreign_keys = ON');
}

/** Ends large deletions that a crash cut off, before a migration checks the foreign keys and before anybody reads the rest. */
async function completeInterrupted(connection: SqliteConnection, log: Log): Promise<void> {
  const table = `SELECT 1 FROM sqlite_schema WHERE name = 'unfinished_deletion'`;
  if (!connection.first({ sql: table, parameters: [], writes: false })) return;
  const { dialect, runner } = transactionOn(connection);
  try {
    while (await hasUnfinished({ dialect, runner, kysely: kyselyOver(dialect, runner) })) {
      await begin(connection, migrationLockWaitMs);
      await transactionOn(connection).run(completeSlice);
      connection.exec('COMMIT');
    }
  } catch (err) {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    log.warn({ err }, 'a deletion that was interrupted is completed later');
  }
}

function checkForeignKeys(connection: SqliteConnection): void {
  const broken = connection.first({ sql: 'PRAGMA foreign_key_check', parameters: [], writes: false });
  if (broken) throw new Error(`the migrations leave rows of ${broken.table} that refer to nothing`);
}
