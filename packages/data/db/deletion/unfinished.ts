import { type Generated, type Kysely, sql } from 'kysely';
import type { Session, WriteSession } from '../session.ts';
import { type ForeignKey, foreignKeysOf } from './foreign-keys.ts';
import { columnsOf } from './paths.ts';

/** Rows of one transaction. Others, who have the database in between, wait for no more than one of them. */
const sliceRows = 500;

/** Columns of a row that others refer to. */
export type Values = Readonly<Record<string, string | number>>;

/** Large deletions on SQLite whose rows are gone, but not all that belonged to them. Every database has the table. */
interface UnfinishedTables {
  unfinished_deletion: { id: Generated<number>; table_name: string; deleted_rows: string };
}

export const unfinishedTable = `CREATE TABLE IF NOT EXISTS unfinished_deletion (
  id integer PRIMARY KEY AUTOINCREMENT, table_name text NOT NULL, deleted_rows text NOT NULL)`;

/** Notes rows that are deleted, so that what belonged to them is deleted too. */
export async function writeUnfinished<DB>(
  session: WriteSession<DB>,
  table: string,
  rows: readonly Values[],
): Promise<void> {
  if (rows.length === 0) return;
  const row = { table_name: table, deleted_rows: JSON.stringify(rows) };
  await unfinished(session).insertInto('unfinished_deletion').values(row).execute();
}

export async function hasUnfinished<DB>(session: Session<DB>): Promise<boolean> {
  const any = unfinished(session).selectFrom('unfinished_deletion').select('id').limit(1);
  return (await any.executeTakeFirst()) !== undefined;
}

/** Deletes a slice of what belonged to deleted rows. */
export async function completeSlice<DB>(session: WriteSession<DB>): Promise<void> {
  const first = unfinished(session).selectFrom('unfinished_deletion').selectAll().orderBy('id').limit(1);
  const deletion = await first.executeTakeFirst();
  if (!deletion) return;
  const rows = JSON.parse(deletion.deleted_rows) as Values[];
  const keys = await foreignKeysOf(session);
  const released = await release({ session, keys }, { table: deletion.table_name, rows, limit: sliceRows });
  if (released < sliceRows)
    await unfinished(session).deleteFrom('unfinished_deletion').where('id', '=', deletion.id).execute();
}

interface Schema<DB> {
  readonly session: WriteSession<DB>;
  readonly keys: readonly ForeignKey[];
}

interface Deleted {
  readonly table: string;
  readonly rows: readonly Values[];
  readonly limit: number;
}

/** Deletes up to `limit` rows that depend on others, deepest first, or clears their reference. Returns how many there were. */
async function release<DB>(schema: Schema<DB>, { table, rows, limit }: Deleted): Promise<number> {
  let left = limit;
  const keys = schema.keys.filter(({ parent, onDelete }) => parent === table && onDelete !== 'refuse');
  for (const key of keys) {
    for (;;) {
      const found = await dependentsOf(schema, key, { rows, limit: left });
      if (found.length === 0) break;
      if (key.onDelete === 'cascade' && key.table !== table)
        left -= await release(schema, { table: key.table, rows: found, limit: left });
      if (left <= 0) return limit;
      await releaseRows(schema.session, key, found);
      left -= found.length;
      if (left <= 0) return limit;
    }
  }
  return limit - left;
}

const rowId = '_rowid_';

/** Rows that refer to others by a key, with their addresses and the columns that others refer to. */
async function dependentsOf<DB>(
  { session, keys }: Schema<DB>,
  key: ForeignKey,
  { rows, limit }: Pick<Deleted, 'rows' | 'limit'>,
): Promise<readonly Values[]> {
  const referred = keys.filter(({ parent }) => parent === key.table).flatMap((each) => each.parentColumns);
  const columns = columnsOf([...new Set(referred)]);
  const address = sql`${sql.ref(rowId)} as ${sql.ref(rowId)}`;
  const shown = referred.length === 0 ? address : sql`${address}, ${columns}`;
  const found = await sql<Values>`select ${shown} from ${sql.table(key.table)}
    where (${columnsOf(key.columns)}) in (${valuesOf(rows, key.parentColumns)}) limit ${limit}`.execute(
    session.kysely,
  );
  return found.rows;
}

async function releaseRows<DB>(
  { kysely }: WriteSession<DB>,
  { table, columns, onDelete }: ForeignKey,
  rows: readonly Values[],
): Promise<void> {
  const cleared = sql.join(columns.map((name) => sql`${sql.ref(name)} = null`));
  const change =
    onDelete === 'clear'
      ? sql`update ${sql.table(table)} set ${cleared}`
      : sql`delete from ${sql.table(table)}`;
  await sql`${change} where ${sql.ref(rowId)} in (${valuesOf(rows, [rowId])})`.execute(kysely);
}

/** Values of rows as a subquery with one parameter, so that the statement stays prepared. */
function valuesOf(rows: readonly Values[], names: readonly string[]) {
  const columns = names.map((_, index) => sql`json_extract(value, ${sql.lit(`$[${index}]`)})`);
  const json = JSON.stringify(rows.map((row) => names.map((name) => row[name])));
  return sql`select ${sql.join(columns)} from json_each(${json})`;
}

function unfinished<DB>({ kysely }: Session<DB>) {
  return kysely as unknown as Kysely<UnfinishedTables>;
}
