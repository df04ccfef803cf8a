import { type Static, Type } from '@octavo/core';
import type { GetAnalyticsResponse } from '@octavo/protocols/posts/v1/posts';

const Counts = Type.Record(Type.String(), Type.Integer());

export const AnalyticsResult = Type.Object(
  {
    totalPosts: Type.Integer(),
    totalCharacters: Type.Integer(),
    uniqueChars: Type.Integer(),
    topCharacters: Type.Array(
      Type.Object({
        character: Type.String(),
        count: Type.Integer(),
        frequency: Type.Number({ description: 'Percent of all characters' }),
      }),
    ),
    statistics: Type.Object({
      averagePostLength: Type.Number(),
      medianPostLength: Type.Integer(),
      postsPerUser: Counts,
      timeDistribution: Counts,
    }),
  },
  {
    title: 'AnalyticsResult',
    examples: [
      {
        totalPosts: 2,
        totalCharacters: 8,
        uniqueChars: 3,
        topCharacters: [{ character: 'a', count: 4, frequency: 50 }],
        statistics: {
          averagePostLength: 4,
          medianPostLength: 4,
          postsPerUser: { '2': 2 },
          timeDistribution: { night: 0, morning: 2, afternoon: 0, evening: 0 },
        },
      },
    ],
  },
);
export type AnalyticsResult = Static<typeof AnalyticsResult>;

/** The statistics in the API's shape. */
export function toAnalytics(counted: GetAnalyticsResponse): AnalyticsResult {
  const { totalPosts, totalCharacters } = counted;
  return {
    totalPosts,
    totalCharacters,
    uniqueChars: counted.uniqueCharacters,
    topCharacters: counted.topCharacters.map(({ codePoint, count }) => ({
      character: String.fromCodePoint(codePoint),
      count,
      frequency: (count / totalCharacters) * 100,
    })),
    statistics: {
      averagePostLength: totalPosts === 0 ? 0 : totalCharacters / totalPosts,
      medianPostLength: counted.medianPostLength,
      postsPerUser: Object.fromEntries(counted.postsPerUser),
      timeDistribution: {
        night: hours(counted, 0),
        morning: hours(counted, 6),
        afternoon: hours(counted, 12),
        evening: hours(counted, 18),
      },
    },
  };
}

/** Posts created in the six hours that begin with `from`. */
function hours({ postsPerHour }: GetAnalyticsResponse, from: number): number {
  return postsPerHour.slice(from, from + 6).reduce((sum, count) => sum + count, 0);
}
