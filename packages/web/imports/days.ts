import { folded } from './amounts.ts';

export const dayOrders = ['ymd', 'mdy', 'dmy'] as const;
/** The order of year, month and day. */
export type DayOrder = (typeof dayOrders)[number];

/** Years that a year of two digits may be ahead of today. */
const yearsAhead = 20;
/** Languages whose names of months are read. */
const languages = 'en de fr es it pt nl da sv nb pl cs'.split(' ');

const compact = /^(\d{4})(\d\d)(\d\d)(?:\d{2,6})?(?:[T .[].*)?$/;
const numbers =
  /^(\d{1,4})(?:[-/.'\s]|年){1,2}\s*(\d{1,2})(?:[-/.'\s]|月){1,2}\s*(\d{1,4})[.日]?(?:,?[T\s].*)?$/;
const dayAndName = /^(\d{1,2})[-./\s]*\s*([\p{L}]{3,})[-./,'\s]*\s*(\d{4}|\d{2})(?:,?[T\s].*)?$/u;
const nameAndDay = /^([\p{L}]{3,})[-./\s]*\s*(\d{1,2})[-./,'\s]+\s*(\d{4}|\d{2})(?:,?[T\s].*)?$/u;

/** A day as `YYYY-MM-DD`; undefined if the text is none in this order. */
export function readDay(written: string, order: DayOrder, today = new Date()): string | undefined {
  const text = withoutWeekday(written);
  const [, year, month, day] = compact.exec(text) ?? [];
  if (year !== undefined) return dayOf(year, Number(month), Number(day), today);
  const named = dayAndName.exec(text);
  if (named) return dayOf(named[3] ?? '', monthOf(named[2]), Number(named[1]), today);
  const [, name, second, last = ''] = nameAndDay.exec(text) ?? [];
  if (name !== undefined) return dayOf(last, monthOf(name), Number(second), today);
  const [, one = '', two = '', three = ''] = numbers.exec(text) ?? [];
  if (one === '') return undefined;
  // A year of four digits settles where the year is.
  if (one.length === 4) return three.length <= 2 ? dayOf(one, Number(two), Number(three), today) : undefined;
  if (order === 'ymd' ? three.length > 2 : one.length > 2) return undefined;
  if (order === 'ymd') return dayOf(one, Number(two), Number(three), today);
  if (order === 'mdy') return dayOf(three, Number(one), Number(two), today);
  return dayOf(three, Number(two), Number(one), today);
}

/** The orders in which a text is a day. */
export function ordersOf(written: string, today = new Date()): DayOrder[] {
  return dayOrders.filter((order) => readDay(written, order, today) !== undefined);
}

/** The order of days of a locale, such as `dmy` of `en-GB`; undefined for English without a region. */
export function dayOrderOf(locale: string | undefined): DayOrder | undefined {
  if (locale === undefined || new Intl.Locale(locale).baseName === 'en') return undefined;
  const parts = new Intl.DateTimeFormat(locale, { dateStyle: 'short' }).formatToParts(0);
  const order = parts
    .flatMap(({ type }) => (['year', 'month', 'day'].includes(type) ? type[0] : []))
    .join('');
  return dayOrders.find((each) => each === order) ?? 'dmy';
}

function withoutWeekday(written: string): string {
  return written.trim().replace(/^\p{L}{2,10}\.?,\s+(?=\d)/u, '');
}

function dayOf(year: string, month: number, day: number, today: Date): string | undefined {
  const fullYear = yearOf(year, today);
  if (fullYear === undefined) return undefined;
  if (fullYear < 1000 || fullYear > 2999 || day < 1 || day > daysIn(fullYear, month)) return undefined;
  return `${fullYear}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** 0 for a month that does not exist. */
function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
}

/** The year nearest to today that two digits may mean. */
function yearOf(text: string, today: Date): number | undefined {
  if (text.length === 4) return Number(text);
  if (text.length > 2) return undefined;
  const now = today.getUTCFullYear();
  const near = Math.floor(now / 100) * 100 + Number(text);
  if (near > now + yearsAhead) return near - 100;
  return near < now + yearsAhead - 99 ? near + 100 : near;
}

let months: Map<string, number> | undefined;

function monthOf(name = ''): number {
  months ??= namesOfMonths();
  const month = folded(name);
  return months.get(month) ?? months.get(month.slice(0, 3)) ?? 0;
}

function namesOfMonths(): Map<string, number> {
  const found = new Map<string, number>();
  for (const language of languages) {
    for (const style of ['long', 'short'] as const) {
      for (const day of [undefined, 'numeric'] as const) {
        const format = new Intl.DateTimeFormat(language, { month: style, day, timeZone: 'UTC' });
        for (let month = 0; month < 12; month++) {
          const parts = format.formatToParts(Date.UTC(2026, month, 1));
          const name = folded(parts.find(({ type }) => type === 'month')?.value ?? '');
          if (name.length >= 3 && !found.has(name)) found.set(name, month + 1);
        }
      }
    }
  }
  return found;
}
