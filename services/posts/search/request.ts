import { normalize } from '@octavo/data/search';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import { SentimentLabel, type PostFilter as WireFilter } from '@octavo/protocols/posts/v1/posts';
import type { SentimentRow } from '../database.ts';
import { codePointsOf, encodingProblem, isUserId, type Post, refuse } from '../posts/index.ts';

export interface PostFilter {
  readonly userId?: number;
  /** A part of the title or the body, normalized. */
  readonly needle?: string;
  /** Created at this time or later. */
  readonly createdFromMs?: number;
  readonly createdBeforeMs?: number;
  /** Sentiment as last classified. */
  readonly sentiment?: SentimentRow['label'];
}

const filterNames = Object.keys({
  userId: true,
  needle: true,
  createdFromMs: true,
  createdBeforeMs: true,
  sentiment: true,
} satisfies Record<keyof PostFilter, true>) as (keyof PostFilter)[];

/** Returns true if a filter sets nothing but these, for which there is a shorter way. */
export function hasOnly(filter: PostFilter, ...names: (keyof PostFilter)[]): boolean {
  return filterNames.every((name) => filter[name] === undefined || names.includes(name));
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
export function readFilter(filter: WireFilter): PostFilter {
  const { userId, createdFromMs, createdBeforeMs, sentiment } = filter;
  const search = filter.search?.trim() ?? '';
  if (userId !== undefined && !isUserId(userId)) refuse({ userId: 'must be a whole number from 1' });
  const unusable = encodingProblem(search);
  if (unusable) refuse({ search: unusable });
  if (codePointsOf(search) > postLimits.search) {
    refuse({ search: `must be at most ${postLimits.search} characters` });
  }
  for (const [name, time] of Object.entries({ createdFromMs, createdBeforeMs })) {
    if (time !== undefined && !Number.isSafeInteger(time)) refuse({ [name]: 'must be a whole number' });
  }
  const label = sentiment ? labels[sentiment] : undefined;
  if (sentiment && !label) refuse({ sentiment: 'must be negative, neutral or positive' });
  return {
    ...(userId === undefined ? {} : { userId }),
    ...(search === '' ? {} : { needle: normalize(search) }),
    ...(createdFromMs === undefined ? {} : { createdFromMs }),
    ...(createdBeforeMs === undefined ? {} : { createdBeforeMs }),
    ...(label ? { sentiment: label } : {}),
  };
}

const labels: Readonly<Record<number, SentimentRow['label']>> = {
  [SentimentLabel.SENTIMENT_LABEL_NEGATIVE]: 'negative',
  [SentimentLabel.SENTIMENT_LABEL_NEUTRAL]: 'neutral',
  [SentimentLabel.SENTIMENT_LABEL_POSITIVE]: 'positive',
};

/** The rows of a page, which is counted from 1. Throws `validation_failed`. */
export function readSlice(page: number, pageSize: number): Pick<PageRequest, 'offset' | 'limit'> {
  if (!Number.isSafeInteger(page) || page < 1) refuse({ page: 'must be a whole number from 1' });
  if (!Number.isSafeInteger(pageSize) || pageSize < 1 || pageSize > postLimits.pageSize) {
    refuse({ pageSize: `must be a whole number from 1 to ${postLimits.pageSize}` });
  }
  return { offset: Math.min((page - 1) * pageSize, Number.MAX_SAFE_INTEGER), limit: pageSize };
}
