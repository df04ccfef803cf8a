import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Database, type Session, type Statement, statement } from '#kit/db/index.ts';
import type { Page, PageRequest, Post, PostFilter, PostOrder } from './post.ts';
import { postColumns } from './store.ts';
import { type FilterParams, filterParams, hasTerm } from './store-filter.ts';
import { countPosts } from './store-statistics.ts';
import type { Tables } from './tables.ts';

type Slice = { readonly offset: number; readonly limit: number };

/** A page by SQL alone, which is fast where an index has the order and the filter. */
export async function readListPage(session: Session<Tables>, request: PageRequest): Promise<Page> {
  const filter = filterParams(session.dialect, request);
  const total = await countMatches(session, request);
  const { offset, limit, mirrored } = nearerEnd(request, total);
  if (limit === 0) return { posts: [], total };
  const descending = request.descending !== mirrored;
  const posts = await pageStatement({ ...request, descending }).all(session, { ...filter, offset, limit });
  return { posts: mirrored ? posts.reverse() : posts, total };
}

/** Every matching post by ascending id, in batches, from one snapshot. */
export function exportPosts(
  database: Database<Tables>,
  filter: PostFilter,
  options: { batchRows: number; signal: AbortSignal },
): AsyncIterable<Post[]> {
  return database.stream(exportStatement(filter), filterParams(database.dialect, filter), options);
}

/** Rows before a page are skipped one by one, so a page of the second half is read backwards from the end. */
export function nearerEnd({ offset, limit }: Slice, total: number): Slice & { readonly mirrored: boolean } {
  const rows = Math.max(0, Math.min(limit, total - offset));
  const after = total - offset - rows;
  if (rows === 0 || offset <= after) return { offset, limit: rows, mirrored: false };
  return { offset: after, limit: rows, mirrored: true };
}

async function countMatches(session: Session<Tables>, filter: PostFilter): Promise<number> {
  if (filter.term === undefined) return countPosts(session, filter.userId);
  const counted = await countStatement(filter).first(session, filterParams(session.dialect, filter));
  return counted?.count ?? 0;
}

interface Shape {
  readonly order: PostOrder;
  readonly descending: boolean;
  readonly byUser: boolean;
  readonly byTerm: boolean;
}

function pageStatement(request: PageRequest): Statement<FilterParams & Slice, Post> {
  return pageStatements.get(shapeKey({ ...request, ...shapeOf(request) })) as Statement<
    FilterParams & Slice,
    Post
  >;
}

function countStatement(filter: PostFilter): Statement<FilterParams, { count: number }> {
  return countStatements.get(shapeKey(shapeOf(filter))) as Statement<FilterParams, { count: number }>;
}

function exportStatement(filter: PostFilter): Statement<FilterParams, Post> {
  return exportStatements.get(shapeKey(shapeOf(filter))) as Statement<FilterParams, Post>;
}

function shapeOf({ userId, term }: PostFilter): Pick<Shape, 'byUser' | 'byTerm'> {
  return { byUser: userId !== undefined, byTerm: term !== undefined };
}

function shapeKey({ order, descending, byUser, byTerm }: Partial<Shape>): string {
  return [order, descending, byUser, byTerm].join();
}

const filters = [false, true].flatMap((byUser) => [false, true].map((byTerm) => ({ byUser, byTerm })));
const orders = (['id', 'title', 'updated'] as const).flatMap((order) =>
  [false, true].map((descending) => ({ order, descending })),
);

/** The rows are found in an index, and only those of the page are read. */
const pageStatements = new Map(
  orders
    .flatMap((order) => filters.map((filter) => ({ ...order, ...filter })))
    .map((shape) => [
      shapeKey(shape),
      statement<Tables, FilterParams & Slice, Post>((db, p, dialect) => {
        const keys = ordered(db.selectFrom('post').where(matching(shape, p, dialect)), shape)
          .select('post.id')
          .limit(p('limit'))
          .offset(p('offset'));
        return ordered(db.selectFrom(keys.as('key')).innerJoin('post', 'post.id', 'key.id'), shape).select(
          postColumns,
        );
      }),
    ]),
);

const countStatements = new Map(
  filters.map((shape) => [
    shapeKey(shape),
    statement<Tables, FilterParams, { count: number }>((db, p, dialect) =>
      db
        .selectFrom('post')
        .where(matching(shape, p, dialect))
        .select((e) => e.fn.countAll<number>().as('count')),
    ),
  ]),
);

const exportStatements = new Map(
  filters.map((shape) => [
    shapeKey(shape),
    statement<Tables, FilterParams, Post>((db, p, dialect) =>
      db
        .selectFrom('post')
        .where(matching(shape, p, dialect))
        .select(postColumns)
        .orderBy('post.id'),
    ),
  ]),
);

function matching(
  { byUser, byTerm }: Pick<Shape, 'byUser' | 'byTerm'>,
  p: (name: 'userId' | 'wanted') => Expression<unknown>,
  dialect: Session<Tables>['dialect'],
): RawBuilder<SqlBool> {
  const user = byUser ? sql<SqlBool>`post.user_id = ${p('userId')}` : sql<SqlBool>`1 = 1`;
  return byTerm ? sql<SqlBool>`${user} AND ${hasTerm(dialect, p('wanted'))}` : user;
}

/** Time of creation rises with the id, and its index is the narrowest that has the order of all ids. */
function ordered<Q extends { orderBy(column: string, direction: 'asc' | 'desc'): Q }>(
  query: Q,
  { order, descending, byUser }: Shape,
): Q {
  const direction = descending ? 'desc' : 'asc';
  const column = {
    id: byUser ? undefined : 'post.created_at_ms',
    title: 'post.title',
    updated: 'post.updated_at_ms',
  }[order];
  const byColumn = column ? query.orderBy(column, direction) : query;
  return byColumn.orderBy('post.id', direction);
}
