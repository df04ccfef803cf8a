import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseOptions } from '../database.ts';
import { writeMetrics } from '../metrics.ts';
import { readMigrations } from '../migrations.ts';
import { SqliteConnection } from './connection.ts';
import { SqliteDatabase } from './database.ts';
import { fromSqliteError, isBusy } from './errors.ts';
import { createFile, sqliteFile } from './file.ts';
import { migrate } from './migrate.ts';

const startAttempts = 200;

/** Opens `<folder>/<name>.sqlite`, readable by its owner only, in WAL mode, migrated. */
export async function openSqlite<DB>(options: DatabaseOptions): Promise<SqliteDatabase<DB>> {
  const migrations = readMigrations(options.migrations, 'sqlite');
  const file = sqliteFile(options);
  createFile(file);
  const writer = await whenFree(() => new SqliteConnection(file, { readOnly: false, busyTimeoutMs: 0 }));
  try {
    await whenFree(() => writer.exec('PRAGMA journal_mode = WAL'));
    await migrate(writer, migrations, options.log);
    return new SqliteDatabase<DB>(file, writer, writeMetrics(options.metrics, options.name));
  } catch (error) {
    const translated = fromSqliteError(error, writer);
    writer[Symbol.dispose]();
    throw translated;
  }
}

/** Even a PRAGMA that only reads the schema meets the lock of another process that is changing the journal's mode. */
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
