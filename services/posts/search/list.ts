import { type RawBuilder, sql } from 'kysely';
import { type Database, type Dialect, type Session, statement } from '#kit/db/index.ts';
import type { Page, PageRequest, Post, PostFilter, PostOrder } from '../post.ts';
import { postColumns } from '../store.ts';
import { countPosts } from '../store-statistics.ts';
import type { Tables } from '../tables.ts';
import { postText } from './text.ts';

/** One page and the exact total, of the session's snapshot. */
export async function readPage(session: Session<Tables>, request: PageRequest): Promise<Page> {
  const total = await countMatches(session, request);
  const { offset, limit, mirrored } = nearerEnd(request, total);
  if (limit === 0) return { posts: [], total };
  const direction = request.descending === mirrored ? 'asc' : 'desc';
  const posts = await session.kysely
    .selectFrom((db) =>
      db
        .selectFrom(candidates(session.dialect, request).as('candidate'))
        .select(['candidate.id', 'candidate.key'])
        .orderBy('candidate.key', direction)
        .orderBy('candidate.id', direction)
        .limit(limit)
        .offset(offset)
        .as('page'),
    )
    .innerJoin('post', 'post.id', 'page.id')
    .select(postColumns)
    .orderBy('page.key', direction)
    .orderBy('page.id', direction)
    .execute();
  return { posts: mirrored ? posts.reverse() : posts, total };
}

/** Every matching post by ascending id, in batches, from one snapshot. */
export function exportPosts(
  database: Database<Tables>,
  filter: PostFilter,
  options: { batchRows: number; signal: AbortSignal },
): AsyncIterable<Post[]> {
  const matching = statement<Tables, Record<never, never>, Post>((db, _p, dialect) =>
    db.selectFrom('post').select(postColumns).where(conditions(dialect, filter)).orderBy('post.id'),
  );
  return database.stream(matching, {}, options);
}

/** Rows before a page are skipped one by one, so a page of the second half is read backwards from the end. */
function nearerEnd({ offset, limit }: PageRequest, total: number) {
  const rows = Math.max(0, Math.min(limit, total - offset));
  const after = total - offset - rows;
  if (rows === 0 || offset <= after) return { offset, limit: rows, mirrored: false };
  return { offset: after, limit: rows, mirrored: true };
}

async function countMatches(session: Session<Tables>, filter: PostFilter): Promise<number> {
  if (filter.term === undefined) return countPosts(session, filter.userId);
  const { count } = await session.kysely
    .selectFrom(candidates(session.dialect, { ...filter, order: 'id' }).as('candidate'))
    .select((e) => e.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

type Candidates = RawBuilder<{ id: number; key: string | number }>;

/** A subquery of the posts that pass a filter, and what they are ordered by before their ids. */
function candidates(dialect: Dialect, request: PostFilter & { readonly order: PostOrder }): Candidates {
  const { userId, term, order } = request;
  const key = sql.ref(`post.${keyColumn(request)}`);
  if (dialect === 'sqlite' && userId === undefined) {
    if (term !== undefined) {
      const found = postText.matchingIds(dialect, term);
      if (order === 'id') return sql`(SELECT id, id AS key FROM ${found})`;
      // The order of the join is fixed: SQLite cannot know that the index finds fewer rows than the table has.
      return sql`(SELECT post.id, ${key} AS key FROM ${found} AS found CROSS JOIN post ON post.id = found.id)`;
    }
    if (order === 'title') {
      return sql`(SELECT id, title AS key FROM post INDEXED BY post_title WHERE indexed = 1
        UNION ALL SELECT id, title FROM post INDEXED BY post_pending WHERE indexed = 0)`;
    }
  }
  return sql`(SELECT post.id, ${key} AS key FROM post WHERE ${conditions(dialect, request)})`;
}

/** Time of creation rises with the id, and its index is the narrowest that has the order of all ids. */
function keyColumn({ order, userId, term }: PostFilter & { readonly order: PostOrder }): string {
  if (order === 'id') return userId === undefined && term === undefined ? 'created_at_ms' : 'id';
  return { title: 'title', updated: 'updated_at_ms' }[order];
}

function conditions(dialect: Dialect, { userId, term }: PostFilter): RawBuilder<boolean> {
  const ofUser = userId === undefined ? [] : [sql`post.user_id = ${userId}`];
  const withTerm = term === undefined ? [] : [postText.contains(dialect, term)];
  return sql<boolean>`${sql.join([sql`1 = 1`, ...ofUser, ...withTerm], sql` AND `)}`;
}
