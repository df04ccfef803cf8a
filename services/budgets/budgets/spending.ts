import { isoDay } from '@octavo/core';
import type { Session } from '@octavo/data';
import { decimalText, digitsOf, toExact, toMinor } from '@octavo/documents/values';
import type { AccountTransaction } from '../commands.ts';
import { type Period, periodAt } from '../money/periods.ts';
import { notify, thresholdText } from '../notifications/index.ts';
import { type SummedParts, splitSum, storedSum, totalOf } from '../store/sums.ts';
import type { BudgetRow, Tables } from '../store/tables.ts';
import { type PeriodSpending, thresholdsOf } from './budget.ts';
import {
  addToBudget,
  addToDay,
  addToDays,
  armThreshold,
  budgetByNumber,
  reachedThresholds,
  reachThreshold,
  sumBetween,
} from './store.ts';
import { Rollover } from './terms/rollover.ts';
import { ownersOf, pastTermsOf, sumsBefore, sumsOfDays } from './terms/store.ts';
import { periodOn, spansOf, type TermsPeriod, type TermsSpan } from './terms/terms.ts';

/** An expense that came, went or changed. */
export interface SpendingChange {
  readonly day: string;
  readonly minor: number;
  /** Number of added expenses. */
  readonly expenses: number;
}

/** The days of all time. */
export const allTime = { from: '0000-01-01', to: '9999-12-31' };

/** Adds an amount to the spending of a budget on a day. */
export async function addSpending(
  { session, owner }: AccountTransaction,
  { number: budget }: BudgetRow,
  { day, minor, expenses }: SpendingChange,
): Promise<void> {
  const added = { owner, budget, ...splitSum(BigInt(minor)), expenses };
  await Promise.all([addToBudget.run(session, added), addToDay.run(session, { ...added, day })]);
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

/** A budget in one of its periods, and all its terms as far as the period depends on them. */
export interface PlacedBudget extends TermsPeriod {
  readonly budget: BudgetRow;
  readonly spans: readonly TermsSpan[];
}

/** The terms of a budget in the order of time. */
export async function termsOf(session: Session<Tables>, budget: BudgetRow): Promise<TermsSpan[]> {
  return spansOf(budget, await pastTermsOf(session, [budget.owner], [budget.number]));
}

/** The periods of budgets that today is in. Past terms are read only of those that carry amounts over. */
export async function currentPeriods(
  session: Session<Tables>,
  rows: readonly BudgetRow[],
  today: string,
): Promise<PlacedBudget[]> {
  const carrying = rows.filter(({ rollover }) => rollover !== 'none');
  const spans = await spansOfMany(session, carrying);
  return rows.map((budget) => {
    const own = spans.get(budget.number) ?? spansOf(budget, []);
    return { budget, spans: own, ...periodOn(own, today) };
  });
}

/** The terms of several budgets, by number. */
export async function spansOfMany(
  session: Session<Tables>,
  rows: readonly BudgetRow[],
): Promise<Map<number, TermsSpan[]>> {
  const numbers = rows.map(({ number }) => number);
  const past = Map.groupBy(await pastTermsOf(session, ownersOf(rows), numbers), ({ budget }) => budget);
  return new Map(rows.map((row) => [row.number, spansOf(row, past.get(row.number) ?? [])]));
}

/** Returns a budget's spending in a period, and the amount carried over into it. */
export async function spendingInPeriod(
  session: Session<Tables>,
  placed: PlacedBudget,
): Promise<PeriodSpending & { readonly expenses: number }> {
  const { owner, number } = placed.budget;
  if (placed.period.from === null) {
    const row = (await budgetByNumber.first(session, { owner, number })) ?? placed.budget;
    return { spent: spentInAll(row), expenses: row.expenses, carried: 0n };
  }
  const sum = await sumBetween.first(session, { owner, budget: number, ...rangeOf(placed.period) });
  const carried = (await carriedAmounts(session, [placed])).get(number) ?? 0n;
  return { spent: sum ? totalOf(sum) : 0n, expenses: sum?.expenses ?? 0, carried };
}

/** Returns the spending of several budgets in their periods, by number. The number of statements does not grow with them. */
export async function spendingOfBudgets(
  session: Session<Tables>,
  placed: readonly PlacedBudget[],
): Promise<Map<number, PeriodSpending>> {
  const periodic = placed.filter(({ period }) => period.from !== null);
  const ranges = periodic.map(({ budget, period }) => ({
    owner: budget.owner,
    budget: budget.number,
    ...rangeOf(period),
  }));
  const sums = await sumsOfDays(session, ranges);
  const spent = new Map(sums.map((sum) => [sum.budget, totalOf(sum)]));
  const carried = await carriedAmounts(session, periodic);
  return new Map(
    placed.map(({ budget, period }) => {
      const now = period.from === null ? spentInAll(budget) : (spent.get(budget.number) ?? 0n);
      return [budget.number, { spent: now, carried: carried.get(budget.number) ?? 0n }];
    }),
  );
}

/** Amounts carried over into periods of budgets, by number. */
async function carriedAmounts(
  session: Session<Tables>,
  placed: readonly PlacedBudget[],
): Promise<Map<number, bigint>> {
  const carrying = placed.filter(({ terms, period }) => terms.rollover !== 'none' && period.from !== null);
  const begins = new Map(carrying.map(({ budget, period }) => [budget.number, period.from ?? '']));
  const rollovers = new Map(
    carrying.map(({ budget, spans }) => [budget.number, new Rollover(spans, budget.start_date)]),
  );
  const before = [...begins.values()].sort().at(-1) ?? '';
  for (const [length, some] of Map.groupBy(carrying, ({ spans }) => bucketLength(spans))) {
    const budgets = some.map(({ budget }) => budget);
    for await (const sums of sumsBefore(session, { budgets, before, length }))
      for (const sum of sums) {
        const spending = spendingOf(sum);
        if (spending.day < (begins.get(sum.budget) ?? '')) rollovers.get(sum.budget)?.add(spending);
      }
  }
  return new Map(Array.from(begins, ([number, begin]) => [number, rollovers.get(number)?.into(begin) ?? 0n]));
}

/**
 * Notifies of thresholds that are reached now, each once in a period, and arms those again that are not. With rollover, what is
 * spent in an earlier period changes what is available now, so the current one is checked too.
 */
export async function checkThresholds(
  transaction: AccountTransaction,
  budget: BudgetRow,
  days: readonly string[],
  { isBulk = false }: ThresholdCheck = {},
): Promise<void> {
  if (budget.unassigned !== 0) return;
  const today = isoDay(transaction.nowMs);
  const checked = budget.rollover === 'none' ? days : [...days, today];
  const now = periodAt(budget.period, today, budget.period_day).from ?? '';
  const needsPast = budget.rollover !== 'none' || checked.some((day) => day < now);
  const spans = needsPast ? await termsOf(transaction.session, budget) : spansOf(budget, []);
  const periods = checked.map((day) => periodOn(spans, day));
  const byBegin = new Map(periods.map((found) => [found.period.from, found]));
  for (const found of byBegin.values()) {
    const isOver = found.period.to !== null && found.period.to < today;
    const told = !isBulk ? 'each' : isOver ? 'none' : 'highest';
    await checkPeriod(transaction, { budget, spans, ...found }, told);
  }
}

interface ThresholdCheck {
  /** True after a change of many expenses: only the highest threshold is told, and none of a period that is over. */
  readonly isBulk?: boolean;
}

async function checkPeriod(
  transaction: AccountTransaction,
  placed: PlacedBudget,
  tellOf: 'each' | 'highest' | 'none',
): Promise<void> {
  const { budget, terms, period } = placed;
  const { session, owner } = transaction;
  const place = { owner, budget: budget.number, period: period.name };
  const [{ spent, carried }, reached] = await Promise.all([
    spendingInPeriod(session, placed),
    reachedThresholds.all(session, place),
  ]);
  const available = BigInt(terms.limit_minor) + carried;
  const told = new Set(reached.map(({ threshold }) => threshold));
  const isReachedAt = (threshold: number) => spent > 0n && spent * 100n >= BigInt(threshold) * available;
  const thresholds = thresholdsOf(budget).sort((one, other) => one - other);
  const highest = thresholds.findLast(isReachedAt);
  for (const threshold of thresholds) {
    const isReached = isReachedAt(threshold);
    if (isReached && !told.has(threshold)) {
      await reachThreshold.run(session, { ...place, threshold });
      if (tellOf === 'each' || (tellOf === 'highest' && threshold === highest))
        await notifyOf(transaction, budget, { period: period.name, threshold, spent, available });
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
  transaction: AccountTransaction,
  budget: BudgetRow,
  { period, threshold, spent, available }: Reached,
): Promise<void> {
  const { id: budgetId, name, currency } = budget;
  const formats = { money: (minor: bigint) => written(minor, currency), period: inWords };
  const news = {
    type: 'budget.threshold' as const,
    ...thresholdText({ name, period, spent, available }, formats),
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
  };
  await notify(transaction, news, budget);
}

function spentInAll({ spent_high: high, spent_minor: low }: BudgetRow): bigint {
  return storedSum({ high, low });
}

/** Months are summed whole where no period begins within one. */
function bucketLength(spans: readonly TermsSpan[]): number {
  const isWhole = spans.every(
    ({ terms: { period, period_day } }) => period_day === 1 && period !== 'daily' && period !== 'weekly',
  );
  return isWhole ? 7 : 10;
}

/** The first and last day of a period. */
export function rangeOf({ from, to }: Period): { from: string; to: string } {
  return { from: from ?? allTime.from, to: to ?? allTime.to };
}

/** A row of a sum by day or month. */
export function spendingOf({ bucket, ...sum }: SummedParts & { bucket: string }) {
  return { day: bucket.length === 7 ? `${bucket}-01` : bucket, minor: totalOf(sum) };
}
