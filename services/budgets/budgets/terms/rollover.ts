import { addDays, type PeriodKind, startOf } from '../../money/periods.ts';
import { periodIn, type TermsSpan } from './terms.ts';

const dayMs = 86_400_000;

/** Spending from a day on, until the next one in a list. The day may be any of its period. */
export interface Spending {
  readonly day: string;
  readonly minor: bigint;
}

/**
 * Returns the amount carried over into a period that begins on a day, in minor units: the limit of each period from that of the start
 * date on, less its spending, by the terms that held in each. With `positive` it is never below zero, and with `none` nothing is left
 * to the next one. `before` has the spending before the period, in any order.
 */
export function carriedInto(
  spans: readonly TermsSpan[],
  { start, begin }: { readonly start: string; readonly begin: string },
  before: readonly Spending[],
): bigint {
  const last = addDays(begin, -1);
  return spans.reduce((carried, span) => {
    const first = span.from !== undefined && span.from > start ? span.from : start;
    const end = span.to !== undefined && span.to < last ? span.to : last;
    return first > end ? carried : carriedThrough(span, { carried, first, end }, before);
  }, 0n);
}

/** Carries an amount on from the period of one day to the end of that of another. */
function carriedThrough(
  span: TermsSpan,
  given: { readonly carried: bigint; readonly first: string; readonly end: string },
  before: readonly Spending[],
): bigint {
  const { period: kind, rollover, limit_minor } = span.terms;
  if (rollover === 'none' || kind === 'none') return 0n;
  const indexAt = (day: string) => indexOf(kind, periodIn(span, day).from ?? day);
  const [first, end] = [indexAt(given.first), indexAt(given.end) + 1];
  const spent = new Map<number, bigint>();
  for (const { day, minor } of before) {
    if (day > given.end || (span.from !== undefined && day < span.from)) continue;
    const index = indexAt(day);
    if (index >= first) spent.set(index, (spent.get(index) ?? 0n) + minor);
  }
  const limit = BigInt(limit_minor);
  let { carried } = given;
  let next = first;
  for (const index of [...spent.keys()].sort((one, other) => one - other)) {
    carried += BigInt(index - next + 1) * limit - (spent.get(index) ?? 0n);
    if (rollover === 'positive' && carried < 0n) carried = 0n;
    next = index + 1;
  }
  return carried + BigInt(end - next) * limit;
}

/** Counts the periods of a kind, by their first days. */
function indexOf(kind: Exclude<PeriodKind, 'none'>, from: string): number {
  const [year = 0, month = 1] = from.split('-').map(Number);
  switch (kind) {
    case 'daily':
      return startOf(from) / dayMs;
    case 'weekly':
      return Math.round((startOf(from) / dayMs - 4) / 7);
    case 'monthly':
      return year * 12 + month;
    case 'quarterly':
      return year * 4 + Math.ceil(month / 3);
    case 'yearly':
      return year;
  }
}
