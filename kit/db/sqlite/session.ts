import type { Runner } from '../session.ts';
import { Transaction } from '../transaction.ts';
import type { SqliteConnection } from './connection.ts';
import { fromSqliteError } from './errors.ts';

/** A session on a connection that is in a transaction, or about to be. */
export function sqliteTransaction<DB>(connection: SqliteConnection): Transaction<DB> {
  const runner: Runner = {
    first: async (query) => connection.first(query),
    execute: async (query) => connection.execute(query),
  };
  return new Transaction<DB>({
    dialect: 'sqlite',
    runner,
    translate: (error) => fromSqliteError(error, connection),
  });
}
