import { type Database, scan } from '@octavo/data';
import { sql } from 'kysely';
import type { Tables } from '../store.ts';

/** The times of the first and last vote for each of some choices, in milliseconds since 1970, in no order. */
export async function voteEnds({ kysely }: Database<Tables>, choices: readonly number[]): Promise<number[]> {
  const end = (of: 'min' | 'max') =>
    sql<number | null>`(SELECT ${sql.raw(of)}(created_at_ms) FROM vote WHERE choice = choice.id)`;
  const query = kysely.selectFrom('choice').where('id', 'in', choices);
  const ends = await query.select([end('min').as('first'), end('max').as('last')]).execute();
  return ends.flatMap(({ first, last }) => [first, last]).filter((at) => at !== null);
}

/** Counts the votes for some choices by spans of time since 1970. `touched` is a bound of their number. */
export function votesBySpan(
  database: Database<Tables>,
  { choices, spanMs, touched }: { choices: readonly number[]; spanMs: number; touched: number },
): Promise<{ span: number; votes: number }[]> {
  const span = sql`created_at_ms / ${sql.lit(spanMs)}`;
  const query = sql<{ span: number; votes: number }>`SELECT ${span} AS span, count(*) AS votes
    FROM vote WHERE choice IN (${sql.join(choices)}) GROUP BY 1`;
  return scan(query, { database, session: database, touched });
}
