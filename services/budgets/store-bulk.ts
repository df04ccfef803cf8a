import { type RawBuilder, sql } from 'kysely';
import { type Statement, statement } from '#kit/db/index.ts';
import type { Tables } from './tables.ts';

type ColumnType = 'text' | 'bigint' | 'smallint' | 'double precision';

/**
 * A statement that inserts many rows, given as the JSON of arrays with the values of the columns in order. `after` follows the
 * values: `ON CONFLICT`, `RETURNING`. SQLite reads a value of a binary row without parsing the whole row again.
 */
export function bulkInsert<R = never>(
  table: keyof Tables & string,
  columns: Readonly<Record<string, ColumnType>>,
  after: RawBuilder<unknown> = sql``,
): Statement<{ rows: string }, R> {
  const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)));
  return statement<Tables, { rows: string }>()((_db, p, dialect) => {
    const values = Object.values(columns).map((type, index) =>
      dialect === 'sqlite'
        ? sql`value ->> ${sql.lit(index)}`
        : sql`(value ->> ${sql.lit(index)})::${sql.raw(type)}`,
    );
    const source =
      dialect === 'sqlite' ? sql`jsonb_each(${p('rows')})` : sql`jsonb_array_elements(${p('rows')}::jsonb)`;
    return sql<R>`INSERT INTO ${sql.table(table)} (${names}) SELECT ${sql.join(values)} FROM ${source} WHERE true ${after}`;
  });
}
