export type { Database, DatabaseOptions, StreamOptions } from './database.ts';
export { openDatabase } from './open.ts';
export { restoreDatabase } from './restore.ts';
export type { Dialect, Executor, Row, Session, SqlValue, WriteSession } from './session.ts';
export { Statement, statement } from './statement.ts';
