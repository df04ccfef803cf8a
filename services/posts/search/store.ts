import type { Database, Dialect, Session } from '@octavo/data';
import { type RawBuilder, sql } from 'kysely';
import type { Tables } from '../database.ts';
import { type Post, postColumns } from '../posts/index.ts';
import { countPosts } from '../statistics/index.ts';
import type { Page, PageRequest, PostFilter } from './request.ts';
import { hasTimesOnly, isNarrowed, matches, matchingIds } from './store-filter.ts';

/** Most matches that are put in order; among more a walk in the order meets a page sooner. */
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
    // SQLite merges the parts of `rows` in order only if the query selects the columns it orders by.
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
  const { kysely, dialect } = database;
  const matching = kysely.selectFrom('post').select(postColumns).where(matches(dialect, filter));
  return database.stream(matching.orderBy('post.id'), options);
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
  filter: PostFilter,
  ofUser: number | undefined,
): Promise<number> {
  const isCounted = filter.needle === undefined && !isNarrowed(filter);
  if (isCounted) return ofUser ?? countPosts(session, undefined);
  const { count } = await session.kysely
    .selectFrom(matchingIds(session.dialect, filter, ofUser).as('found'))
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
  if (key === 'id' || key === 'created_at_ms') return { rows: matchingIds(dialect, request, ofUser), key };
  const columns = sql`post.id, ${sql.ref(`post.${key}`)}`;
  const isSelective = ofUser === undefined && (needle !== undefined || isNarrowed(request));
  if (dialect === 'sqlite' && isSelective) {
    if (total > sortedMax) return { rows: walk(key, request), key };
    // SQLite cannot know how few rows the index finds, so the order of the join is fixed.
    const found = matchingIds(dialect, request);
    return {
      rows: sql`(SELECT ${columns} FROM ${found} AS found CROSS JOIN post ON post.id = found.id)`,
      key,
    };
  }
  if (dialect === 'sqlite' && ofUser === undefined && order === 'title')
    return { rows: walk(key, request), key };
  return { rows: sql`(SELECT ${columns} FROM post WHERE ${matches(dialect, request, ofUser)})`, key };
}

/** All posts that pass a filter by an index that has their order. Titles are in it of indexed posts only. */
function walk(key: KeyColumn, filter: PostFilter): RawBuilder<{ id: number }> {
  const isFound = matches('sqlite', filter);
  if (key !== 'title')
    return sql`(SELECT id, updated_at_ms FROM post INDEXED BY post_updated WHERE ${isFound})`;
  const isFoundAmongFew = matches('sqlite', filter, 0);
  return sql`(SELECT id, title FROM post INDEXED BY post_title WHERE indexed = 1 AND ${isFound}
    UNION ALL SELECT id, title FROM post INDEXED BY post_pending WHERE indexed = 0 AND ${isFoundAmongFew})`;
}

/** Time of creation rises with the id, and its index is the narrowest that has the order of all ids. */
function keyColumn(request: PageRequest): KeyColumn {
  const { order } = request;
  if (order === 'title') return 'title';
  if (order === 'updated') return 'updated_at_ms';
  return hasTimesOnly(request) ? 'created_at_ms' : 'id';
}
