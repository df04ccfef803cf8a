import { sql } from 'kysely';
import type { Session } from '../session.ts';

/** A reference from one table to another. */
export interface ForeignKey {
  readonly table: string;
  /** The columns that refer, in the order of those of the parent; most keys have one. */
  readonly columns: readonly string[];
  readonly parent: string;
  readonly parentColumns: readonly string[];
  /** Effect of deleting the parent: delete, clear the columns, or fail. */
  readonly onDelete: 'cascade' | 'clear' | 'refuse';
}

/** The foreign keys of a service's database, from its schema. */
export async function foreignKeysOf<DB>(session: Session<DB>): Promise<readonly ForeignKey[]> {
  const query = session.dialect === 'postgres' ? postgresKeys : sqliteKeys;
  const { rows } = await query.execute(session.kysely);
  const parts = Map.groupBy(rows, ({ child_table, id }) => `${child_table} ${id}`);
  return [...parts.values()].flatMap((columns) => {
    const [first] = columns;
    if (!first) return [];
    return {
      table: first.child_table,
      columns: columns.map(({ child_column }) => child_column),
      parent: first.parent_table,
      parentColumns: columns.map(({ parent_column }) => parent_column),
      onDelete: actions[first.on_delete.toLowerCase()] ?? 'refuse',
    };
  });
}

interface KeyRow {
  child_table: string;
  id: string | number;
  child_column: string;
  parent_table: string;
  parent_column: string;
  on_delete: string;
}

const sqliteKeys = sql<KeyRow>`select m.name as child_table, f.id, f."from" as child_column, f."table" as parent_table,
    coalesce(f."to", (select i.name from pragma_table_info(f."table") i where i.pk = f.seq + 1)) as parent_column, f.on_delete
  from sqlite_master m join pragma_foreign_key_list(m.name) f where m.type = 'table' order by m.name, f.id, f.seq`;

const postgresKeys = sql<KeyRow>`select child.relname as child_table, c.conname::text as id, a.attname as child_column,
    parent.relname as parent_table, b.attname as parent_column, c.confdeltype::text as on_delete
  from pg_constraint c
  join pg_class child on child.oid = c.conrelid
  join pg_class parent on parent.oid = c.confrelid
  cross join lateral unnest(c.conkey, c.confkey) with ordinality as pair (child_number, parent_number, place)
  join pg_attribute a on a.attrelid = c.conrelid and a.attnum = pair.child_number
  join pg_attribute b on b.attrelid = c.confrelid and b.attnum = pair.parent_number
  where c.contype = 'f' and child.relnamespace = (
    select relnamespace from pg_class where oid = (select tableoid from schema_migration limit 1))
  order by child.relname, c.conname, pair.place`;

const actions: Readonly<Record<string, ForeignKey['onDelete']>> = {
  cascade: 'cascade',
  c: 'cascade',
  'set null': 'clear',
  'set default': 'clear',
  n: 'clear',
  d: 'clear',
};
