import { AppError } from '@octavo/core';
import { type Database, scan } from '@octavo/data';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import type { Tables } from '../database.ts';
import { countPosts, type DayCount, dayCounts, dayMs } from './store.ts';

const rule = `must be a whole number from 1 to ${postLimits.days}`;

/** The counts of the last days, that of `nowMs` included, the oldest first. Throws `validation_failed` for too many days, or none. */
export async function countByDay(
  database: Database<Tables>,
  { days, nowMs }: { days: number; nowMs: number },
): Promise<DayCount[]> {
  if (!Number.isInteger(days) || days < 1 || days > postLimits.days)
    throw new AppError('validation_failed', `days ${rule}`, { fields: { days: rule } });
  const firstDay = Math.floor(nowMs / dayMs) - days + 1;
  const touched = await countPosts(database, undefined);
  const place = { database, session: database, touched };
  const counted = new Map((await scan(dayCounts(firstDay), place)).map((row) => [row.day, row]));
  return Array.from({ length: days }, (_, index) => {
    const day = firstDay + index;
    return counted.get(day) ?? { day, posts: 0, positive: 0, neutral: 0, negative: 0 };
  });
}
