import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from './session.ts';

/**
 * The end of a `select` whose rows new rows will refer to. On PostgreSQL it waits for transactions that delete these rows, and leaves
 * out those that are gone; without it, the insert would break its foreign key. On SQLite it is empty, because writers take turns.
 *
 * ```ts
 * sql`insert into comment (quote_id) select id from quote where id = ${p('id')} ${keyShare(dialect, 'quote')}`
 * db.selectFrom('quote').select('id').modifyEnd(keyShare(dialect, 'quote'))
 * ```
 */
export function keyShare(dialect: Dialect, table: string): RawBuilder<unknown> {
  return dialect === 'postgres' ? sql`for key share of ${sql.table(table)}` : sql``;
}
