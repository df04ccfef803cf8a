export type { Database, DatabaseOptions, StreamOptions } from './database.ts';
export { engineOf } from './engine.ts';
export { DatabaseHealth, type HealthTables } from './health.ts';
export { keyShare } from './key-share.ts';
export type { KitMigrations, Migrations } from './migrations.ts';
export { backupDatabase, databaseSettings, openDatabase, restoreDatabase } from './open.ts';
export type { Dialect, Executor, Session, SqlValue, WriteSession } from './session.ts';
export { type Mark, Statement, statement } from './statement.ts';
