import { normalize } from '#kit/search/index.ts';
import { postLimits } from '#proto/posts/v1/limits.ts';
import { codePointsOf, encodingProblem, isUserId, type Post, refuse } from '../posts/index.ts';

export interface PostFilter {
  readonly userId?: number;
  /** A part of the title or the body, normalized. */
  readonly needle?: string;
}

export type PostOrder = 'id' | 'title' | 'updated';

export interface PageRequest extends PostFilter {
  readonly order: PostOrder;
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
}

export interface Page {
  readonly posts: readonly Post[];
  readonly total: number;
}

/** The filter of a request. Throws `validation_failed`. */
export function readFilter(filter: { userId?: number | undefined; search?: string | undefined }): PostFilter {
  const { userId } = filter;
  const search = filter.search?.trim() ?? '';
  if (userId !== undefined && !isUserId(userId)) refuse({ userId: 'must be a whole number from 1' });
  const unusable = encodingProblem(search);
  if (unusable) refuse({ search: unusable });
  if (codePointsOf(search) > postLimits.search) {
    refuse({ search: `must be at most ${postLimits.search} characters` });
  }
  return {
    ...(userId === undefined ? {} : { userId }),
    ...(search === '' ? {} : { needle: normalize(search) }),
  };
}

/** The rows of a page, which is counted from 1. Throws `validation_failed`. */
export function readSlice(page: number, pageSize: number): Pick<PageRequest, 'offset' | 'limit'> {
  if (!Number.isSafeInteger(page) || page < 1) refuse({ page: 'must be a whole number from 1' });
  if (!Number.isSafeInteger(pageSize) || pageSize < 1 || pageSize > postLimits.pageSize) {
    refuse({ pageSize: `must be a whole number from 1 to ${postLimits.pageSize}` });
  }
  return { offset: Math.min((page - 1) * pageSize, Number.MAX_SAFE_INTEGER), limit: pageSize };
}
