import { type RawBuilder, sql } from 'kysely';
import type { Session, WriteSession } from '../session.ts';
import type { ForeignKey } from './foreign-keys.ts';

/** Depth to which cascades are followed. */
const levelsMax = 5;

/** A key by which rows of a table depend on others, directly or through others. */
export interface Path {
  readonly key: ForeignKey;
  readonly parent: Path | undefined;
  readonly level: number;
}

/** Rows of a table, by the values of a column. */
export interface Doomed {
  readonly table: string;
  /** A column whose values are not used again after a deletion. */
  readonly column: string;
  readonly keys: readonly (string | number)[];
}

/** The paths from a table to all that depend on it, parents first. */
export function pathsTo(keys: readonly ForeignKey[], root: string): Path[] {
  const found: Path[] = [];
  const open: { table: string; path: Path | undefined }[] = [{ table: root, path: undefined }];
  for (let next = open.shift(); next; next = open.shift()) {
    const { table, path: parent } = next;
    for (const key of keys.filter((each) => each.parent === table)) {
      const path = { key, parent, level: (parent?.level ?? 0) + 1 };
      found.push(path);
      if (key.onDelete === 'cascade' && key.table !== table && path.level < levelsMax)
        open.push({ table: key.table, path });
    }
  }
  return found;
}

/** Counts the rows of a path, up to a limit. */
export async function countRows<DB>(
  { kysely }: Session<DB>,
  path: Path,
  { doomed, limit }: { doomed: Doomed; limit: number },
): Promise<number> {
  const rows = sql`select 1 from ${sql.table(path.key.table)} where ${dependsOn(path, doomed)} limit ${limit}`;
  const counted = await sql<{ total: number }>`select count(*) as total from (${rows}) as found`.execute(
    kysely,
  );
  return Number(counted.rows[0]?.total ?? 0);
}

/** Deletes the rows of a path. */
export async function deletePath<DB>(
  { kysely }: WriteSession<DB>,
  path: Path,
  doomed: Doomed,
): Promise<void> {
  await sql`delete from ${sql.table(path.key.table)} where ${dependsOn(path, doomed)}`.execute(kysely);
}

/** The condition that a row of the path's table depends on the rows that are deleted. */
function dependsOn({ key, parent }: Path, doomed: Doomed): RawBuilder<unknown> {
  const above = parent ? dependsOn(parent, doomed) : isDoomed(doomed);
  const parents = sql`select ${columnsOf(key.parentColumns)} from ${sql.table(key.parent)} where ${above}`;
  return sql`(${columnsOf(key.columns)}) in (${parents})`;
}

/** The condition that a row is one of these. */
export function isDoomed({ column, keys }: Doomed): RawBuilder<unknown> {
  return sql`${sql.ref(column)} in (${sql.join(keys)})`;
}

/** Names of columns, separated by commas. */
export function columnsOf(names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(name)));
}
