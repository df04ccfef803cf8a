import type { Session } from '@octavo/data';
import { divideHalfEven, toExact, toMajor, toMinor } from '@octavo/documents/values';
import { requireBudget } from '../budgets/index.ts';
import type { Caller, Context } from '../commands.ts';
import { checkRange } from '../expenses/index.ts';
import { largestCategories, usualSpellings } from '../store/categories.ts';
import { totalOf } from '../store/sums.ts';
import type { Tables } from '../store/tables.ts';
import type { TaskContext, TaskInput, TaskKind } from '../tasks/index.ts';
import {
  type CategoryRow,
  type MonthRow,
  parseReportRequest,
  type ReportFilter,
  type ReportName,
  type ReportRange,
  type ReportRow,
  type TopRow,
  type TrendRow,
} from './report.ts';
import { largest, sumsByCategory, sumsByMonth } from './store.ts';

const topMax = 10;

/** Reports the spending of each category, largest first, by currency. */
export async function reportByCategory(
  { db }: Context,
  { owner }: Caller,
  range: ReportRange,
): Promise<CategoryRow[]> {
  const rows = await sumsByCategory(db, owner, await filterOf(db, owner, range));
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
  const rows = await sumsByMonth(db, owner, await filterOf(db, owner, range));
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
  const rows = await sumsByMonth(db, owner, await filterOf(db, owner, range));
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
  const rows = await largest(db, owner, { ...(await filterOf(db, owner, range)), limit: topMax });
  return rows.map(({ minor, currency, ...row }) => ({
    ...row,
    currency,
    amount: toMajor(minor, currency),
    amountMinor: minor,
  }));
}

/** Each report by its name. */
export const reports: Readonly<
  Record<ReportName, (core: Context, caller: Caller, range: ReportRange) => Promise<ReportRow[]>>
> = { 'by-category': reportByCategory, 'by-month': reportByMonth, trend: reportTrend, top: reportTop };

/** Reports as tasks. */
export const reportTask: TaskKind = {
  async prepare({ db }: Context, { owner }: Caller, { report, from, to, budgetId }: TaskInput) {
    const given = Object.entries({ report, from, to, budgetId }).filter(([, value]) => value !== undefined);
    const input = parseReportRequest(Object.fromEntries(given));
    checkRange(input.from, input.to);
    await filterOf(db, owner, input);
    return { input };
  },
  async run({ core, caller, input }: TaskContext) {
    const { report, ...range } = input as ReturnType<typeof parseReportRequest>;
    return { report, rows: await reports[report](core, caller, range) };
  },
};

/** Throws `not_found` for a budget of another user. */
async function filterOf(
  session: Session<Tables>,
  owner: number,
  { budgetId, ...range }: ReportRange,
): Promise<ReportFilter> {
  return budgetId === undefined
    ? range
    : { ...range, budget: (await requireBudget(session, owner, budgetId)).number };
}

function sumOf(minor: bigint, currency: string) {
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
