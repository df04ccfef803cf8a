import { isoDay } from '@octavo/core';
import { toExact, toMinor } from '@octavo/documents/values';
import type { Caller, Context } from '../commands.ts';
import { addDays, periodAt } from '../money/periods.ts';
import { comparable, payeeOf } from '../rules/index.ts';
import { categoryKey, usualSpellings } from '../store/categories.ts';
import { type SummedParts, totalOf } from '../store/sums.ts';
import type { CompareBudgetRow, CompareRow, PayeeRow, ReportRange, TagRow } from './report.ts';
import { selectionOf, sumOf } from './reports.ts';
import { sumsByBudget, sumsByCategory, sumsByDescription, sumsByTag } from './store.ts';

interface Summed extends SummedParts {
  readonly currency: string;
  readonly expenses: number;
}

/** Sums of rows with the same key, by currency, the largest first. The first name of a key is shown. */
function largestOf<R extends Summed>(rows: readonly R[], nameOf: (row: R) => string) {
  const byKey = Map.groupBy(rows, (row) => `${row.currency} ${comparable(nameOf(row))}`);
  const sums = Array.from(byKey.values(), (same) => {
    const [first] = same as [R];
    return {
      name: nameOf(first),
      currency: first.currency,
      total: same.reduce((sum, row) => sum + totalOf(row), 0n),
      expenses: same.reduce((sum, row) => sum + row.expenses, 0),
    };
  });
  return sums.sort((one, other) =>
    one.currency === other.currency
      ? Number(other.total > one.total) - Number(one.total > other.total)
      : one.currency < other.currency
        ? -1
        : 1,
  );
}

/** Reports the spending on each payee, largest first, by currency. */
export async function reportByPayee(
  { db }: Context,
  { owner }: Caller,
  range: ReportRange,
): Promise<PayeeRow[]> {
  const rows = await sumsByDescription(...(await selectionOf(db, owner, range)));
  return largestOf(rows, ({ description }) => payeeOf(description)).map(
    ({ name, currency, total, expenses }) => ({ payee: name, ...sumOf(total, currency), expenses }),
  );
}

/** Reports the spending of each tag, largest first, by currency. */
export async function reportByTag({ db }: Context, { owner }: Caller, range: ReportRange): Promise<TagRow[]> {
  const rows = await sumsByTag(...(await selectionOf(db, owner, range)));
  return largestOf(rows, ({ tag }) => tag).map(({ name, currency, total, expenses }) => ({
    tag: name,
    ...sumOf(total, currency),
    expenses,
  }));
}

/** The month of a day, the one before, and the same month of the year before. */
export function comparedMonths(day: string) {
  const month = periodAt('monthly', day) as { from: string; to: string };
  const before = periodAt('monthly', addDays(month.from, -1)) as { from: string; to: string };
  const year = String(Number(month.from.slice(0, 4)) - 1).padStart(4, '0');
  const lastYear = periodAt('monthly', `${year}${month.from.slice(4)}`) as { from: string; to: string };
  return [month, before, lastYear] as const;
}

type InMonths<R> = readonly [now: readonly R[], before: readonly R[], lastYear: readonly R[]];

/** Reads the rows of the month of a day, of the one before and of the same one last year. */
async function readMonths<R>(
  day: string,
  read: (range: { from: string; to: string }) => Promise<R[]>,
): Promise<InMonths<R>> {
  const [now, before, lastYear] = comparedMonths(day);
  return [await read(now), await read(before), await read(lastYear)];
}

/** The sums of three months by a key and the currency, the largest first, each with the first row of its key. */
function compareMonths<R extends Omit<Summed, 'expenses'>>(months: InMonths<R>, keyOf: (row: R) => unknown) {
  const whole = (row: R) => JSON.stringify([row.currency, keyOf(row)]);
  const totals = months.map((rows) => {
    const byKey = Map.groupBy(rows, whole);
    return new Map(
      Array.from(byKey, ([key, same]) => [key, same.reduce((all, row) => all + totalOf(row), 0n)]),
    );
  });
  const compared = Array.from(Map.groupBy(months.flat(), whole), ([key, [row]]) => {
    const [amount = 0n, earlier = 0n, yearAgo = 0n] = totals.map((each) => each.get(key));
    return { row: row as R, amount, earlier, yearAgo };
  });
  compared.sort((one, other) =>
    one.row.currency === other.row.currency
      ? Number(other.amount - one.amount)
      : one.row.currency < other.row.currency
        ? -1
        : 1,
  );
  return compared.map(({ row, amount, earlier, yearAgo }) => ({
    row,
    sums: {
      ...sumOf(amount, row.currency),
      before: toExact(earlier, row.currency),
      beforeMinor: toMinor(earlier),
      lastYear: toExact(yearAgo, row.currency),
      lastYearMinor: toMinor(yearAgo),
    },
  }));
}

/** Compares the spending of each category in a month, that of `to`, with the month before and the same one last year. */
export async function reportCompare(
  { db, clock }: Context,
  { owner }: Caller,
  { to = isoDay(clock.now()), budgetId }: ReportRange,
): Promise<CompareRow[]> {
  const [place, account, filter] = await selectionOf(db, owner, { budgetId });
  const months = await readMonths(to, (range) => sumsByCategory(place, account, { ...filter, ...range }));
  const spellings = usualSpellings(months.flat());
  const keyOf = (category: string | null) => category && categoryKey(category);
  return compareMonths(months, ({ category }) => keyOf(category)).map(({ row, sums }) => ({
    category: row.category && (spellings.get(categoryKey(row.category)) ?? row.category),
    ...sums,
  }));
}

/** Compares as {@link reportCompare} by budget. Unassigned expenses of a currency are one row. */
export async function reportCompareBudgets(
  { db, clock }: Context,
  { owner }: Caller,
  { to = isoDay(clock.now()), budgetId }: ReportRange,
): Promise<CompareBudgetRow[]> {
  const [place, account, filter] = await selectionOf(db, owner, { budgetId });
  const months = await readMonths(to, (range) => sumsByBudget(place, account, { ...filter, ...range }));
  return compareMonths(months, ({ number }) => number).map(({ row: { id, name, unassigned }, sums }) => ({
    budgetId: unassigned === 0 ? id : null,
    budget: unassigned === 0 ? name : null,
    ...sums,
  }));
}
