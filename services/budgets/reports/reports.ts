import type { Database, ScanPlace } from '@octavo/data';
import { divideHalfEven, toExact, toMajor, toMinor } from '@octavo/documents/values';
import { numberedScope } from '../budgets/index.ts';
import type { Caller, Context } from '../commands.ts';
import { countAllExpenses } from '../expenses/index.ts';
import { incomesByMonth } from '../ledger/index.ts';
import { largestCategories, usualSpellings } from '../store/categories.ts';
import { totalOf } from '../store/sums.ts';
import type { Tables } from '../store/tables.ts';
import type {
  CashFlowRow,
  CategoryRow,
  MonthRow,
  ReportFilter,
  ReportRange,
  TopRow,
  TrendRow,
} from './report.ts';
import { firstDay, largest, lastDay, sumsByCategory, sumsByMonth } from './store.ts';

const topMax = 10;

/** Reports the spending of each category, largest first, by currency. */
export async function reportByCategory(
  { db }: Context,
  { owner }: Caller,
  range: ReportRange,
): Promise<CategoryRow[]> {
  const rows = await sumsByCategory(...(await selectionOf(db, owner, range)));
  const spellings = usualSpellings(rows);
  const byCurrency = Map.groupBy(rows, ({ currency }) => currency);
  return [...byCurrency].flatMap(([currency, same]) =>
    largestCategories(same, spellings).map(({ category, total, expenses }) => ({
      category,
      ...sumOf(total, currency),
      expenses,
    })),
  );
}

/** Reports the spending of each month that has expenses, by currency. */
export async function reportByMonth(
  { db }: Context,
  { owner }: Caller,
  range: ReportRange,
): Promise<MonthRow[]> {
  const rows = await sumsByMonth(...(await selectionOf(db, owner, range)));
  return rows.map(({ month, currency, expenses, ...sum }) => ({
    month,
    ...sumOf(totalOf(sum), currency),
    expenses,
  }));
}

/** Reports the change of each month from the one before, by currency. Months without expenses in between are included. */
export async function reportTrend(
  { db }: Context,
  { owner }: Caller,
  range: ReportRange,
): Promise<TrendRow[]> {
  const rows = await sumsByMonth(...(await selectionOf(db, owner, range)));
  const byCurrency = Map.groupBy(rows, ({ currency }) => currency);
  return Array.from(byCurrency, ([currency, months]) =>
    trendOf(
      currency,
      months.map(({ month, ...sum }) => ({ month, minor: totalOf(sum) })),
    ),
  ).flat();
}

/** The ten largest expenses of each currency. */
export async function reportTop({ db }: Context, { owner }: Caller, range: ReportRange): Promise<TopRow[]> {
  const [place, account, filter] = await selectionOf(db, owner, range);
  const rows = await largest(place, account, { ...filter, limit: topMax });
  return rows.map(({ minor, currency, ...row }) => ({
    ...row,
    currency,
    amount: toMajor(minor, currency),
    amountMinor: minor,
  }));
}

/** Reports the income and the expense of each month, by currency. Incomes belong to no budget. */
export async function reportCashFlow(
  { db }: Context,
  { owner }: Caller,
  range: ReportRange,
): Promise<CashFlowRow[]> {
  const selection = await selectionOf(db, owner, range);
  const { from = firstDay, to = lastDay } = range;
  const spent = await sumsByMonth(...selection);
  const earned = range.budgetId === undefined ? await incomesByMonth(db, owner, { from, to }) : [];
  const keyOf = ({ month, currency }: { month: string; currency: string }) => `${currency} ${month}`;
  const incomes = new Map(earned.map((row) => [keyOf(row), totalOf(row)]));
  const expenses = new Map(spent.map((row) => [keyOf(row), totalOf(row)]));
  return [...new Set([...incomes.keys(), ...expenses.keys()])].sort().map((key) => {
    const [currency = '', month = ''] = key.split(' ');
    const [income, expense] = [incomes.get(key) ?? 0n, expenses.get(key) ?? 0n];
    const net = income - expense;
    return {
      month,
      currency,
      income: toExact(income, currency),
      incomeMinor: toMinor(income),
      expense: toExact(expense, currency),
      expenseMinor: toMinor(expense),
      net: toExact(net, currency),
      netMinor: toMinor(net),
    };
  });
}

/**
 * The expenses of a report: where they are read, whose they are, and their filter. They are the account's own, or those of a budget that
 * is shared with it. Throws `not_found` for any other budget.
 */
export async function selectionOf(
  database: Database<Tables>,
  account: number,
  { budgetId, ...range }: ReportRange,
): Promise<[place: ScanPlace<Tables>, owner: number, filter: ReportFilter]> {
  const { owner, budgets } = await numberedScope(database, account, budgetId);
  // Reports touch each expense of an account at most once.
  const counted = await countAllExpenses.first(database, { owner });
  const place = { database, session: database, touched: counted?.total ?? 0 };
  return [place, owner, { ...range, budgets }];
}

export function sumOf(minor: bigint, currency: string) {
  return { currency, amount: toExact(minor, currency), amountMinor: toMinor(minor) };
}

function trendOf(currency: string, months: readonly { month: string; minor: bigint }[]): TrendRow[] {
  const known = new Map(months.map(({ month, minor }) => [month, minor]));
  const names = monthsBetween(months[0]?.month, months.at(-1)?.month);
  const sums = names.map((month) => known.get(month) ?? 0n);
  return names.map((month, index) => {
    const minor = sums[index] ?? 0n;
    const before = sums[index - 1] ?? 0n;
    const recent = sums.slice(Math.max(0, index - 2), index + 1);
    const total = recent.reduce((all, each) => all + each, 0n);
    const average = divideHalfEven(total, BigInt(recent.length));
    const change = index === 0 ? 0n : minor - before;
    return {
      month,
      ...sumOf(minor, currency),
      change: toExact(change, currency),
      changeMinor: toMinor(change),
      changePercent: index === 0 || before === 0n ? null : percentOf(change, before),
      average: toExact(average, currency),
      averageMinor: toMinor(average),
    };
  });
}

/** Percentage with one digit after the point. */
function percentOf(part: bigint, whole: bigint): number {
  return Math.round((Number(part) / Number(whole)) * 1_000) / 10;
}

/** All months from one to another. */
function monthsBetween(from: string | undefined, to: string | undefined): string[] {
  if (from === undefined || to === undefined) return [];
  const [start, end] = [from, to].map((month) => Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1);
  return Array.from({ length: (end as number) - (start as number) + 1 }, (_, index) => {
    const number = (start as number) + index;
    const month = String((number % 12) + 1).padStart(2, '0');
    return `${String(Math.floor(number / 12)).padStart(4, '0')}-${month}`;
  });
}
