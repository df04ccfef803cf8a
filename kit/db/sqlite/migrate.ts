import type { Log } from '../../log.ts';
import { type Applied, type Migration, migrationTable, pendingMigrations } from '../migrations.ts';
import type { SqliteConnection } from './connection.ts';
import { begin } from './writer.ts';

/** A long migration of another process may hold the lock. */
const lockWaitMs = 120_000;

/** Takes every step that is missing, all in one transaction; others that start at the same time wait for it. */
export async function migrate(
  connection: SqliteConnection,
  migrations: readonly Migration[],
  log: Log,
): Promise<void> {
  // A step may rebuild a table; dropping the old one would delete what refers to it (sqlite.org/lang_altertable.html).
  connection.exec('PRAGMA foreign_keys = OFF');
  await begin(connection, lockWaitMs);
  try {
    connection.exec(migrationTable);
    const pending = pendingMigrations(migrations, appliedMigrations(connection));
    for (const migration of pending) {
      connection.exec(migration.sql);
      if (!connection.isTransaction)
        throw new Error(`migration ${migration.version} must not end the transaction`);
      remember(connection, migration);
      log.info({ version: migration.version, migration: migration.name }, 'migration applied');
    }
    if (pending.length > 0) checkForeignKeys(connection);
    connection.exec('COMMIT');
  } catch (error) {
    if (connection.isTransaction) connection.exec('ROLLBACK');
    throw error;
  }
  connection.exec('PRAGMA foreign_keys = ON');
}

function checkForeignKeys(connection: SqliteConnection): void {
  const broken = connection.first({ sql: 'PRAGMA foreign_key_check', parameters: [], writes: false });
  if (broken) throw new Error(`the migrations leave rows of ${broken.table} that refer to nothing`);
}

/** The steps that the database has taken, by version. */
export function appliedMigrations(connection: SqliteConnection): Applied[] {
  const sql = 'SELECT version, name, checksum FROM schema_migration ORDER BY version';
  return connection.execute({ sql, parameters: [], writes: false }).rows as unknown as Applied[];
}

function remember(connection: SqliteConnection, { version, name, checksum }: Migration): void {
  const sql = 'INSERT INTO schema_migration (version, name, checksum, applied_at_ms) VALUES (?, ?, ?, ?)';
  connection.execute({ sql, parameters: [version, name, checksum, Date.now()], writes: true });
}
