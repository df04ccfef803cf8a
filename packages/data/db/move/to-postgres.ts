import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteConnection } from '../sqlite/connection.ts';
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
  type RowCounts,
} from './move.ts';
import { onSchema } from './on-schema.ts';
import { SqliteSide } from './sqlite-side.ts';

/**
 * Copies the SQLite file to PostgreSQL, in one transaction, and compares both. The file is locked for other writers meanwhile. Throws
 * `conflict` where the target holds other rows and `overwrite` is not set, or a service is connected to it.
 */
export async function moveToPostgres(options: MoveOptions): Promise<MoveResult> {
  // Migrates it, and ends large deletions that were cut off.
  await (await openSqlite(options))[Symbol.asyncDispose]();
  using source = new SqliteConnection(sqliteFile(options), { readOnly: false });
  source.exec('BEGIN IMMEDIATE');
  const sqlite = new SqliteSide(source, options);
  return await onSchema(options, async (postgres, isCreated) => {
    const plan = await planMove(options, { sqlite, postgres, to: 'postgres' });
    if (!isCreated && !options.overwrite) {
      const place = `the schema ${options.name} of PostgreSQL`;
      const moved = await findMoved(plan, { side: postgres, fresh: await freshCounts(plan), place });
      if (moved) return moved;
    }
    const result = await copyAll(plan);
    // Without it, the first queries would be planned as for empty tables.
    await postgres.analyze();
    return result;
  });
}

/** The rows that migrations put into a new database. */
async function freshCounts({ tables, options }: Plan): Promise<RowCounts> {
  const folder = await mkdtemp(join(tmpdir(), 'octavo-move-'));
  try {
    const { name, migrations, log } = options;
    const fresh = { name, migrations, log, folder, url: undefined };
    await (await openSqlite(fresh))[Symbol.asyncDispose]();
    using connection = new SqliteConnection(sqliteFile(fresh), { readOnly: true });
    return await countRows(new SqliteSide(connection), tables);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
