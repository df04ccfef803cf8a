import { AppError, type Static, Type } from '@octavo/core';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import type { PostFilter } from '@octavo/protocols/posts/v1/posts';
import { sentimentLabels, toWireLabel } from '../sentiment/index.ts';
import { Id } from './post.ts';

const { search: searchCharactersMax } = postLimits;

/** The filters of posts. Lists, exports, their links and their pages take each that stands here. */
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
  sentiment: Type.Optional(Type.Enum(sentimentLabels, { description: 'Only posts with this sentiment' })),
});

/** The filter as the posts service takes it. Throws `invalid_input` if the search is too long. */
export function toFilter(query: Static<typeof FilterQuery>): PostFilter {
  const { search: given, createdFrom, createdBefore, sentiment, ...sameOnTheWire } = query;
  const search = given?.trim();
  if (search !== undefined && [...search].length > searchCharactersMax) {
    const problem = `must be at most ${searchCharactersMax} characters`;
    throw new AppError('invalid_input', `search ${problem}`, { fields: { search: problem } });
  }
  return {
    ...sameOnTheWire,
    search: search || undefined,
    createdFromMs: createdFrom === undefined ? undefined : Date.parse(createdFrom),
    createdBeforeMs: createdBefore === undefined ? undefined : Date.parse(createdBefore),
    sentiment: sentiment && toWireLabel(sentiment),
  };
}

const { createdFrom, createdBefore, ...withoutTimes } = FilterQuery.properties;

/** The filters as people choose them: with days of their time zone in place of times. */
export const PageFilter = Type.Object({
  ...withoutTimes,
  from: Type.Optional(Type.String({ format: 'date', description: 'The first day' })),
  to: Type.Optional(Type.String({ format: 'date', description: 'The last day' })),
  zone: Type.Optional(Type.String({ format: 'text', description: 'An IANA time zone; UTC by default' })),
});
export type PageFilter = Static<typeof PageFilter>;

/** The filter as the posts service takes it. Throws `invalid_input` if the last day is before the first. */
export function toPostFilter({ from, to, zone, ...filter }: PageFilter): PostFilter {
  if (from !== undefined && to !== undefined && to < from) {
    const problem = 'must not be before the first day';
    throw new AppError('invalid_input', `to ${problem}`, { fields: { to: problem } });
  }
  return {
    ...toFilter(filter),
    createdFromMs: from === undefined ? undefined : startOfDay(from, zone),
    createdBeforeMs: to === undefined ? undefined : startOfDay(to, zone, 1),
  };
}

/** Filters that people choose: not their time zone, which the browser sends. */
export type FilterName = Exclude<keyof PageFilter, 'zone'>;

const { zone: _, ...chosen } = PageFilter.properties;
const filterNames = Object.keys(chosen) as FilterName[];

export function isFiltered(filter: PageFilter): boolean {
  return filterNames.some((name) => filter[name] !== undefined);
}

/** The parameters of a filter, for links to the same posts. */
export function filterParameters(filter: PageFilter): PageFilter {
  const { from, to, zone } = filter;
  const parameters = Object.fromEntries(filterNames.map((name) => [name, filter[name]]));
  return from === undefined && to === undefined ? parameters : { ...parameters, zone };
}

function startOfDay(day: string, zone: string | undefined, daysLater = 0): number {
  const date = Temporal.PlainDate.from(day).add({ days: daysLater });
  try {
    return date.toZonedDateTime({ timeZone: zone || 'UTC' }).epochMilliseconds;
  } catch {
    // A zone that this machine does not know.
    return date.toZonedDateTime({ timeZone: 'UTC' }).epochMilliseconds;
  }
}
