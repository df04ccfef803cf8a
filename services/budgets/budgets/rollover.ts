import { minorMax } from '../money.ts';
import { type Period, type PeriodKind, periodAt, startOf } from '../periods.ts';
import type { BudgetRow } from '../tables.ts';

const dayMs = 86_400_000;

/** What was spent from a day on, until the next one in a list. The day may be any of its period. */
export interface Spending {
  readonly day: string;
  readonly minor: number;
}

/**
 * What a budget hands on to a period, in minor units: the limit of each period from that of the start date on, less what was
 * spent, either of all of them or, with `positive`, never below zero. `before` has what was spent before the period, in any
 * order.
 */
export function carriedInto(
  { rollover, period: kind, start_date, limit_minor }: BudgetRow,
  period: Period,
  before: readonly Spending[],
): number {
  if (rollover === 'none' || period.from === null) return 0;
  const first = indexOf(kind, start_date);
  const end = indexOf(kind, period.from);
  if (end <= first) return 0;
  const spent = new Map<number, bigint>();
  for (const { day, minor } of before) {
    const index = indexOf(kind, day);
    if (index >= first && index < end) spent.set(index, (spent.get(index) ?? 0n) + BigInt(minor));
  }
  const limit = BigInt(limit_minor);
  let carried = 0n;
  let next = first;
  for (const index of [...spent.keys()].sort((one, other) => one - other)) {
    carried += BigInt(index - next + 1) * limit - (spent.get(index) ?? 0n);
    if (rollover === 'positive' && carried < 0n) carried = 0n;
    next = index + 1;
  }
  return bounded(carried + BigInt(end - next) * limit);
}

/** Counts the periods of a kind. */
function indexOf(kind: PeriodKind, day: string): number {
  const { from } = periodAt(kind, day);
  const [year = 0, month = 1] = (from ?? '0').split('-').map(Number);
  switch (kind) {
    case 'none':
      return 0;
    case 'daily':
      return startOf(day) / dayMs;
    case 'weekly':
      return Math.round((startOf(from ?? day) / dayMs - 4) / 7);
    case 'monthly':
      return year * 12 + month;
    case 'quarterly':
      return year * 4 + Math.ceil(month / 3);
    case 'yearly':
      return year;
  }
}

function bounded(minor: bigint): number {
  const most = BigInt(minorMax);
  return Number(minor > most ? most : minor < -most ? -most : minor);
}
