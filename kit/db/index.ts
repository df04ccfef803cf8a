export type { Database, DatabaseOptions, StreamOptions } from './database.ts';
export { backupDatabase, databaseSettings, openDatabase, restoreDatabase } from './open.ts';
export type { Dialect, Executor, Session, SqlValue, WriteSession } from './session.ts';
export { Statement, statement } from './statement.ts';
