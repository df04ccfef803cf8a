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

/** Days of a period that are left, today among them, and all its days. Undefined for one without ends, or if today is not in it. */
export function daysOf({ from, to }: Period, today: string): { left: number; all: number } | undefined {
  if (from === null || to === null || today < from || today > to) return undefined;
  const daysUntilEnd = (day: string) => (startOf(to) - startOf(day)) / dayMs + 1;
  return { left: daysUntilEnd(today), all: daysUntilEnd(from) };
}

const recent = new Map<string, Period>();

/**
 * The period of a kind that a day is in. Months, quarters and years begin on `periodDay`, and are named by the month they begin in. Most
 * questions are about the same few days.
 */
export function periodAt(kind: PeriodKind, day: string, periodDay = 1): Period {
  const key = `${kind} ${day} ${periodDay}`;
  const known = recent.get(key);
  if (known) return known;
  if (recent.size >= recentMax) recent.clear();
  const period = findPeriod(kind, day, periodDay);
  recent.set(key, period);
  return period;
}

function findPeriod(kind: PeriodKind, day: string, periodDay: number): Period {
  switch (kind) {
    case 'none':
      return all;
    case 'daily':
      return { name: day, from: day, to: day };
    case 'weekly':
      return weekAt(day);
    case 'monthly':
    case 'quarterly':
    case 'yearly':
      return monthsAt(kind, day, periodDay);
  }
}

const monthsOf = { monthly: 1, quarterly: 3, yearly: 12 } as const;

/** Returns true for kinds that begin on a day of the month. */
export function hasPeriodDay(kind: PeriodKind): kind is keyof typeof monthsOf {
  return kind in monthsOf;
}

function monthsAt(kind: keyof typeof monthsOf, day: string, periodDay: number): Period {
  const [year = 0, month = 1, ofMonth = 1] = day.split('-').map(Number);
  const months = year * 12 + month - (ofMonth < periodDay ? 2 : 1);
  const first = months - (months % monthsOf[kind]);
  const from = dayOfMonths(first, periodDay);
  const to = addDays(dayOfMonths(first + monthsOf[kind], periodDay), -1);
  const named = from.slice(0, 4);
  if (kind === 'yearly') return { name: named, from, to };
  return { name: kind === 'monthly' ? from.slice(0, 7) : `${named}-Q${(first % 12) / 3 + 1}`, from, to };
}

/** A day of a month, which is counted from the year 0. */
function dayOfMonths(months: number, day: number): string {
  const parts = [Math.floor(months / 12), (months % 12) + 1, day];
  return parts.map((part, index) => String(part).padStart(index === 0 ? 4 : 2, '0')).join('-');
}

/** The period with a name, or undefined if a budget of that kind has none with that name. */
export function parsePeriod(kind: PeriodKind, name: string, periodDay = 1): Period | undefined {
  const day = firstDayOf(kind, name, String(periodDay).padStart(2, '0'));
  if (day === undefined || (kind !== 'none' && !isDay(day))) return undefined;
  const period = periodAt(kind, day, periodDay);
  return period.name === name ? period : undefined;
}

function firstDayOf(kind: PeriodKind, name: string, periodDay: string): string | undefined {
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
      return `${name}-${periodDay}`;
    case 'quarterly': {
      const [, year, quarter] = /^(\d{4})-Q([1-4])$/.exec(name) ?? [];
      return year && `${year}-${String(Number(quarter) * 3).padStart(2, '0')}-${periodDay}`;
    }
    case 'yearly':
      return `${name}-01-${periodDay}`;
  }
}

/** The period after this one. */
export function nextPeriod(kind: PeriodKind, { to }: Period, periodDay = 1): Period {
  return to === null ? all : periodAt(kind, addDays(to, 1), periodDay);
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
