import { sql } from 'kysely';
import { type Session, statement } from '#kit/db/index.ts';
import type { Tables } from './tables.ts';

const counts = statement<Tables>()(
  () => sql<{ published: number; waiting: number; reports: number }>`SELECT
    (SELECT coalesce(sum(quotes), 0) FROM category) AS published,
    (SELECT count(*) FROM quote WHERE is_published = 0) AS waiting,
    (SELECT count(*) FROM report WHERE status = 'open') AS reports`,
);

/** How many there are of what is measured. */
export async function countAll(
  session: Session<Tables>,
): Promise<{ published: number; waiting: number; reports: number }> {
  return (await counts.first(session, {})) ?? { published: 0, waiting: 0, reports: 0 };
}
