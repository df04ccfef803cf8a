import { type Static, Type } from '@octavo/core';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import {
  type ListPostsRequest,
  type ListPostsResponse,
  type PostFilter,
  PostSort,
} from '@octavo/protocols/posts/v1/posts';
import type { Links } from '@octavo/web/rest';
import { link, routes } from '../routes.ts';
import { FilterQuery, toFilter } from './filter.ts';
import { idMax, type Post, toPost } from './post.ts';

/** Characters of a search in `Link`, encoded. */
const linkedSearchMax = 1_024;

const { pageSize: pageSizeMax } = postLimits;

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

/** The position of a page in a list of `total` items. */
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

function pageLink({ sortBy, sortOrder, pageSize, page: _, ...filter }: ListQuery, page: number): string {
  const { search = '' } = toFilter(filter);
  const isShort = encodeURIComponent(search).length <= linkedSearchMax;
  const linked = { ...filter, search: (isShort && search) || undefined };
  return link(routes.posts, { ...linked, sortBy, sortOrder, page, pageSize });
}
