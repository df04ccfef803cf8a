import { addDays } from '../money/periods.ts';

/** Schedule of a repetition. Days are `YYYY-MM-DD`, in a time zone. */
export interface Recurrence {
  readonly freq: 'daily' | 'weekly' | 'monthly' | 'yearly';
  /** Number of days, weeks, months or years from one to the next. */
  readonly interval: number;
  /** Daily and weekly: only on these days of the week. */
  readonly byDay: readonly Weekday[] | undefined;
  /** Monthly and yearly: on these days of the month, or on its last day if it is shorter. */
  readonly byMonthDay: readonly number[] | undefined;
  /** Moves days on a weekend to the Friday before or to the Monday after. */
  readonly onWeekend: OnWeekend;
  readonly start: string;
  /** The last day, if there is one. */
  readonly end: string | undefined;
  /** Number of occurrences, if it is limited. */
  readonly count: number | undefined;
  /** The first day on which a changed rule applies; the start by default. */
  readonly since?: string | undefined;
  /** Number of occurrences before that day. */
  readonly made?: number | undefined;
}

export const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'] as const;
export type Weekday = (typeof weekdays)[number];
export const onWeekends = ['same', 'before', 'after'] as const;
export type OnWeekend = (typeof onWeekends)[number];

/** One occurrence. Several in a row can have the same day: they are one expense. */
export interface Occurrence {
  /** The day by the rule, which tells whether it was added. */
  readonly nominal: string;
  /** The day after the move from a weekend. */
  readonly day: string;
}

/** Steps without an occurrence after which there are no more: eight years have a February 29. */
const emptyStepsMax = 3_000;

/** The occurrences whose days are `from` or later, in order. There may be infinitely many. */
export function* occurrences(recurrence: Recurrence, from: string): Generator<Occurrence, void> {
  const { start, end, count, since = start, made = 0 } = recurrence;
  const first = since > start ? since : start;
  let left = (count ?? Number.POSITIVE_INFINITY) - made;
  let last: string | undefined;
  // With a count, those before `from` must be counted too.
  let step = stepBefore(recurrence, count === undefined ? addDays(from, -longestMove) : first);
  for (let empty = 0; empty < emptyStepsMax; step++, empty++) {
    for (const nominal of daysOf(recurrence, step)) {
      if (nominal < first) continue;
      const day = workingDayOf(recurrence, nominal);
      if ((end !== undefined && nominal > end) || (day !== last && left-- <= 0)) return;
      last = day;
      empty = 0;
      if (day >= from) yield { nominal, day };
    }
  }
}

/** The first day from `from` on. */
export function firstFrom(recurrence: Recurrence, from: string): string | undefined {
  return occurrences(recurrence, from).next().value?.day;
}

export function yearBefore(day: string): string {
  return Temporal.PlainDate.from(day).subtract({ years: 1 }).toString();
}

/** Begin of a day in a time zone, in milliseconds since the Unix epoch. */
export function beginOf(day: string, timezone: string): number {
  return Temporal.PlainDate.from(day).toZonedDateTime(timezone).epochMilliseconds;
}

/** The day that it is in a time zone. */
export function dayIn(timezone: string, ms: number): string {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone).toPlainDate().toString();
}

/** Returns true for a time zone that exists, such as `Europe/Berlin`. */
export function isTimezone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(text)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text);
    return true;
  } catch {
    return false;
  }
}

/** The days of one step: of a day, a week (from Monday), a month or a year, counted from that of the start. */
function daysOf({ freq, interval, byDay, byMonthDay, start }: Recurrence, step: number): string[] {
  const first = Temporal.PlainDate.from(start);
  const every = step * interval;
  switch (freq) {
    case 'daily': {
      const day = first.add({ days: every });
      return byDay && !byDay.includes(weekdays[day.dayOfWeek - 1] as Weekday) ? [] : [day.toString()];
    }
    case 'weekly': {
      const monday = first.subtract({ days: first.dayOfWeek - 1 }).add({ weeks: every });
      const days = byDay ? byDay.map((day) => weekdays.indexOf(day)) : [first.dayOfWeek - 1];
      return sorted(days.map((days) => monday.add({ days }).toString()));
    }
    case 'monthly':
      return daysOfMonth(first.with({ day: 1 }).add({ months: every }), byMonthDay ?? [first.day]);
    case 'yearly':
      return daysOfMonth(first.with({ day: 1 }).add({ years: every }), byMonthDay ?? [first.day]);
  }
}

function daysOfMonth(month: Temporal.PlainDate, days: readonly number[]): string[] {
  return sorted(days.map((day) => month.with({ day: Math.min(day, month.daysInMonth) }).toString()));
}

function sorted(days: readonly string[]): string[] {
  return [...new Set(days)].sort();
}

/** Days from a weekend to the working day before or after, at most. */
export const longestMove = 2;

/** The day of a nominal one. A day that would move to before the start moves to the Monday after. */
function workingDayOf({ onWeekend, start }: Recurrence, nominal: string): string {
  if (onWeekend === 'same') return nominal;
  const { dayOfWeek } = Temporal.PlainDate.from(nominal);
  if (dayOfWeek < 6) return nominal;
  const before = addDays(nominal, 5 - dayOfWeek);
  return onWeekend === 'before' && before >= start ? before : addDays(nominal, 8 - dayOfWeek);
}

/** A step that is not after that of a day, and close to it. */
function stepBefore({ freq, interval, start }: Recurrence, day: string): number {
  if (day <= start) return 0;
  const unit = ({ daily: 'days', weekly: 'weeks', monthly: 'months', yearly: 'years' } as const)[freq];
  const passed = Temporal.PlainDate.from(start).until(Temporal.PlainDate.from(day), { largestUnit: unit });
  return Math.max(0, Math.floor(passed[unit] / interval) - 1);
}
