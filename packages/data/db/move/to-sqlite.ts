import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { notEmpty } from '../errors.ts';
import { leaveWal, syncToDisk } from '../sqlite/backup.ts';
import { SqliteConnection } from '../sqlite/connection.ts';
import { describeFileError } from '../sqlite/errors.ts';
import { sqliteFile } from '../sqlite/file.ts';
import { openSqlite } from '../sqlite/open.ts';
import {
  copyAll,
  countRows,
  findMoved,
  type MoveOptions,
  type MoveResult,
  type Plan,
  planMove,
} from './move.ts';
import { onSchema } from './on-schema.ts';
import { SqliteSide } from './sqlite-side.ts';

/**
 * Copies the schema of PostgreSQL to the SQLite file, which appears when it is whole and on disk, and compares both. Nobody else can write
 * to the tables meanwhile. Throws as `moveToPostgres` does.
 */
export async function moveToSqlite(options: MoveOptions): Promise<MoveResult> {
  const file = sqliteFile(options);
  const draft = `${file}.moving`;
  await removeDatabase(draft);
  try {
    const result = await onSchema(options, async (postgres) => {
      await (await openSqlite({ ...options, fileName: basename(draft) }))[Symbol.asyncDispose]();
      using connection = new SqliteConnection(draft, { readOnly: false });
      const plan = await planMove(options, { sqlite: new SqliteSide(connection), postgres, to: 'sqlite' });
      await postgres.lock(plan.tables);
      if (existsSync(file) && !options.overwrite) {
        const moved = await findThere(plan, file);
        if (moved) return moved;
      }
      // It is synced as a whole, before it gets its name.
      connection.exec('PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; BEGIN');
      const copied = await copyAll(plan);
      connection.exec('COMMIT');
      return copied;
    });
    if (result.isNew) await putInPlace(draft, file);
    return result;
  } catch (error) {
    throw describeFileError(error, file);
  } finally {
    await removeDatabase(draft);
  }
}

async function findThere(plan: Plan, file: string): Promise<MoveResult | undefined> {
  const fresh = await countRows(plan.to, plan.tables);
  using connection = new SqliteConnection(file, { readOnly: true });
  const side = new SqliteSide(connection);
  // One of another version has no rows to compare.
  if (!isDeepStrictEqual(await side.shapes(), await plan.to.shapes())) throw notEmpty(file);
  return await findMoved(plan, { side, fresh, place: file });
}

async function putInPlace(draft: string, file: string): Promise<void> {
  leaveWal(draft);
  await syncToDisk(draft);
  // A log of the former file must not be read with the new one.
  await removeDatabase(file);
  await rename(draft, file);
}

/** Removes a file and its companions. */
async function removeDatabase(file: string): Promise<void> {
  for (const suffix of ['-wal', '-shm', '-journal', '']) await rm(`${file}${suffix}`, { force: true });
}
