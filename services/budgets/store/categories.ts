import { withoutAccents } from '@octavo/core/text';
import { type SummedParts, totalOf } from './sums.ts';

/** A category as it is compared: “Café”, “cafe” and “CAFÉ ” are one. */
export function categoryKey(category: string): string {
  return withoutAccents(category).replace(/\s+/g, ' ').trim();
}

interface Categorized {
  readonly category: string | null;
  readonly expenses: number;
}

/** The spelling of each category that most expenses have, by its key. */
export function usualSpellings(rows: readonly Categorized[]): ReadonlyMap<string, string> {
  const uses = new Map<string, number>();
  for (const { category, expenses } of rows)
    if (category !== null) uses.set(category, (uses.get(category) ?? 0) + expenses);
  const rarestFirst = [...uses].sort(([one, few], [other, many]) => few - many || (one > other ? -1 : 1));
  return new Map(rarestFirst.map(([spelling]) => [categoryKey(spelling), spelling]));
}

/** Sums by category, the largest first. Equal ones stay in their order, and those without a category are one. */
export function largestCategories(
  rows: readonly (Categorized & SummedParts)[],
  spellings = usualSpellings(rows),
): { category: string | null; total: bigint; expenses: number }[] {
  const byKey = Map.groupBy(rows, ({ category }) => category && categoryKey(category));
  return [...byKey]
    .map(([key, same]) => ({
      category: key === null ? null : (spellings.get(key) ?? key),
      total: same.reduce((sum, row) => sum + totalOf(row), 0n),
      expenses: same.reduce((sum, row) => sum + row.expenses, 0),
    }))
    .sort((one, other) => (one.total === other.total ? 0 : one.total > other.total ? -1 : 1));
}
