import { isoDay } from '@octavo/core';
import { toExact, toMinor } from '@octavo/documents/values';
import type { Caller, Context } from '../commands.ts';
import { addDays, periodAt } from '../money/periods.ts';
import { comparable, payeeOf } from '../rules/index.ts';
import { categoryKey, usualSpellings } from '../store/categories.ts';
import { type SummedParts, totalOf } from '../store/sums.ts';
import type { CompareRow, PayeeRow, ReportRange, TagRow } from './report.ts';
import { selectionOf, sumOf } from './reports.ts';
import { sumsByCategory, sumsByDescription, sumsByTag } from './store.ts';

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

/** Compares the spending of each category in a month, that of `to`, with the month before and the same one last year. */
export async function reportCompare(
  { db, clock }: Context,
  { owner }: Caller,
  { to = isoDay(clock.now()), budgetId }: ReportRange,
): Promise<CompareRow[]> {
  const [place, account, filter] = await selectionOf(db, owner, { budgetId });
  const [now, before, lastYear] = comparedMonths(to);
  const of = (range: { from: string; to: string }) => sumsByCategory(place, account, { ...filter, ...range });
  const sums = [await of(now), await of(before), await of(lastYear)] as const;
  const spellings = usualSpellings(sums.flat());
  const keyOf = ({ currency, category }: { currency: string; category: string | null }) =>
    JSON.stringify([currency, category && categoryKey(category)]);
  const totals = sums.map((rows) => {
    const byKey = Map.groupBy(rows, keyOf);
    return new Map(
      Array.from(byKey, ([key, same]) => [key, same.reduce((all, row) => all + totalOf(row), 0n)]),
    );
  });
  const keys = [...new Set(totals.flatMap((each) => [...each.keys()]))];
  const compared = keys.map((key) => {
    const [currency, category] = JSON.parse(key) as [string, string | null];
    const [amount = 0n, earlier = 0n, yearAgo = 0n] = totals.map((each) => each.get(key) ?? 0n);
    return {
      currency,
      category: category && (spellings.get(category) ?? category),
      amount,
      earlier,
      yearAgo,
    };
  });
  compared.sort((one, other) =>
    one.currency === other.currency
      ? Number(other.amount - one.amount)
      : one.currency < other.currency
        ? -1
        : 1,
  );
  return compared.map(({ currency, category, amount, earlier, yearAgo }) => ({
    category,
    ...sumOf(amount, currency),
    before: toExact(earlier, currency),
    beforeMinor: toMinor(earlier),
    lastYear: toExact(yearAgo, currency),
    lastYearMinor: toMinor(yearAgo),
  }));
}
