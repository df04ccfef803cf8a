import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Database, type Dialect, type Session, statement } from '#kit/db/index.ts';
import { normalizedText, SubstringIndex } from '#kit/search/index.ts';
import type { Tables } from '../database.ts';
import { type Post, postColumns } from '../posts/index.ts';
import { countPosts } from '../statistics/index.ts';
import type { Page, PageRequest, PostFilter } from './request.ts';

/** The title and the body of a post. */
export const postText = new SubstringIndex({
  table: 'post',
  text: normalizedText({ table: 'post', columns: ['title', 'body'], stored: 'folded' }),
});

/** The needle is compared with so many posts of one user; the index finds it among more. */
const comparedMax = 50_000;
/** So many matches are put in order; among more a walk in the order meets a page sooner. */
const sortedMax = 20_000;

/** One page and the exact total, of the session's snapshot. */
export async function readPage(session: Session<Tables>, request: PageRequest): Promise<Page> {
  const ofUser = request.userId === undefined ? undefined : await countPosts(session, request.userId);
  const total = await countMatches(session, request, ofUser);
  const { offset, limit, isMirrored } = nearerEnd(request, total);
  if (limit === 0) return { posts: [], total };
  const direction = request.descending === isMirrored ? 'asc' : 'desc';
  const { rows, key } = candidates(session.dialect, request, { total, ofUser });
  const column = sql.ref(`post.${key}`);
  const page = session.kysely
    .selectFrom(rows.as('post'))
    .select('post.id')
    // SQLite merges the parts of `rows` in their order only if the query selects what it orders by.
    .$if(key !== 'id', (query) => query.select(column.as('key')).orderBy(column, direction))
    .orderBy('post.id', direction)
    .limit(limit)
    .offset(offset);
  const posts = await session.kysely
    .selectFrom(page.as('page'))
    .innerJoin('post', 'post.id', 'page.id')
    .select(postColumns)
    .orderBy(column, direction)
    .orderBy('post.id', direction)
    .execute();
  return { posts: isMirrored ? posts.reverse() : posts, total };
}

/** Every matching post by ascending id, in batches, from one snapshot. */
export function exportPosts(
  database: Database<Tables>,
  filter: PostFilter,
  options: { batchRows: number; signal: AbortSignal },
): AsyncIterable<Post[]> {
  const matching = statement<Tables>()((db, _p, dialect) =>
    db.selectFrom('post').select(postColumns).where(matches(dialect, filter)).orderBy('post.id'),
  );
  return database.stream(matching, {}, options);
}

/** Rows before a page are skipped one by one, so a page of the second half is read backward from the end. */
function nearerEnd({ offset, limit }: PageRequest, total: number) {
  const rows = Math.max(0, Math.min(limit, total - offset));
  const after = total - offset - rows;
  if (rows === 0 || offset <= after) return { offset, limit: rows, isMirrored: false };
  return { offset: after, limit: rows, isMirrored: true };
}

async function countMatches(
  session: Session<Tables>,
  { userId, needle }: PostFilter,
  ofUser: number | undefined,
): Promise<number> {
  if (needle === undefined) return ofUser ?? countPosts(session, undefined);
  const { dialect, kysely } = session;
  const found =
    ofUser === undefined
      ? postText.matchingIds(dialect, needle)
      : sql<{ id: number }>`(SELECT id FROM post WHERE ${matches(dialect, { userId, needle }, ofUser)})`;
  const { count } = await kysely
    .selectFrom(found.as('found'))
    .select((e) => e.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

type KeyColumn = 'id' | 'title' | 'created_at_ms' | 'updated_at_ms';

interface Candidates {
  /** A subquery of the posts that pass the filter, with the column that they are ordered by before their ids. */
  readonly rows: RawBuilder<{ id: number }>;
  readonly key: KeyColumn;
}

function candidates(
  dialect: Dialect,
  request: PageRequest,
  { total, ofUser }: { total: number; ofUser: number | undefined },
): Candidates {
  const { needle, order } = request;
  const key = keyColumn(request);
  const columns = key === 'id' ? sql`post.id` : sql`post.id, ${sql.ref(`post.${key}`)}`;
  if (dialect === 'sqlite' && ofUser === undefined && needle !== undefined) {
    const found = postText.matchingIds(dialect, needle);
    if (order === 'id') return { rows: found, key };
    if (total > sortedMax) return { rows: walk(key, needle), key };
    // SQLite cannot know how few rows the index finds, so the order of the join is fixed.
    return {
      rows: sql`(SELECT ${columns} FROM ${found} AS found CROSS JOIN post ON post.id = found.id)`,
      key,
    };
  }
  if (dialect === 'sqlite' && ofUser === undefined && order === 'title') return { rows: walk(key), key };
  return { rows: sql`(SELECT ${columns} FROM post WHERE ${matches(dialect, request, ofUser)})`, key };
}

/** All posts, or those with the needle, by an index that has their order. Titles are in it of indexed posts only. */
function walk(key: KeyColumn, needle?: string): RawBuilder<{ id: number }> {
  const isFound = needle === undefined ? sql`1 = 1` : postText.contains('sqlite', needle);
  if (key !== 'title')
    return sql`(SELECT id, updated_at_ms FROM post INDEXED BY post_updated WHERE ${isFound})`;
  const has = needle === undefined ? sql`1 = 1` : postText.compare('sqlite', needle);
  return sql`(SELECT id, title FROM post INDEXED BY post_title WHERE indexed = 1 AND ${isFound}
    UNION ALL SELECT id, title FROM post INDEXED BY post_pending WHERE indexed = 0 AND ${has})`;
}

/** Time of creation rises with the id, and its index is the narrowest that has the order of all ids. */
function keyColumn({ order, userId, needle }: PageRequest): KeyColumn {
  if (order === 'title') return 'title';
  if (order === 'updated') return 'updated_at_ms';
  return userId === undefined && needle === undefined ? 'created_at_ms' : 'id';
}

/** The condition of a filter on a row of `post`. `ofUser` is how many posts the user has. */
function matches(
  dialect: Dialect,
  { userId, needle }: { userId?: number | undefined; needle?: string | undefined },
  ofUser = Number.POSITIVE_INFINITY,
): RawBuilder<SqlBool> {
  const isOfUser = userId === undefined ? sql`1 = 1` : sql`post.user_id = ${userId}`;
  if (needle === undefined) return sql`${isOfUser}`;
  const has = ofUser <= comparedMax ? postText.compare(dialect, needle) : postText.contains(dialect, needle);
  return sql`${isOfUser} AND ${has}`;
}
