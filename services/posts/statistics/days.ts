import { type Database, scan } from '@octavo/data';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import { sql } from 'kysely';
import type { Tables } from '../database.ts';
import { refuse } from '../posts/post.ts';
import { countPosts } from './store.ts';

/** Posts that were created on one day (UTC), and how those of them read that were classified. */
export interface DayCount {
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly posts: number;
  readonly positive: number;
  readonly neutral: number;
  readonly negative: number;
}

const dayMs = 86_400_000;

/** The counts of the last days, that of `nowMs` included, the oldest first. Throws `validation_failed` for too many days, or none. */
export async function countByDay(
  database: Database<Tables>,
  { days, nowMs }: { days: number; nowMs: number },
): Promise<DayCount[]> {
  if (!Number.isInteger(days) || days < 1 || days > postLimits.days)
    refuse({ days: `must be a whole number from 1 to ${postLimits.days}` });
  const firstDay = Math.floor(nowMs / dayMs) - days + 1;
  const touched = await countPosts(database, undefined);
  const place = { database, session: database, touched };
  const counted = new Map((await scan(dayCounts(firstDay), place)).map((row) => [row.day, row]));
  return Array.from({ length: days }, (_, index) => {
    const day = firstDay + index;
    return counted.get(day) ?? { day, posts: 0, positive: 0, neutral: 0, negative: 0 };
  });
}

/** Reads indexes only: ids rise with the time of creation, so the posts of a day have the ids from its first to its last. */
function dayCounts(firstDay: number) {
  const labeled = (label: string) => sql`(SELECT count(*) FROM post_sentiment
    WHERE label = ${sql.lit(label)} AND post_id BETWEEN by_day.first_id AND by_day.last_id)`;
  return sql<DayCount>`WITH by_day AS (SELECT created_at_ms / ${sql.lit(dayMs)} AS day, count(*) AS posts,
      min(id) AS first_id, max(id) AS last_id FROM post WHERE created_at_ms >= ${firstDay * dayMs} GROUP BY 1)
    SELECT day, posts, ${labeled('positive')} AS positive, ${labeled('neutral')} AS neutral, ${labeled('negative')} AS negative
    FROM by_day`;
}
