import { sql } from 'kysely';
import type { Session } from '#kit/db/index.ts';
import type { Store, Tables } from './tables.ts';

async function counts({ kysely }: Store) {
  const { rows } = await sql<{ published: number; waiting: number; reports: number }>`SELECT
    (SELECT coalesce(sum(quotes), 0) FROM category) AS published,
    (SELECT count(*) FROM quote WHERE is_published = 0) AS waiting,
    (SELECT count(*) FROM report WHERE status = 'open') AS reports`.execute(kysely);
  return rows[0];
}

/** Counts the rows for the metrics. */
export async function countAll(
  session: Session<Tables>,
): Promise<{ published: number; waiting: number; reports: number }> {
  return (await counts(session)) ?? { published: 0, waiting: 0, reports: 0 };
}
