import { isoDay } from '@octavo/core';
import type { Session } from '@octavo/data';
import { decimalText, digitsOf, toExact, toMinor } from '@octavo/documents/values';
import type { AccountTransaction } from '../commands.ts';
import { type Period, periodAt } from '../money/periods.ts';
import { notify } from '../notifications/index.ts';
import { type SummedParts, splitSum, storedSum, totalOf } from '../store/sums.ts';
import type { BudgetRow, Tables } from '../store/tables.ts';
import { type PeriodSpending, thresholdsOf } from './budget.ts';
import { carriedInto } from './rollover.ts';
import {
  addToBudget,
  addToDay,
  addToDays,
  armThreshold,
  reachedThresholds,
  reachThreshold,
  spendingBefore,
  sumBetween,
  sumsBefore,
  sumsNow,
} from './store.ts';

/** An expense that came, went or changed. */
export interface SpendingChange {
  readonly day: string;
  readonly minor: number;
  /** Number of added expenses. */
  readonly expenses: number;
}

/** The first and last day of all time. */
export const allTime = { from: '0000-01-01', to: '9999-12-31' };

/** Adds an amount to the spending of a budget on a day. */
export async function addSpending(
  { session, owner }: AccountTransaction,
  { number: budget }: BudgetRow,
  { day, minor, expenses }: SpendingChange,
): Promise<void> {
  const added = { owner, budget, ...splitSum(BigInt(minor)), expenses };
  await addToBudget.run(session, added);
  await addToDay.run(session, { ...added, day });
}

/** Like {@link addSpending} for many expenses at once, that came (`each` is 1) or went (-1). */
export async function addSpendings(
  { session, owner }: AccountTransaction,
  { number: budget }: BudgetRow,
  spent: readonly { readonly day: string; readonly minor: number }[],
  each: 1 | -1 = 1,
): Promise<void> {
  const sum = (some: typeof spent) => splitSum(some.reduce((all, { minor }) => all + BigInt(minor), 0n));
  await addToBudget.run(session, { owner, budget, ...sum(spent), expenses: each * spent.length });
  const byDay = Map.groupBy(spent, ({ day }) => day);
  const rows = Array.from(byDay, ([day, some]) => {
    const { high, low } = sum(some);
    return [owner, budget, day, high, low, each * some.length];
  });
  await addToDays(session, rows);
}

/** Returns a budget's spending in a period, and the amount carried over into it. */
export async function spendingInPeriod(
  session: Session<Tables>,
  budget: BudgetRow,
  period: Period,
): Promise<PeriodSpending & { readonly expenses: number }> {
  const { owner, number, rollover } = budget;
  const range = { from: period.from ?? allTime.from, to: period.to ?? allTime.to };
  const sum = await sumBetween.first(session, { owner, budget: number, ...range });
  const spent = sum ? totalOf(sum) : 0n;
  const expenses = sum?.expenses ?? 0;
  if (rollover === 'none' || period.from === null) return { spent, expenses, carried: 0n };
  const length = bucketLength(budget);
  const before = await spendingBefore.all(session, { owner, budget: number, before: period.from, length });
  return { spent, expenses, carried: carriedInto(budget, period, before.map(spendingOf)) };
}

/** Returns the spending of several budgets in their periods of a day, by number. The number of statements is always the same. */
export async function spendingOfBudgets(
  session: Session<Tables>,
  rows: readonly BudgetRow[],
  day: string,
): Promise<Map<number, PeriodSpending>> {
  const owner = rows[0]?.owner ?? 0;
  const numbersOf = (some: readonly BudgetRow[]) => some.map(({ number }) => number);
  const periodic = rows.filter(({ period }) => period !== 'none');
  const sums = await sumsNow(session, owner, numbersOf(periodic), day);
  const spent = new Map(sums.map((sum) => [sum.budget, totalOf(sum)]));
  const carrying = periodic.filter(({ rollover }) => rollover !== 'none');
  const before = await sumsBefore(session, owner, numbersOf(carrying), day);
  const spendings = Map.groupBy(before, ({ budget }) => budget);
  return new Map(
    rows.map((row) => {
      const own = (spendings.get(row.number) ?? []).map(spendingOf);
      const carried = carriedInto(row, periodAt(row.period, day), own);
      const now = row.period === 'none' ? spentInAll(row) : (spent.get(row.number) ?? 0n);
      return [row.number, { spent: now, carried }];
    }),
  );
}

/**
 * Notifies of thresholds that are reached now, each once in a period, and arms those again that are not. With rollover, what is
 * spent in an earlier period changes what is available now, so the current one is checked too.
 */
export async function checkThresholds(
  unit: AccountTransaction,
  budget: BudgetRow,
  days: readonly string[],
): Promise<void> {
  const today = isoDay(unit.nowMs);
  const checked = budget.rollover === 'none' ? days : [...days, today];
  const periods = checked.map((day) => periodAt(budget.period, day));
  const byName = new Map(periods.map((period) => [period.name, period]));
  for (const period of byName.values()) await checkPeriod(unit, budget, period);
}

async function checkPeriod(unit: AccountTransaction, budget: BudgetRow, period: Period): Promise<void> {
  const { session, owner } = unit;
  const { spent, carried } = await spendingInPeriod(session, budget, period);
  const available = BigInt(budget.limit_minor) + carried;
  const place = { owner, budget: budget.number, period: period.name };
  const told = new Set((await reachedThresholds.all(session, place)).map(({ threshold }) => threshold));
  for (const threshold of thresholdsOf(budget).sort((one, other) => one - other)) {
    const isReached = spent > 0n && spent * 100n >= BigInt(threshold) * available;
    if (isReached && !told.has(threshold)) {
      await reachThreshold.run(session, { ...place, threshold });
      await notifyOf(unit, budget, { period: period.name, threshold, spent, available });
    } else if (!isReached && told.has(threshold)) {
      await armThreshold.run(session, { ...place, threshold });
    }
  }
}

const months = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

function inWords(period: string): string {
  return /^\d{4}-\d\d$/.test(period) ? months.format(new Date(period)) : period;
}

function written(minor: bigint, currency: string): string {
  const digits = digitsOf(currency);
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return format.format(decimalText(minor, currency) as Intl.StringNumericLiteral);
}

interface Reached {
  readonly period: string;
  readonly threshold: number;
  readonly spent: bigint;
  readonly available: bigint;
}

async function notifyOf(
  unit: AccountTransaction,
  { id: budgetId, name, currency }: BudgetRow,
  { period, threshold, spent, available }: Reached,
): Promise<void> {
  const sums = `${written(spent, currency)} of ${written(available, currency)}`;
  await notify(unit, {
    type: 'budget.threshold',
    title: `${threshold}% of ${name}`,
    message: `You have spent ${sums} for ${name}${period === 'all' ? '' : ` in ${inWords(period)}`}.`,
    data: {
      budgetId,
      period,
      threshold,
      spent: toExact(spent, currency),
      spentMinor: toMinor(spent),
      available: toExact(available, currency),
      availableMinor: toMinor(available),
      currency,
    },
  });
}

function spentInAll({ spent_high: high, spent_minor: low }: BudgetRow): bigint {
  return storedSum({ high, low });
}

function bucketLength({ period }: BudgetRow): number {
  return period === 'daily' || period === 'weekly' ? 10 : 7;
}

function spendingOf({ bucket, ...sum }: SummedParts & { bucket: string }) {
  return { day: bucket.length === 7 ? `${bucket}-01` : bucket, minor: totalOf(sum) };
}
