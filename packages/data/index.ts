/** Databases: SQLite and PostgreSQL behind one interface. */
export type { Database, DatabaseOptions } from './db/database.ts';
export { deleteRows } from './db/deletion/delete-rows.ts';
export { type ForeignKey, foreignKeysOf } from './db/deletion/foreign-keys.ts';
export { afterWrite, UnknownOutcome } from './db/errors.ts';
export { DatabaseHealth, databaseCheck, engineOf, type HealthTables, healthMigrations } from './db/health.ts';
export { queriedGauges, rowGauge } from './db/metrics.ts';
export type { PackageMigrations } from './db/migrations.ts';
export type { MoveProgress, MoveResult } from './db/move/move.ts';
export {
  backupDatabase,
  databaseSettings,
  hasDatabase,
  moveDatabase,
  openDatabase,
  problemOfUrl,
  readDatabase,
  restoreDatabase,
} from './db/open.ts';
export { placeFor, type ScanPlace, scan } from './db/scan.ts';
export { type Dialect, keyShare, type Session, type WriteSession } from './db/session.ts';
export { sqliteFile } from './db/sqlite/file.ts';
export { claimFolder, shareFolder } from './db/sqlite/folder-lock.ts';
export { type Mark, Statement, statement } from './db/statement.ts';
