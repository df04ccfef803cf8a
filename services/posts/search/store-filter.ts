import type { Dialect } from '@octavo/data';
import { normalizedText, SubstringIndex } from '@octavo/data/search';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { hasOnly, type PostFilter } from './request.ts';

/** The title and the body of a post. */
export const postText = new SubstringIndex({
  table: 'post',
  text: normalizedText({ table: 'post', columns: ['title', 'body'], stored: 'folded' }),
});

/** Most posts of one user that the needle is compared with; among more, the index finds it. */
const comparedMax = 50_000;

/** The condition of a filter on a row of `post`. `ofUser` is how many posts the user has. */
export function matches(
  dialect: Dialect,
  filter: PostFilter,
  ofUser = Number.POSITIVE_INFINITY,
): RawBuilder<SqlBool> {
  const { userId, needle } = filter;
  const conditions = [...narrowing(filter, sql`post.id`)];
  if (userId !== undefined) conditions.push(sql`post.user_id = ${userId}`);
  if (needle !== undefined) {
    const isCompared = ofUser <= comparedMax;
    conditions.push(isCompared ? postText.compare(dialect, needle) : postText.contains(dialect, needle));
  }
  return allOf(conditions);
}

/** Returns true if a filter sets nothing but times. Then the index of times, which is the narrowest of all posts, is enough. */
export function hasTimesOnly(filter: PostFilter): boolean {
  return hasOnly(filter, 'createdFromMs', 'createdBeforeMs');
}

/**
 * A subquery of the ids of the posts that pass a filter, each once: the fast way to count and to list them by id. It also has
 * `created_at_ms` where the filter has times only.
 */
export function matchingIds(
  dialect: Dialect,
  filter: PostFilter,
  ofUser?: number,
): RawBuilder<{ id: number }> {
  const { userId, needle, sentiment } = filter;
  if (hasTimesOnly(filter)) return createdBetween(filter);
  if (userId === undefined && needle !== undefined && dialect === 'sqlite') {
    const conditions = narrowing(filter, sql`found.id`);
    const found = postText.matchingIds(dialect, needle);
    return conditions.length === 0
      ? found
      : sql`(SELECT id FROM ${found} AS found WHERE ${allOf(conditions)})`;
  }
  if (sentiment !== undefined && hasOnly(filter, 'sentiment', 'createdFromMs', 'createdBeforeMs')) {
    const bounds = idBounds(filter, sql`post_id`);
    return sql`(SELECT post_id AS id FROM post_sentiment WHERE ${allOf([sql`label = ${sentiment}`, ...bounds])})`;
  }
  return sql`(SELECT post.id FROM post WHERE ${matches(dialect, filter, ofUser)})`;
}

/** Returns true if a filter has more than a user and a needle. */
export function isNarrowed(filter: PostFilter): boolean {
  return !hasOnly(filter, 'userId', 'needle');
}

/** The conditions on the id of a post that time and sentiment set. */
function narrowing(filter: PostFilter, id: RawBuilder<unknown>): RawBuilder<SqlBool>[] {
  const { sentiment } = filter;
  const bounds = idBounds(filter, id);
  if (sentiment === undefined) return bounds;
  const isSo = sql<SqlBool>`EXISTS (SELECT 1 FROM post_sentiment AS classified
    WHERE classified.post_id = ${id} AND classified.label = ${sentiment})`;
  return [...bounds, isSo];
}

/** Time of creation rises with the id, so a time is a bound of the ids, which every index of posts has. */
function idBounds(
  { createdFromMs, createdBeforeMs }: PostFilter,
  id: RawBuilder<unknown>,
): RawBuilder<SqlBool>[] {
  const bounds: RawBuilder<SqlBool>[] = [];
  if (createdFromMs !== undefined) bounds.push(sql`${id} >= ${firstIdSince(createdFromMs)}`);
  if (createdBeforeMs !== undefined) {
    bounds.push(sql`${id} < coalesce(${firstIdSince(createdBeforeMs)}, ${Number.MAX_SAFE_INTEGER})`);
  }
  return bounds;
}

function createdBetween({ createdFromMs, createdBeforeMs }: PostFilter): RawBuilder<{ id: number }> {
  const bounds: RawBuilder<SqlBool>[] = [];
  if (createdFromMs !== undefined) bounds.push(sql`created_at_ms >= ${createdFromMs}`);
  if (createdBeforeMs !== undefined) bounds.push(sql`created_at_ms < ${createdBeforeMs}`);
  return sql`(SELECT id, created_at_ms FROM post WHERE ${allOf(bounds)})`;
}

/** Null where no post is so new. */
function firstIdSince(timeMs: number): RawBuilder<number> {
  return sql`(SELECT since.id FROM post AS since WHERE since.created_at_ms >= ${timeMs}
    ORDER BY since.created_at_ms, since.id LIMIT 1)`;
}

function allOf(conditions: readonly RawBuilder<SqlBool>[]): RawBuilder<SqlBool> {
  return conditions.length === 0 ? sql`1 = 1` : sql<SqlBool>`${sql.join(conditions, sql` AND `)}`;
}
