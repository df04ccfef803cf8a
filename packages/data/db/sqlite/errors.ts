import { FileProblem } from '@octavo/core';
import { brokenDatabase, databaseUnavailable, referenceConflict, uniqueConflict } from '../errors.ts';
import type { SqliteConnection } from './connection.ts';

const busy = 5;
const foreignKeyViolation = 787;
const uniqueViolations = new Set([1555, 2067, 2579]);
/** PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR, FULL, CANTOPEN, PROTOCOL. */
const unavailable = new Set([3, busy, 6, 7, 8, 10, 13, 14, 15]);

/** Returns true if another connection holds the lock (SQLITE_BUSY in any form), so that trying again later makes sense. */
export function isBusy(error: unknown): boolean {
  return (errcodeOf(error) & 0xff) === busy;
}

/**
 * Translates an error of node:sqlite for callers, by its extended result code (sqlite.org/rescode.html): a unique or
 * foreign-key violation is a `conflict`, a database that cannot work now is `unavailable`, anything else stays as it is. The
 * cause names the file and the remedy if a user of this machine has one.
 */
export function fromSqliteError(error: unknown, connection: SqliteConnection): unknown {
  const errcode = errcodeOf(error);
  if (uniqueViolations.has(errcode))
    return uniqueConflict(violatedColumns((error as Error).message, connection), error);
  if (errcode === foreignKeyViolation) return referenceConflict(error);
  const described = describeFileError(error, connection.file);
  if (unavailable.has(errcode & 0xff)) return databaseUnavailable(described);
  return described === error ? error : brokenDatabase(described);
}

/** Remedies for the errors that a user of this machine can fix: PERM, IOERR, READONLY, CORRUPT, FULL, CANTOPEN, NOTADB. */
const remedies: Readonly<Record<number, string>> = {
  3: 'is not permitted: give it to the user that runs this',
  8: 'cannot be written: give it and its folder to the user that runs this',
  10: 'cannot be read from or written to its disk: check that the disk works and has space left',
  11: 'is damaged: move it away and restore a backup ("octavo restore")',
  13: 'has no space left on its disk: free some',
  14: 'cannot be opened: check that this user may write to its folder, and the limit of open files (ulimit -n)',
  26: 'is not a SQLite database: move it away and restore a backup ("octavo restore")',
};

/** A {@link FileProblem} if a user of this machine can mend the error, else the error. */
export function describeFileError(error: unknown, file: string): unknown {
  const remedy = remedies[errcodeOf(error) & 0xff];
  return remedy === undefined ? error : new FileProblem(file, remedy, error);
}

/**
 * SQLite tells the columns of a violated constraint nowhere but in its message (`… failed: posts.slug, posts.lang` or
 * `… failed: index 'name'`), so what that says only counts where the schema knows it.
 */
function violatedColumns(message: string, connection: SqliteConnection): string[] {
  const index = /: index '(.+)'$/.exec(message)?.[1];
  const named = index === undefined ? message.slice(message.indexOf(': ') + 2).split(', ') : [];
  const columns =
    index === undefined
      ? connection
          .execute(schemaColumns)
          .rows.filter((row) => named.includes(`${row.table_name}.${row.name}`))
      : connection.execute({ ...indexColumns, parameters: [index] }).rows;
  return columns.map((row) => String(row.name));
}

const schemaColumns = {
  sql: `select t.name as table_name, c.name as name from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table'`,
  parameters: [],
  writes: false,
};

const indexColumns = { sql: 'select name from pragma_index_info(?) where name is not null', writes: false };

function errcodeOf(error: unknown): number {
  if (!(error instanceof Error) || !('errcode' in error)) return 0;
  return typeof error.errcode === 'number' ? error.errcode : 0;
}
