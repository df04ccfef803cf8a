import { AppError } from '#kit/base/errors.ts';
import { type Static, Type } from '#kit/base/schema.ts';
import type { PostFilter } from '#proto/posts/v1/posts.ts';
import { FilterQuery, toFilter } from './listing.ts';

const { userId, search, sentiment } = FilterQuery.properties;

/** A filter as people choose it: with days of their time zone in place of times. */
export const PageFilter = Type.Object({
  search,
  userId,
  from: Type.Optional(Type.String({ format: 'date', description: 'The first day' })),
  to: Type.Optional(Type.String({ format: 'date', description: 'The last day' })),
  zone: Type.Optional(Type.String({ format: 'text', description: 'An IANA time zone; UTC by default' })),
  sentiment,
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

/** The parameters of a filter, for links to the same posts. */
export function filterParameters({ search, userId, from, to, zone, sentiment }: PageFilter) {
  const hasDays = from !== undefined || to !== undefined;
  return { search, userId, from, to, zone: hasDays ? zone : undefined, sentiment };
}

export function isFiltered({ search, userId, from, to, sentiment }: PageFilter): boolean {
  return [search, userId, from, to, sentiment].some((given) => given !== undefined);
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
