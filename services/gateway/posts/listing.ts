import { AppError } from '#kit/base/errors.ts';
import { type Static, Type } from '#kit/base/schema.ts';
import type { Links } from '#kit/rest/paging.ts';
import { postLimits } from '#proto/posts/v1/limits.ts';
import {
  type ListPostsRequest,
  type ListPostsResponse,
  type PostFilter,
  PostSort,
} from '#proto/posts/v1/posts.ts';
import { link, routes } from '../routes.ts';
import { sentimentLabels, toWireLabel } from '../sentiment/index.ts';
import { Id, idMax, type Post, toPost } from './post.ts';

/** Characters of a search in `Link`, encoded. */
const linkedSearchMax = 1_024;

const { pageSize: pageSizeMax, search: searchCharactersMax } = postLimits;

/** The query of an export. */
export const FilterQuery = Type.Object({
  userId: Type.Optional(Id),
  search: Type.Optional(
    Type.String({
      format: 'text',
      description: `Part of the title or the body, in any case; at most ${searchCharactersMax} characters`,
    }),
  ),
  createdFrom: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only posts created at this time or later' }),
  ),
  createdBefore: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only posts created before this time' }),
  ),
  sentiment: Type.Optional(
    Type.Enum(sentimentLabels, { description: 'Only posts that were last classified so' }),
  ),
});

const sorts = {
  id: PostSort.POST_SORT_ID,
  title: PostSort.POST_SORT_TITLE,
  createdAt: PostSort.POST_SORT_CREATED_AT,
  updatedAt: PostSort.POST_SORT_UPDATED_AT,
} as const;

/** A page of a list. */
export const PageQuery = Type.Object({
  page: Type.Integer({ minimum: 1, maximum: idMax, default: 1 }),
  pageSize: Type.Integer({
    minimum: 1,
    default: 20,
    'x-clamp': pageSizeMax,
    description: `Larger values become ${pageSizeMax}`,
  } as { minimum: number; default: number }),
});
export type PageQuery = Static<typeof PageQuery>;

/** The query of a list. */
export const ListQuery = Type.Object({
  ...FilterQuery.properties,
  sortBy: Type.Enum(['id', 'title', 'createdAt', 'updatedAt'], { default: 'id' }),
  sortOrder: Type.Enum(['asc', 'desc'], { default: 'desc' }),
  ...PageQuery.properties,
});
export type ListQuery = Static<typeof ListQuery>;

export const PaginationMeta = Type.Object(
  {
    page: Type.Integer(),
    pageSize: Type.Integer(),
    totalItems: Type.Integer(),
    totalPages: Type.Integer(),
    hasNext: Type.Boolean(),
    hasPrev: Type.Boolean(),
  },
  {
    title: 'PaginationMeta',
    examples: [{ page: 1, pageSize: 20, totalItems: 1, totalPages: 1, hasNext: false, hasPrev: false }],
  },
);
export type PaginationMeta = Static<typeof PaginationMeta>;

export interface PostPage {
  readonly posts: Post[];
  readonly pagination: PaginationMeta;
}

/** The filter of a query. Throws if the search is too long. */
export function toFilter(query: Static<typeof FilterQuery>): PostFilter {
  const search = query.search?.trim();
  if (search !== undefined && [...search].length > searchCharactersMax) {
    const problem = `must be at most ${searchCharactersMax} characters`;
    throw new AppError('invalid_input', `search ${problem}`, { fields: { search: problem } });
  }
  const { userId, createdFrom, createdBefore, sentiment } = query;
  return {
    userId,
    search: search || undefined,
    createdFromMs: createdFrom === undefined ? undefined : Date.parse(createdFrom),
    createdBeforeMs: createdBefore === undefined ? undefined : Date.parse(createdBefore),
    sentiment: sentiment && toWireLabel(sentiment),
  };
}

/** A page of the posts that pass a filter, as the posts service takes it. */
export function toListRequest(
  filter: PostFilter,
  query: Pick<ListQuery, 'sortBy' | 'sortOrder' | 'page' | 'pageSize'>,
): ListPostsRequest {
  const { sortBy, sortOrder, page, pageSize } = query;
  return {
    filter,
    sort: sorts[sortBy],
    descending: sortOrder === 'desc',
    page,
    pageSize,
  };
}

/** Converts a list of the posts service to the API's shape. */
export function toPostPage({ posts, total }: ListPostsResponse, query: PageQuery): PostPage {
  return { posts: posts.map(toPost), pagination: paginationOf(total, query) };
}

/** The position of a page in a list of so many items. */
export function paginationOf(total: number, { page, pageSize }: PageQuery): PaginationMeta {
  const totalPages = Math.ceil(total / pageSize);
  const hasNext = page < totalPages;
  return { page, pageSize, totalItems: total, totalPages, hasNext, hasPrev: page > 1 && total > 0 };
}

/**
 * Addresses of the first, previous, next and last page, if they exist. A long search is left out, because proxies refuse responses
 * with large headers.
 */
export function linksOf(query: ListQuery, pagination: PaginationMeta): Links {
  return linksTo((page) => pageLink(query, page), pagination);
}

/** Addresses of the pages around one. */
export function linksTo(
  hrefOf: (page: number) => string,
  { page, totalPages, hasNext, hasPrev }: PaginationMeta,
): Links {
  const exists = totalPages > 0;
  return {
    first: exists ? hrefOf(1) : undefined,
    prev: hasPrev ? hrefOf(Math.min(page - 1, totalPages)) : undefined,
    next: hasNext ? hrefOf(page + 1) : undefined,
    last: exists ? hrefOf(totalPages) : undefined,
  };
}

function pageLink(query: ListQuery, page: number): string {
  const { userId, search: given = '' } = toFilter(query);
  const search = encodeURIComponent(given).length <= linkedSearchMax ? given || undefined : undefined;
  const { createdFrom, createdBefore, sentiment, sortBy, sortOrder, pageSize } = query;
  const filter = { userId, search, createdFrom, createdBefore, sentiment };
  return link(routes.posts, { ...filter, sortBy, sortOrder, page, pageSize });
}
