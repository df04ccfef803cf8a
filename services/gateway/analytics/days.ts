import { type Static, Type } from '@octavo/core';
import { postLimits } from '@octavo/protocols/posts/v1/limits';
import type { CountPostsByDayResponse } from '@octavo/protocols/posts/v1/posts';
import { type Html, kept, readerLocale, type Stack, stackedChart } from '@octavo/web/html';

const dayMs = 86_400_000;

export const DaysQuery = Type.Object({
  days: Type.Integer({
    minimum: 1,
    maximum: postLimits.days,
    default: 30,
    description: 'Number of days, today (UTC) included',
  }),
});

export const DailyCounts = Type.Object(
  {
    days: Type.Array(
      Type.Object({
        date: Type.String({ format: 'date', description: 'Day in UTC' }),
        posts: Type.Integer({ description: 'Posts that were created on this day, without deleted ones' }),
        positive: Type.Integer(),
        neutral: Type.Integer(),
        negative: Type.Integer({ description: 'The rest of the posts is not classified yet' }),
      }),
    ),
  },
  {
    title: 'DailyCounts',
    examples: [{ days: [{ date: '2026-03-29', posts: 4, positive: 2, neutral: 1, negative: 1 }] }],
  },
);
export type DailyCounts = Static<typeof DailyCounts>;

/** The counts in the API's shape, the oldest day first. */
export function toDailyCounts({ days }: CountPostsByDayResponse): DailyCounts {
  return {
    days: days.map(({ day, ...counts }) => ({
      date: new Date(day * dayMs).toISOString().slice(0, 10),
      ...counts,
    })),
  };
}

/** Spans that the page offers, by days. Beyond a quarter the columns are weeks. */
export const spans = { 7: '7 days', 30: '30 days', 91: '13 weeks', 364: '52 weeks' } as const;
const dailyMax = 30;
const ticksMax = 5;

/** The span that a query asks for: one of those that the page offers, 30 days by default. */
export function spanOf(query: unknown): number {
  const { days } = query as { days?: unknown };
  return typeof days === 'string' && days in spans ? Number(days) : 30;
}

/** Posts of each day, or of each week, as columns of how they read. */
export function dailyChart({ days }: DailyCounts): Html {
  const daysInColumn = days.length > dailyMax ? 7 : 1;
  const stacks = Array.from({ length: days.length / daysInColumn }, (_, index) =>
    stackOf(days.slice(index * daysInColumn, (index + 1) * daysInColumn)),
  );
  const step = Math.max(1, Math.round(stacks.length / ticksMax));
  return stackedChart({
    caption: `Posts by ${daysInColumn === 1 ? 'day' : 'week'} and sentiment, UTC`,
    head: daysInColumn === 1 ? 'Day' : 'Week',
    parts: [
      { name: 'Negative', tone: 'bad' },
      { name: 'Neutral', tone: 'plain' },
      { name: 'Positive', tone: 'good' },
      { name: 'Not classified', tone: 'faint' },
    ],
    stacks,
    ticks: stacks.map((_, index) => index).filter((index) => (stacks.length - 1 - index) % step === 0),
  });
}

function stackOf(days: DailyCounts['days']): Stack {
  const sum = (name: 'posts' | 'positive' | 'neutral' | 'negative') =>
    days.reduce((total, day) => total + day[name], 0);
  const [negative, neutral, positive] = [sum('negative'), sum('neutral'), sum('positive')];
  const [first, last] = [dayName(days[0]?.date), dayName(days.at(-1)?.date)];
  return {
    label: first === last ? first : `${first} to ${last}`,
    tick: first,
    values: [negative, neutral, positive, Math.max(sum('posts') - negative - neutral - positive, 0)],
  };
}

const dayFormat = kept(
  (locale) => new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
);

function dayName(date = ''): string {
  return dayFormat(readerLocale() ?? 'en-US').format(new Date(date));
}
