import { AppError, type Fields, type Static, Type } from '@octavo/core';
import type { PostFilter } from '@octavo/protocols/posts/v1/posts';
import type { Validation } from '@octavo/web/validation';
import { compileTextValidator } from '@octavo/web/validation';
import { link, pageRoutes } from '../../routes.ts';
import { filterParameters, PageFilter, toPostFilter } from '../filter.ts';
import { ListQuery } from '../listing.ts';

const { sortBy, sortOrder, page, pageSize } = ListQuery.properties;
const PageQuery = Type.Object({ ...PageFilter.properties, sortBy, sortOrder, page, pageSize });

/** The query of the list of posts, as a page. */
export type PageQuery = Static<typeof PageQuery>;

type Parameters = Readonly<Record<string, unknown>>;

export interface UsableQuery {
  readonly query: PageQuery;
  readonly filter: PostFilter;
  /** The parameters that were ignored, and why. */
  readonly ignored: Fields;
}

type ReadQuery = (parameters: Parameters, options: { readonly hasSentiments: boolean }) => UsableQuery;

/** Reads queries without the parameters that are invalid, because a list and a warning are better than no list. */
export function createQueryReader(): ReadQuery {
  const parse = compileTextValidator(PageQuery) as (parameters: Parameters) => Validation<PageQuery>;
  const read: ReadQuery = (given, options) => {
    try {
      const parsed = parse(given);
      if (parsed.fields) throw unusable(parsed.fields);
      if (parsed.value.sentiment && !options.hasSentiments) throw unusable({ sentiment: 'is not known' });
      const filter = toPostFilter(parsed.value);
      return { query: { ...parsed.value, search: filter.search }, filter, ignored: {} };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const usable = Object.entries(given).filter(([name]) => !Object.hasOwn(error.fields, name));
      const rest = read(Object.fromEntries(usable), options);
      return { ...rest, ignored: { ...error.fields, ...rest.ignored } };
    }
  };
  // A form sends its empty fields too.
  return (parameters, options) =>
    read(Object.fromEntries(Object.entries(parameters).filter(([, text]) => text !== '')), options);
}

function unusable(fields: Fields): AppError {
  return new AppError('invalid_input', 'query', { fields });
}

/** The address of the list with a changed query. */
export function hrefOf(query: PageQuery, change: Partial<PageQuery> = {}): string {
  const changed = { ...query, ...change };
  const { sortBy, sortOrder, page, pageSize } = changed;
  const isDefaultOrder = sortBy === 'id' && sortOrder === 'desc';
  return link(pageRoutes.posts, {
    ...filterParameters(changed),
    sortBy: isDefaultOrder ? undefined : sortBy,
    sortOrder: isDefaultOrder ? undefined : sortOrder,
    page: page === 1 ? undefined : page,
    pageSize: pageSize === defaultPageSize ? undefined : pageSize,
  });
}

export const defaultPageSize = 20;
