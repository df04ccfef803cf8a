import type { Caller, Core } from '../commands.ts';
import { checkRange } from '../expenses/index.ts';
import { divideHalfEven, toMajor } from '../money.ts';
import type { TaskContext, TaskInput, TaskKind } from '../tasks/index.ts';
import {
  type CategoryRow,
  type MonthRow,
  parseReportRequest,
  type ReportName,
  type ReportRange,
  type ReportRow,
  type TopRow,
  type TrendRow,
} from './report.ts';
import { largest, sumsByCategory, sumsByMonth } from './store.ts';

const topMax = 10;

/** What was spent in each category, largest first, by currency. */
export async function reportByCategory(
  { db }: Core,
  { owner }: Caller,
  range: ReportRange,
): Promise<CategoryRow[]> {
  const rows = await sumsByCategory(db, owner, range);
  return rows.map(({ category, minor, currency, expenses }) => ({
    category,
    ...sumOf(minor, currency),
    expenses,
  }));
}

/** What was spent in each month that has expenses, by currency. */
export async function reportByMonth(
  { db }: Core,
  { owner }: Caller,
  range: ReportRange,
): Promise<MonthRow[]> {
  const rows = await sumsByMonth(db, owner, range);
  return rows.map(({ month, minor, currency, expenses }) => ({ month, ...sumOf(minor, currency), expenses }));
}

/** How each month compares with the one before, by currency. Months without expenses in between are there too. */
export async function reportTrend({ db }: Core, { owner }: Caller, range: ReportRange): Promise<TrendRow[]> {
  const rows = await sumsByMonth(db, owner, range);
  const byCurrency = Map.groupBy(rows, ({ currency }) => currency);
  return Array.from(byCurrency, ([currency, months]) => trendOf(currency, months)).flat();
}

/** The largest expenses, by the number of units, whatever the currency. */
export async function reportTop({ db }: Core, { owner }: Caller, range: ReportRange): Promise<TopRow[]> {
  const rows = await largest(db, owner, { ...range, limit: topMax });
  return rows.map(({ minor, currency, ...row }) => ({ ...row, ...sumOf(minor, currency) }));
}

/** Each report by its name. */
export const reports: Readonly<
  Record<ReportName, (core: Core, caller: Caller, range: ReportRange) => Promise<ReportRow[]>>
> = { 'by-category': reportByCategory, 'by-month': reportByMonth, trend: reportTrend, top: reportTop };

/** Reports as tasks. */
export const reportTask: TaskKind = {
  async prepare(_core: Core, _caller: Caller, { report, from, to }: TaskInput) {
    const given = Object.entries({ report, from, to }).filter(([, value]) => value !== undefined);
    const input = parseReportRequest(Object.fromEntries(given));
    checkRange(input.from, input.to);
    return { input };
  },
  async run({ core, caller, input }: TaskContext) {
    const { report, ...range } = input as ReturnType<typeof parseReportRequest>;
    return { report, rows: await reports[report](core, caller, range) };
  },
};

function sumOf(minor: number, currency: string) {
  return { currency, amount: toMajor(minor, currency), amountMinor: minor };
}

function trendOf(currency: string, months: readonly { month: string; minor: number }[]): TrendRow[] {
  const known = new Map(months.map(({ month, minor }) => [month, minor]));
  const names = monthsBetween(months[0]?.month, months.at(-1)?.month);
  const sums = names.map((month) => known.get(month) ?? 0);
  return names.map((month, index) => {
    const minor = sums[index] ?? 0;
    const before = sums[index - 1] ?? 0;
    const recent = sums.slice(Math.max(0, index - 2), index + 1);
    const total = recent.reduce((all, each) => all + BigInt(each), 0n);
    const averageMinor = Number(divideHalfEven(total, BigInt(recent.length)));
    const changeMinor = index === 0 ? 0 : minor - before;
    return {
      month,
      ...sumOf(minor, currency),
      change: toMajor(changeMinor, currency),
      changeMinor,
      changePercent: index === 0 || before === 0 ? null : Math.round((changeMinor / before) * 1_000) / 10,
      average: toMajor(averageMinor, currency),
      averageMinor,
    };
  });
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
