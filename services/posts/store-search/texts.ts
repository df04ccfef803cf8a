import { sql } from 'kysely';
import { type Session, statement } from '#kit/db/index.ts';
import { hasTerm } from '../store-filter.ts';
import type { Tables } from '../tables.ts';

const idsAtOnce = 5_000;

/** Which of the posts have the term now. */
export async function hasTermIn(
  session: Session<Tables>,
  ids: readonly number[],
  term: string,
): Promise<number[]> {
  const found: number[] = [];
  for (let start = 0; start < ids.length; start += idsAtOnce) {
    const some = JSON.stringify(ids.slice(start, start + idsAtOnce));
    for (const { id } of await withTerm.all(session, { ids: some, wanted: term })) found.push(id);
  }
  return found;
}

/** Posts outside the segments, and those that changed since, which pass the filter; in the order of ids. */
export async function looseMatches(
  session: Session<Tables>,
  options: { fromId: number; stale: readonly number[]; userId: number | undefined; term: string | undefined },
): Promise<number[]> {
  const { fromId, stale, userId = 0, term = '' } = options;
  const found = await loose.all(session, {
    fromId,
    stale: JSON.stringify(stale.filter((id) => id < fromId)),
    userId,
    wanted: term,
  });
  return found.map(({ id }) => id);
}

const withTerm = statement<Tables, { ids: string; wanted: string }, { id: number }>(
  (_db, p, dialect) => sql`SELECT post.id FROM json_each(${p('ids')}) AS wanted
    CROSS JOIN post ON post.id = wanted.value WHERE ${hasTerm(dialect, p('wanted'))}`,
);

/** A user of 0 and an empty term let everything pass. */
const loose = statement<
  Tables,
  { fromId: number; stale: string; userId: number; wanted: string },
  { id: number }
>((_db, p, dialect) => {
  const passes = sql`(${p('userId')} = 0 OR post.user_id = ${p('userId')})
    AND (${p('wanted')} = '' OR ${hasTerm(dialect, p('wanted'))})`;
  return sql`SELECT post.id FROM json_each(${p('stale')}) AS stale CROSS JOIN post ON post.id = stale.value WHERE ${passes}
    UNION ALL SELECT id FROM (SELECT post.id FROM post WHERE post.id >= ${p('fromId')} AND ${passes} ORDER BY post.id)`;
});
