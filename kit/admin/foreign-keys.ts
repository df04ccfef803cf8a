import { sql } from 'kysely';
import type { Session } from '../db/index.ts';
import type { AdminTables } from './history.ts';
import { dynamic } from './table-query.ts';

/** A column that refers to another table. */
export interface ForeignKey {
  readonly table: string;
  readonly column: string;
  readonly parent: string;
  readonly parentColumn: string;
  /** What a deletion of the parent does: delete, clear the column, or fail. */
  readonly onDelete: 'cascade' | 'clear' | 'refuse';
}

/** The foreign keys of the service's database, from its schema. */
export async function foreignKeysOf(session: Session<AdminTables>): Promise<readonly ForeignKey[]> {
  const { rows } = await (session.dialect === 'postgres' ? postgresKeys : sqliteKeys).execute(
    dynamic(session),
  );
  return rows.map(({ on_delete, ...key }) => ({
    table: key.child_table,
    column: key.child_column,
    parent: key.parent_table,
    parentColumn: key.parent_column,
    onDelete: actions[on_delete.toLowerCase()] ?? 'refuse',
  }));
}

interface KeyRow {
  child_table: string;
  child_column: string;
  parent_table: string;
  parent_column: string;
  on_delete: string;
}

const sqliteKeys = sql<KeyRow>`select m.name as child_table, f."from" as child_column, f."table" as parent_table,
    coalesce(f."to", (select i.name from pragma_table_info(f."table") i where i.pk = 1)) as parent_column, f.on_delete
  from sqlite_master m join pragma_foreign_key_list(m.name) f where m.type = 'table' order by m.name, f.id`;

const postgresKeys = sql<KeyRow>`select child.relname as child_table, a.attname as child_column, parent.relname as parent_table,
    b.attname as parent_column, c.confdeltype::text as on_delete
  from pg_constraint c
  join pg_class child on child.oid = c.conrelid
  join pg_class parent on parent.oid = c.confrelid
  join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
  join pg_attribute b on b.attrelid = c.confrelid and b.attnum = c.confkey[1]
  where c.contype = 'f' and child.relnamespace = (select oid from pg_namespace where nspname = current_schema())
  order by child.relname, a.attname`;

const actions: Readonly<Record<string, ForeignKey['onDelete']>> = {
  cascade: 'cascade',
  c: 'cascade',
  'set null': 'clear',
  'set default': 'clear',
  n: 'clear',
  d: 'clear',
};
