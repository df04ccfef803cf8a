import { isoDay } from '@octavo/core';

/** Lengths of a budget's period. */
export const periodKinds = ['none', 'daily', 'weekly', 'monthly', 'quarterly', 'yearly'] as const;
export type PeriodKind = (typeof periodKinds)[number];

/** A period by its name, with its first and last day (`YYYY-MM-DD`). The one of `none` has no ends. */
export interface Period {
  readonly name: string;
  readonly from: string | null;
  readonly to: string | null;
}

export const all: Period = { name: 'all', from: null, to: null };

const dayMs = 86_400_000;
const recentMax = 1_000;
/** Returns true for a day that exists, from the year 1000 to 2999. */
export function isDay(text: string): boolean {
  return /^[12]\d{3}-\d\d-\d\d$/.test(text) && isSame(text);
}

function isSame(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && isoDay(date.getTime()) === text;
}

/** A day some days later, or earlier. */
export function addDays(day: string, days: number): string {
  return isoDay(startOf(day) + days * dayMs);
}

/** Midnight UTC of a day. */
export function startOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

const recent = new Map<string, Period>();

/** The period of a kind that a day is in. Most questions are about the same few days. */
export function periodAt(kind: PeriodKind, day: string): Period {
  const key = `${kind} ${day}`;
  const known = recent.get(key);
  if (known) return known;
  if (recent.size >= recentMax) recent.clear();
  const period = findPeriod(kind, day);
  recent.set(key, period);
  return period;
}

function findPeriod(kind: PeriodKind, day: string): Period {
  const [year = '', month = ''] = day.split('-');
  switch (kind) {
    case 'none':
      return all;
    case 'daily':
      return { name: day, from: day, to: day };
    case 'weekly':
      return weekAt(day);
    case 'monthly':
      return { name: `${year}-${month}`, from: `${year}-${month}-01`, to: lastDayOf(year, month) };
    case 'quarterly': {
      const quarter = Math.ceil(Number(month) / 3);
      const [first, last] = [quarter * 3 - 2, quarter * 3].map((number) => String(number).padStart(2, '0'));
      return {
        name: `${year}-Q${quarter}`,
        from: `${year}-${first}-01`,
        to: lastDayOf(year, last as string),
      };
    }
    case 'yearly':
      return { name: year, from: `${year}-01-01`, to: `${year}-12-31` };
  }
}

/** The period with a name, or undefined if a budget of that kind has none with that name. */
export function parsePeriod(kind: PeriodKind, name: string): Period | undefined {
  const day = firstDayOf(kind, name);
  if (day === undefined || (kind !== 'none' && !isDay(day))) return undefined;
  const period = periodAt(kind, day);
  return period.name === name ? period : undefined;
}

function firstDayOf(kind: PeriodKind, name: string): string | undefined {
  switch (kind) {
    case 'none':
      return name === all.name ? '' : undefined;
    case 'daily':
      return name;
    case 'weekly': {
      const [, year, week] = /^([1-9]\d{3})-W(\d\d)$/.exec(name) ?? [];
      return year && week ? addDays(firstMonday(Number(year)), (Number(week) - 1) * 7) : undefined;
    }
    case 'monthly':
      return `${name}-01`;
    case 'quarterly': {
      const [, year, quarter] = /^(\d{4})-Q([1-4])$/.exec(name) ?? [];
      return year && `${year}-${String(Number(quarter) * 3).padStart(2, '0')}-01`;
    }
    case 'yearly':
      return `${name}-01-01`;
  }
}

/** The period after this one. */
export function nextPeriod(kind: PeriodKind, { to }: Period): Period {
  return to === null ? all : periodAt(kind, addDays(to, 1));
}

/** The week by ISO 8601: from Monday to Sunday, in the year of its Thursday. */
function weekAt(day: string): Period {
  const weekday = (new Date(startOf(day)).getUTCDay() + 6) % 7;
  const from = addDays(day, -weekday);
  const year = Number(addDays(from, 3).slice(0, 4));
  const number = Math.round((startOf(from) - startOf(firstMonday(year))) / (7 * dayMs)) + 1;
  return { name: `${year}-W${String(number).padStart(2, '0')}`, from, to: addDays(from, 6) };
}

/** The Monday of the first week of a year, which is the one with January 4. */
function firstMonday(year: number): string {
  const fourth = `${year}-01-04`;
  return addDays(fourth, -((new Date(startOf(fourth)).getUTCDay() + 6) % 7));
}

function lastDayOf(year: string, month: string): string {
  return isoDay(Date.UTC(Number(year), Number(month), 0));
}
