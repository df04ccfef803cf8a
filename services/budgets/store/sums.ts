import { type Expression, type RawBuilder, sql } from 'kysely';

/**
 * Databases and JavaScript both have a largest integer, and a sum of amounts has none. A stored sum is two columns, `high` and `low`:
 * `high * highUnit + low`. Each of them is a safe integer, whatever is added.
 */
const highUnit = 9_000_000_000_000_000n;

/** A sum in two parts. */
export interface SplitSum {
  readonly high: number;
  readonly low: number;
}

export function splitSum(minor: bigint): SplitSum {
  return { high: Number(minor / highUnit), low: Number(minor % highUnit) };
}

/** The stored columns of a sum. */
type Columns = { readonly [part in 'high' | 'low']: string };

/** The new values of the columns of a sum after something in two parts is added. */
export function addedTo(
  columns: Columns,
  { high, low }: { readonly [part in 'high' | 'low']: Expression<number> | RawBuilder<number> },
): { high: RawBuilder<number>; low: RawBuilder<number> } {
  const [highColumn, lowColumn] = [sql.ref(columns.high), sql.ref(columns.low)];
  const unit = sql.raw(String(highUnit));
  return {
    high: sql<number>`${highColumn} + ${high} + (${lowColumn} + ${low}) / ${unit}`,
    low: sql<number>`(${lowColumn} + ${low}) % ${unit}`,
  };
}

/** Amounts are added up in two parts, since the sum of a column may exceed the integers of the database. */
const partUnit = 1_000_000n;

/** Columns of a query that adds up. */
export interface SummedParts {
  readonly high: number;
  readonly major: number;
  readonly rest: number;
}

/** Selects the sum of a column of amounts, or of the two columns of stored sums. {@link totalOf} reads it. */
export function sumOf({ high, low }: { readonly low: string; readonly high?: string }) {
  const unit = sql.raw(String(partUnit));
  const column = sql.ref(low);
  const highSum = high === undefined ? sql`0` : sql`coalesce(sum(${sql.ref(high)}), 0)`;
  return [
    sql<number>`${highSum}`.as('high'),
    sql<number>`coalesce(sum(${column} / ${unit}), 0)`.as('major'),
    sql<number>`coalesce(sum(${column} % ${unit}), 0)`.as('rest'),
  ] as const;
}

export function totalOf({ high, major, rest }: SummedParts): bigint {
  return BigInt(high) * highUnit + BigInt(major) * partUnit + BigInt(rest);
}

/** Reads a stored sum. */
export function storedSum({ high, low }: SplitSum): bigint {
  return BigInt(high) * highUnit + BigInt(low);
}
