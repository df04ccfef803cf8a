import type { Database, DatabaseOptions } from './database.ts';
import { openSqlite } from './sqlite/open.ts';

/**
 * Opens the data of a service and brings its schema up to date, under a lock. Without a `url` that is a SQLite file.
 * Throws `precondition_failed` where the schema is newer than the program or does not fit its migrations.
 */
export async function openDatabase<DB>(options: DatabaseOptions): Promise<Database<DB>> {
  const { name, url } = options;
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name)) throw new Error(`${name} cannot name a database`);
  if (!url) return openSqlite<DB>(options);
  if (!/^postgres(?:ql)?:\/\//.test(url))
    throw new Error('the URL of a database must start with postgres://');
  // Loaded only where it is used, so that SQLite starts without it.
  const { openPostgres } = await import('./postgres/open.ts');
  return openPostgres<DB>({ ...options, url });
}
