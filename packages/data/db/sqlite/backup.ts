import { closeSync, existsSync, openSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { backup } from 'node:sqlite';
import { notABackup, notEmpty } from '../errors.ts';
import { type AppliedMigration, checkHistory, historyTables, type SqlMigration } from '../migrations.ts';
import { SqliteConnection } from './connection.ts';
import { describeFileError } from './errors.ts';
import { createFile } from './file.ts';

/** Every page in one step, and so from one snapshot. SQLite copies on a thread of its own. */
const allPages = { rate: 2 ** 31 - 1 };

/**
 * Copies the database in `source` to a new file of mode 0600 while others read and write it. The file appears under its name when
 * it is whole and on disk.
 */
export async function backupFile(source: string, file: string): Promise<void> {
  using connection = new SqliteConnection(source, { readOnly: true });
  const partial = `${file}.partial`;
  await rm(partial, { force: true });
  closeSync(openSync(partial, 'wx', 0o600));
  try {
    await backup(connection.database, partial, allPages);
    leaveWal(partial);
    await syncToDisk(partial);
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw describeFileError(error, file);
  }
}

/**
 * Puts the database of a backup in place of the one in `target`, in one transaction. Refuses a file that is no backup
 * or is newer than the migrations, and a target that has rows unless `overwrite`.
 */
export async function restoreFile(options: {
  file: string;
  target: string;
  migrations: readonly SqlMigration[];
  overwrite: boolean;
}): Promise<void> {
  using source = openBackup(options.file);
  checkHistory(options.migrations, readHistory(source, options.file));
  if (!options.overwrite && existsSync(options.target) && hasRows(options.target))
    throw notEmpty(options.target);
  createFile(options.target);
  try {
    await backup(source.database, options.target, allPages);
  } catch (error) {
    throw describeFileError(error, options.target);
  }
}

/** A file in WAL mode could not be opened from a read-only place. */
export function leaveWal(file: string): void {
  using connection = new SqliteConnection(file, { readOnly: false });
  connection.exec('PRAGMA journal_mode = DELETE');
}

export async function syncToDisk(file: string): Promise<void> {
  await using handle = await open(file, 'r+');
  await handle.sync();
}

function openBackup(file: string): SqliteConnection {
  try {
    return new SqliteConnection(file, { readOnly: true });
  } catch (error) {
    throw notABackup(file, error);
  }
}

function readHistory(source: SqliteConnection, file: string): AppliedMigration[] {
  try {
    const [check] = source.execute({ sql: 'PRAGMA quick_check(1)', parameters: [], writes: false }).rows;
    if (check?.quick_check !== 'ok') throw new Error(String(check?.quick_check));
    const sql = 'SELECT version, name, checksum FROM schema_migration ORDER BY version';
    return source.execute({ sql, parameters: [], writes: false }).rows as unknown as AppliedMigration[];
  } catch (error) {
    throw notABackup(file, error);
  }
}

/** Returns true if one of our tables has a row; virtual tables and their shadows always do. */
function hasRows(file: string): boolean {
  using target = new SqliteConnection(file, { readOnly: true });
  const sql = `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;
  const tables = target
    .execute({ sql, parameters: [], writes: false })
    .rows.filter(({ name }) => !historyTables.includes(String(name)));
  return tables.some(({ name }) => {
    const quoted = String(name).replaceAll('"', '""');
    return (
      target.first({ sql: `SELECT 1 FROM "${quoted}" LIMIT 1`, parameters: [], writes: false }) !== undefined
    );
  });
}
