import { sql } from 'kysely';
import type { Session } from './session.ts';
import { statement } from './statement.ts';

/** The engine of a database and its version, such as `SQLite 3.50.4` or `PostgreSQL 16.2`. */
export async function engineOf<DB>(session: Session<DB>): Promise<string> {
  const row = await version.first(session, {});
  const [number = ''] = String(row?.version ?? '').split(' ', 1);
  return `${session.dialect === 'sqlite' ? 'SQLite' : 'PostgreSQL'} ${number}`.trim();
}

const version = statement<unknown>()((_db, _p, dialect) =>
  dialect === 'sqlite'
    ? sql<{ version: string }>`SELECT sqlite_version() AS version`
    : sql<{ version: string }>`SELECT current_setting('server_version') AS version`,
);
