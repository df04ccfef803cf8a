import type { Session } from '@octavo/data';
import { type RawBuilder, sql } from 'kysely';
import type { Tables } from './tables.ts';

type ColumnType = 'text' | 'bigint' | 'smallint' | 'double precision';

/**
 * A function that inserts many rows, each an array with the values of the columns in order, and returns what `after` returns: it follows
 * the values, as `ON CONFLICT` or `RETURNING`. The rows are one parameter. SQLite reads a value of a binary row without parsing the whole
 * row again.
 */
export function bulkInsert<R = never>(
  table: keyof Tables & string,
  columns: Readonly<Record<string, ColumnType>>,
  after: RawBuilder<unknown> = sql``,
): (session: Session<Tables>, rows: readonly (readonly unknown[])[]) => Promise<R[]> {
  const names = sql.join(Object.keys(columns).map((name) => sql.ref(name)));
  return async ({ kysely, dialect }, rows) => {
    const given = JSON.stringify(rows);
    const values = Object.values(columns).map((type, index) =>
      dialect === 'sqlite'
        ? sql`value ->> ${sql.lit(index)}`
        : sql`(value ->> ${sql.lit(index)})::${sql.raw(type)}`,
    );
    const source =
      dialect === 'sqlite' ? sql`jsonb_each(${given})` : sql`jsonb_array_elements(${given}::jsonb)`;
    const inserted = await sql<R>`INSERT INTO ${sql.table(table)} (${names})
      SELECT ${sql.join(values)} FROM ${source} WHERE true ${after}`.execute(kysely);
    return inserted.rows;
  };
}
