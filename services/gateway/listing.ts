import { AppError } from '#kit/errors.ts';
import { type Static, Type } from '#kit/schema.ts';
import {
  type ListPostsRequest,
  type ListPostsResponse,
  type PostFilter,
  PostSort,
} from '#proto/posts/v1/posts.ts';
import { largestId, type Post, toPost } from './post.ts';
import { link, routes } from './routes.ts';

export const pageSizeMax = 100;
const searchCharacters = 256;

const filterParameters = {
  userId: Type.Optional(Type.Integer({ minimum: 1, maximum: largestId })),
  search: Type.Optional(
    Type.String({
      format: 'text',
      description: `Part of title or body, in any case; at most ${searchCharacters} characters`,
    }),
  ),
};

const sorts = {
  id: PostSort.POST_SORT_ID,
  title: PostSort.POST_SORT_TITLE,
  createdAt: PostSort.POST_SORT_CREATED_AT,
  updatedAt: PostSort.POST_SORT_UPDATED_AT,
} as const;

/** The query of an export. */
export const FilterQuery = Type.Object(filterParameters);

/** The query of a list. */
export const ListQuery = Type.Object({
  ...filterParameters,
  sortBy: Type.Enum(['id', 'title', 'createdAt', 'updatedAt'], { default: 'id' }),
  sortOrder: Type.Enum(['asc', 'desc'], { default: 'desc' }),
  page: Type.Integer({ minimum: 1, maximum: largestId, default: 1 }),
  pageSize: Type.Integer({
    minimum: 1,
    default: 20,
    'x-clamp': pageSizeMax,
    description: `More than ${pageSizeMax} is answered as ${pageSizeMax}`,
  } as { minimum: number; default: number }),
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
    examples: [{ page: 1, pageSize: 20, totalItems: 1, totalPages: 1, hasNext: false, hasPrev: false }],
  },
);
export type PaginationMeta = Static<typeof PaginationMeta>;

/** A list that can be asked for: bounds applied, search cleaned. */
export interface Listing {
  readonly filter: PostFilter;
  readonly sortBy: ListQuery['sortBy'];
  readonly sortOrder: ListQuery['sortOrder'];
  readonly page: number;
  readonly pageSize: number;
}

export interface Page {
  readonly posts: Post[];
  readonly pagination: PaginationMeta;
}

export function toListing(query: ListQuery): Listing {
  const { sortBy, sortOrder, page, pageSize } = query;
  return { filter: toFilter(query), sortBy, sortOrder, page, pageSize };
}

export function toFilter(query: Static<typeof FilterQuery>): PostFilter {
  const search = query.search?.trim();
  if (search !== undefined && [...search].length > searchCharacters) {
    const problem = `must be at most ${searchCharacters} characters`;
    throw new AppError('invalid_input', `search ${problem}`, { fields: { search: problem } });
  }
  return { userId: query.userId, search: search || undefined };
}

export function toRequest({ filter, sortBy, sortOrder, page, pageSize }: Listing): ListPostsRequest {
  return { filter, sort: sorts[sortBy], descending: sortOrder === 'desc', page, pageSize };
}

export function toPage(found: ListPostsResponse, { page, pageSize }: Listing): Page {
  const totalPages = Math.ceil(found.total / pageSize);
  return {
    posts: found.posts.map(toPost),
    pagination: {
      page,
      pageSize,
      totalItems: found.total,
      totalPages,
      hasNext: page < totalPages,
      hasPrev: page > 1 && found.total > 0,
    },
  };
}

/** The value of `Link` (RFC 8288): first, prev, next and last page, those that exist. */
export function linksOf(listing: Listing, { totalPages }: PaginationMeta): string {
  const { page } = listing;
  const relations: [string, number, boolean][] = [
    ['first', 1, totalPages > 0],
    ['prev', Math.min(page - 1, totalPages), page > 1 && totalPages > 0],
    ['next', page + 1, page < totalPages],
    ['last', totalPages, totalPages > 0],
  ];
  return relations
    .filter(([, , exists]) => exists)
    .map(([relation, target]) => `<${pageLink(listing, target)}>; rel="${relation}"`)
    .join(', ');
}

function pageLink(listing: Listing, page: number): string {
  const { filter, sortBy, sortOrder, pageSize } = listing;
  return link(routes.posts, {
    userId: filter.userId,
    search: filter.search,
    sortBy,
    sortOrder,
    page,
    pageSize,
  });
}
