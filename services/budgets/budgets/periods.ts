import { AppError, isoDay } from '@octavo/core';
import type { RawJson } from '@octavo/core/text';
import { toExact, toMajor, toMinor } from '@octavo/documents/values';
import type { Caller, Context } from '../commands.ts';
import { addDays, type Period } from '../money/periods.ts';
import { largestCategories } from '../store/categories.ts';
import { readableBudget } from './access/access.ts';
import type { BudgetPeriod, BudgetSummary, PeriodSpending } from './budget.ts';
import { periodExample } from './past-terms.ts';
import {
  allTime,
  type PlacedBudget,
  rangeOf,
  spansOfMany,
  spendingInPeriod,
  spendingOf,
  spendingOfBudgets,
  termsOf,
} from './spending.ts';
import { budgetsPage, sumByCategory } from './store.ts';
import { Rollover, type Spending } from './terms/rollover.ts';
import { sumsBefore } from './terms/store.ts';
import { periodNamed, periodOn, type TermsPeriod } from './terms/terms.ts';

/** A budget and its expenses in one period, by its name or one of its days; the current one by default. */
export async function getBudgetSummary(
  { db, clock }: Context,
  caller: Caller,
  id: string,
  {
    period,
    day = isoDay(clock.now()),
  }: { readonly period?: string | undefined; readonly day?: string | undefined } = {},
): Promise<BudgetSummary> {
  return db.read(async (session) => {
    const budget = await readableBudget(session, caller.owner, id);
    const { owner } = budget;
    const spans = await termsOf(session, budget);
    const found = period === undefined ? periodOn(spans, day) : periodNamed(spans, period);
    if (!found) {
      const problem = periodExample(budget, isoDay(clock.now()));
      throw new AppError('invalid_input', `period ${problem}`, { fields: { period: problem } });
    }
    const placed: PlacedBudget = { budget, spans, ...found };
    const { expenses, ...spending } = await spendingInPeriod(session, placed);
    const range = rangeOf(found.period);
    const categories = await sumByCategory(
      { database: db, session, touched: expenses },
      { owner, budget: budget.number, ...range },
    );
    const { currency } = budget;
    return {
      budgetId: id,
      currency,
      ...standingOf(found, spending, currency),
      expenses,
      byCategory: largestCategories(categories).map(({ category, total }) => ({
        category,
        amount: toExact(total, currency),
        amountMinor: toMinor(total),
      })),
    };
  });
}

/** The current period of a budget and those before it, oldest first, each by the terms that held in it. */
export async function getBudgetHistory(
  { db, clock }: Context,
  caller: Caller,
  id: string,
  periods: number,
): Promise<BudgetPeriod[]> {
  return db.read(async (session) => {
    const budget = await readableBudget(session, caller.owner, id);
    const spans = await termsOf(session, budget);
    const found = [periodOn(spans, isoDay(clock.now()))];
    while (found.length < periods) {
      const begin = found[0]?.period.from ?? null;
      if (begin === null || begin <= oldestDay) break;
      found.unshift(periodOn(spans, addDays(begin, -1)));
    }
    const before = addDays(found.at(-1)?.period.to ?? latestDay, 1);
    const sums: Spending[] = [];
    for await (const slice of sumsBefore(session, { budgets: [budget], before, length: 10 }))
      for (const sum of slice) sums.push(spendingOf(sum));
    const rollover = new Rollover(spans, budget.start_date);
    let next = 0;
    return found.map((each) => {
      const { from, to } = each.period;
      for (let sum = sums[next]; sum && sum.day < (from ?? ''); sum = sums[++next]) rollover.add(sum);
      let spent = 0n;
      for (let at = next, sum = sums[at]; sum && sum.day <= (to ?? allTime.to); sum = sums[++at])
        spent += sum.minor;
      const carried = from === null || each.terms.rollover === 'none' ? 0n : rollover.into(from);
      return standingOf(each, { spent, carried }, budget.currency);
    });
  });
}

/** A budget in one of its periods, in minor units. */
export interface BudgetStanding {
  readonly id: string;
  readonly name: string;
  readonly currency: string;
  readonly period: Period;
  readonly spent: bigint;
  readonly available: bigint;
}

const standingsMax = 500;

/**
 * The caller's own budgets, newest first: each in its current period if the days of a range are not over, else in the last one that ended
 * in them, or in the one of their last day.
 */
export async function listStandings(
  { db }: Context,
  { owner }: Caller,
  { from, to, today }: { readonly from: string; readonly to: string; readonly today: string },
): Promise<BudgetStanding[]> {
  return db.read(async (session) => {
    const rows = await budgetsPage.all(session, {
      owner,
      before: Number.MAX_SAFE_INTEGER,
      limit: standingsMax,
    });
    const spans = await spansOfMany(session, rows);
    const placed = rows.map((budget) => {
      const own = spans.get(budget.number) ?? [];
      const last = periodOn(own, to < today ? to : today);
      const begin = last.period.from ?? from;
      const goesOn = to < today && (last.period.to ?? to) > to && begin > from;
      return { budget, spans: own, ...(goesOn ? periodOn(own, addDays(begin, -1)) : last) };
    });
    const standings = await spendingOfBudgets(session, placed);
    return placed.map(({ budget: { number, id, name, currency }, terms, period }) => {
      const { spent = 0n, carried = 0n } = standings.get(number) ?? {};
      return { id, name, currency, period, spent, available: BigInt(terms.limit_minor) + carried };
    });
  });
}

const oldestDay = '1000-01-31';
const latestDay = '2999-12-31';

function standingOf({ terms, period }: TermsPeriod, { spent, carried }: PeriodSpending, currency: string) {
  const limit = terms.limit_minor;
  const available = BigInt(limit) + carried;
  const sums = { carried, available, spent, remaining: available - spent };
  return {
    period: period.name,
    from: period.from,
    to: period.to,
    limit: toMajor(limit, currency),
    limitMinor: limit,
    ...inBothUnits(sums, currency),
  };
}

/** Each sum as a number, and under its name with `Minor` in minor units. */
function inBothUnits<K extends string>(sums: Readonly<Record<K, bigint>>, currency: string) {
  const entries = Object.entries(sums) as [K, bigint][];
  return Object.fromEntries(
    entries.flatMap(([name, minor]) => [
      [name, toExact(minor, currency)],
      [`${name}Minor`, toMinor(minor)],
    ]),
  ) as Record<K, number | RawJson> & Record<`${K}Minor`, number | bigint>;
}
