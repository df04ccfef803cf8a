import type { Session } from '#kit/db/index.ts';
import type { AppError } from '#kit/errors.ts';
import { isoDay } from '#kit/iso-time.ts';
import { invalid } from '#kit/schema-parser.ts';
import type { UnitOfWork } from '../commands.ts';
import { decimalText, toMajor } from '../money.ts';
import { notify } from '../notifications/index.ts';
import { type Period, periodAt } from '../periods.ts';
import type { BudgetRow, Tables } from '../tables.ts';
import { type Standing, thresholdsOf } from './budget.ts';
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
  /** How many expenses more there are. */
  readonly expenses: number;
}

/** The first and last day of all time. */
export const allTime = { from: '0000-01-01', to: '9999-12-31' };

/** Adds to what was spent from a budget on a day. Throws `validation_failed` if the sum would no longer be exact. */
export async function addSpending(
  { session, owner }: UnitOfWork,
  { number: budget }: BudgetRow,
  { day, minor, expenses }: SpendingChange,
): Promise<void> {
  const added = { owner, budget, minor, expenses };
  const { changes } = await addToBudget.run(session, { ...added, max: Number.MAX_SAFE_INTEGER });
  if (changes === 0) throw tooMuch();
  await addToDay.run(session, { ...added, day });
}

/** Like {@link addSpending} for many new expenses at once. */
export async function addSpendings(
  { session, owner }: UnitOfWork,
  { number: budget }: BudgetRow,
  spent: readonly { readonly day: string; readonly minor: number }[],
): Promise<void> {
  const sum = spent.reduce((all, { minor }) => all + BigInt(minor), 0n);
  if (sum > BigInt(Number.MAX_SAFE_INTEGER)) throw tooMuch();
  const added = { owner, budget, minor: Number(sum), expenses: spent.length };
  const { changes } = await addToBudget.run(session, { ...added, max: Number.MAX_SAFE_INTEGER });
  if (changes === 0) throw tooMuch();
  const byDay = Map.groupBy(spent, ({ day }) => day);
  const rows = Array.from(byDay, ([day, some]) => {
    return [owner, budget, day, some.reduce((all, { minor }) => all + minor, 0), some.length];
  });
  await addToDays.run(session, { rows: JSON.stringify(rows) });
}

/** What a budget spent in a period, and what was carried over into it. */
export async function standingIn(
  session: Session<Tables>,
  budget: BudgetRow,
  period: Period,
): Promise<Standing & { readonly expenses: number }> {
  const { owner, number, rollover } = budget;
  const range = { from: period.from ?? allTime.from, to: period.to ?? allTime.to };
  const sum = await sumBetween.first(session, { owner, budget: number, ...range });
  const { minor: spent = 0, expenses = 0 } = sum ?? {};
  if (rollover === 'none' || period.from === null) return { spent, expenses, carried: 0 };
  const length = bucketLength(budget);
  const before = await spendingBefore.all(session, { owner, budget: number, before: period.from, length });
  return { spent, expenses, carried: carriedInto(budget, period, before.map(spendingOf)) };
}

/** How each of several budgets stands on a day, by its number. The number of statements is always the same. */
export async function standingsOf(
  session: Session<Tables>,
  rows: readonly BudgetRow[],
  day: string,
): Promise<Map<number, Standing>> {
  const owner = rows[0]?.owner ?? 0;
  const numbersOf = (some: readonly BudgetRow[]) => some.map(({ number }) => number);
  const periodic = rows.filter(({ period }) => period !== 'none');
  const sums = await sumsNow(session, owner, numbersOf(periodic), day);
  const spent = new Map(sums.map(({ budget, minor }) => [budget, minor]));
  const carrying = periodic.filter(({ rollover }) => rollover !== 'none');
  const before = await sumsBefore(session, owner, numbersOf(carrying), day);
  const spendings = Map.groupBy(before, ({ budget }) => budget);
  return new Map(
    rows.map((row) => {
      const own = (spendings.get(row.number) ?? []).map(spendingOf);
      const carried = carriedInto(row, periodAt(row.period, day), own);
      const now = row.period === 'none' ? row.spent_minor : (spent.get(row.number) ?? 0);
      return [row.number, { spent: now, carried }];
    }),
  );
}

/**
 * Notifies of thresholds that are reached now, each once in a period, and arms those again that are not. With rollover, what is
 * spent in an earlier period changes what is available now, so the current one is checked too.
 */
export async function checkThresholds(
  unit: UnitOfWork,
  budget: BudgetRow,
  days: readonly string[],
): Promise<void> {
  const today = isoDay(unit.nowMs);
  const checked = budget.rollover === 'none' ? days : [...days, today];
  const periods = checked.map((day) => periodAt(budget.period, day));
  const byName = new Map(periods.map((period) => [period.name, period]));
  for (const period of byName.values()) await checkPeriod(unit, budget, period);
}

async function checkPeriod(unit: UnitOfWork, budget: BudgetRow, period: Period): Promise<void> {
  const { session, owner } = unit;
  const { spent, carried } = await standingIn(session, budget, period);
  const available = budget.limit_minor + carried;
  const place = { owner, budget: budget.number, period: period.name };
  const told = new Set((await reachedThresholds.all(session, place)).map(({ threshold }) => threshold));
  for (const threshold of thresholdsOf(budget).sort((one, other) => one - other)) {
    const isReached = spent > 0 && BigInt(spent) * 100n >= BigInt(threshold) * BigInt(available);
    if (isReached && !told.has(threshold)) {
      await reachThreshold.run(session, { ...place, threshold });
      await notifyOf(unit, budget, { period: period.name, threshold, spent, available });
    } else if (!isReached && told.has(threshold)) {
      await armThreshold.run(session, { ...place, threshold });
    }
  }
}

interface Reached {
  readonly period: string;
  readonly threshold: number;
  readonly spent: number;
  readonly available: number;
}

async function notifyOf(
  unit: UnitOfWork,
  { id: budgetId, name, currency }: BudgetRow,
  { period, threshold, spent, available }: Reached,
): Promise<void> {
  const sums = `${decimalText(spent, currency)} of ${decimalText(available, currency)} ${currency}`;
  await notify(unit, {
    type: 'budget.threshold',
    title: `${threshold}% of ${name}`,
    message: `You have spent ${sums} of ${name}${period === 'all' ? '' : ` in ${period}`}.`,
    data: {
      budgetId,
      period,
      threshold,
      spent: toMajor(spent, currency),
      spentMinor: spent,
      available: toMajor(available, currency),
      availableMinor: available,
      currency,
    },
  });
}

function tooMuch(): AppError {
  return invalid({ amount: 'makes the sum of all expenses of the budget too large' });
}

function bucketLength({ period }: BudgetRow): number {
  return period === 'daily' || period === 'weekly' ? 10 : 7;
}

function spendingOf({ bucket, minor }: { bucket: string; minor: number }) {
  return { day: bucket.length === 7 ? `${bucket}-01` : bucket, minor };
}
