import { type Period, type PeriodKind, periodAt, startOf } from '../money/periods.ts';
import type { BudgetRow } from '../store/tables.ts';

const dayMs = 86_400_000;

/** Spending from a day on, until the next one in a list. The day may be any of its period. */
export interface Spending {
  readonly day: string;
  readonly minor: bigint;
}

/**
 * Returns the amount carried over into a period, in minor units: the limit of each period from that of the start date on, less
 * its spending, either of all of them or, with `positive`, never below zero. `before` has the spending before the period, in
 * any order.
 */
export function carriedInto(
  { rollover, period: kind, start_date, limit_minor }: BudgetRow,
  period: Period,
  before: readonly Spending[],
): bigint {
  if (rollover === 'none' || period.from === null) return 0n;
  const first = indexOf(kind, start_date);
  const end = indexOf(kind, period.from);
  if (end <= first) return 0n;
  const spent = new Map<number, bigint>();
  for (const { day, minor } of before) {
    const index = indexOf(kind, day);
    if (index >= first && index < end) spent.set(index, (spent.get(index) ?? 0n) + minor);
  }
  const limit = BigInt(limit_minor);
  let carried = 0n;
  let next = first;
  for (const index of [...spent.keys()].sort((one, other) => one - other)) {
    carried += BigInt(index - next + 1) * limit - (spent.get(index) ?? 0n);
    if (rollover === 'positive' && carried < 0n) carried = 0n;
    next = index + 1;
  }
  return carried + BigInt(end - next) * limit;
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
