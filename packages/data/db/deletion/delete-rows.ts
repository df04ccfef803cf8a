import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { referenceConflict } from '../errors.ts';
import type { Session, WriteSession } from '../session.ts';
import { foreignKeysOf } from './foreign-keys.ts';
import { columnsOf, countRows, type Doomed, deletePath, isDoomed, type Path, pathsTo } from './paths.ts';
import { completeSlice, hasUnfinished, type Values, writeUnfinished } from './unfinished.ts';

/** Dependents in one table beyond which the cascade does not delete them. */
const fewRows = 1_000;
/** Longest time of one statement on PostgreSQL. */
const statementTimeout = '10min';

/**
 * Runs a write that deletes rows on which very many others may depend by `on delete cascade`, so that neither other writes wait for it nor
 * anybody meets a part of what is deleted. A deletion of few rows is a usual write.
 *
 * SQLite has one writer, so a large deletion is one short write, after which the rows are gone for everybody, and the rest has nothing to
 * belong to: it is deleted in slices, before this returns or, after a crash, when the database is next opened. `work` runs without foreign
 * keys, and deletes nothing else on which rows depend. On PostgreSQL, where writes run side by side, it is one transaction, deepest rows
 * first: the rows themselves, for which others wait, come last.
 */
export async function deleteRows<DB, T>(
  database: Database<DB>,
  doomed: Doomed,
  work: (session: WriteSession<DB>) => Promise<T>,
): Promise<T> {
  const paths = doomed.keys.length === 0 ? [] : pathsTo(await foreignKeysOf(database), doomed.table);
  const large = await largePaths(database, doomed, paths);
  if (large.length === 0) return database.write(work, { alone: doomed.keys.length > 1 });
  if (database.dialect === 'postgres')
    return database.write(async (session) => {
      await sql`set local statement_timeout = ${sql.lit(statementTimeout)}`.execute(session.kysely);
      for (const path of large) await deletePath(session, path, doomed);
      return work(session);
    });
  const result = await database.write((session) => deleteFirst(session, { doomed, paths }, work), {
    alone: true,
    withoutForeignKeys: true,
  });
  // It is decided, and what fails now is done later, by `runEvery` of the database.
  await completeDeletions(database).catch(() => undefined);
  return result;
}

/** Deletes what large deletions have left, also those of other processes. Any number of processes may do it at once. */
export async function completeDeletions<DB>(database: Database<DB>): Promise<void> {
  while (await hasUnfinished(database)) {
    await database.write(completeSlice, { alone: true });
    await nextTurn();
  }
}

/** The paths with many rows, deepest first; none if a foreign key refuses the deletion. On SQLite, one is enough to know. */
async function largePaths<DB>(
  session: Session<DB>,
  doomed: Doomed,
  paths: readonly Path[],
): Promise<readonly Path[]> {
  if (await isRefused(session, paths, doomed)) return [];
  const found: Path[] = [];
  const isSqlite = session.dialect === 'sqlite';
  for (const path of paths.filter(({ key }) => key.onDelete === 'cascade' || isSqlite)) {
    if ((await countRows(session, path, { doomed, limit: fewRows + 1 })) <= fewRows) continue;
    found.unshift(path);
    if (isSqlite) break;
  }
  return found;
}

async function isRefused<DB>(session: Session<DB>, paths: readonly Path[], doomed: Doomed): Promise<boolean> {
  for (const path of paths.filter(({ key }) => key.onDelete === 'refuse'))
    if ((await countRows(session, path, { doomed, limit: 1 })) > 0) return true;
  return false;
}

/** Runs the work that deletes the rows, and notes those that are gone. */
async function deleteFirst<DB, T>(
  session: WriteSession<DB>,
  { doomed, paths }: { doomed: Doomed; paths: readonly Path[] },
  work: (session: WriteSession<DB>) => Promise<T>,
): Promise<T> {
  if (await isRefused(session, paths, doomed)) throw referenceConflict(undefined);
  const direct = paths.filter(({ parent }) => parent === undefined);
  const columns = [...new Set([doomed.column, ...direct.flatMap(({ key }) => key.parentColumns)])];
  const before = await valuesOf(session, doomed, columns);
  const result = await work(session);
  const after = await valuesOf(session, doomed, [doomed.column]);
  const kept = new Set(after.map((row) => row[doomed.column]));
  const gone = before.filter((row) => !kept.has(row[doomed.column] as string | number));
  await writeUnfinished(session, doomed.table, gone);
  return result;
}

async function valuesOf<DB>(
  { kysely }: Session<DB>,
  doomed: Doomed,
  columns: readonly string[],
): Promise<Values[]> {
  const { rows } =
    await sql<Values>`select ${columnsOf(columns)} from ${sql.table(doomed.table)} where ${isDoomed(doomed)}`.execute(
      kysely,
    );
  return rows;
}
