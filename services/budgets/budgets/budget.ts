import { isoTime, type Static, Type } from '@octavo/core';
import { toExact, toMajor, toMinor } from '@octavo/documents/values';
import {
  Amount,
  AmountInput,
  Currency,
  Day,
  Id,
  Instant,
  Minor,
  MinorSum,
  nullable,
  sum,
  text,
} from '../edges/schemas.ts';
import { periodKinds } from '../money/periods.ts';
import type { BudgetRow } from '../store/tables.ts';

export const rolloverKinds = ['none', 'positive', 'full'] as const;

const period = Type.Enum(periodKinds, { description: 'Length of its period' });
const rollover = Type.Enum(rolloverKinds, {
  description: 'Carried over to the next period: nothing, the remainder, or overspending too',
});
const thresholds = Type.Array(Type.Integer({ minimum: 1, maximum: 1_000 }), {
  maxItems: 10,
  uniqueItems: true,
  description: 'Percentages of the available amount at which the owner is notified, once per period',
  examples: [[80, 100]],
});

export const Budget = Type.Object(
  {
    id: Id,
    name: Type.String({ examples: ['Groceries'] }),
    limit: Amount,
    limitMinor: Minor,
    currency: Currency,
    period,
    startDate: Day,
    rollover,
    thresholds,
    spent: sum({ description: 'In the current period', examples: [4.2] }),
    spentMinor: MinorSum,
    remaining: sum({
      description: 'In the current period, including the amount carried over',
      examples: [8.3],
    }),
    remainingMinor: MinorSum,
    createdAt: Instant,
    updatedAt: Instant,
    version: Type.Integer({ examples: [1] }),
  },
  { title: 'Budget' },
);
export type Budget = Static<typeof Budget>;

const optionalFields = {
  currency: Type.Optional(Currency),
  period: Type.Optional(period),
  startDate: Type.Optional(Day),
  rollover: Type.Optional(rollover),
  thresholds: Type.Optional(thresholds),
};
const requiredFields = { name: text(120, { examples: ['Groceries'] }), limit: AmountInput };

export const BudgetInput = Type.Object({ ...requiredFields, ...optionalFields }, { title: 'BudgetInput' });
export type BudgetInput = Static<typeof BudgetInput>;

export const BudgetPatch = Type.Object(
  {
    name: Type.Optional(requiredFields.name),
    limit: Type.Optional(requiredFields.limit),
    ...optionalFields,
  },
  { title: 'BudgetPatch', description: 'Fields that are left out stay unchanged' },
);
export type BudgetPatch = Static<typeof BudgetPatch>;

const Category = Type.Object(
  { category: nullable(Type.String()), amount: sum(), amountMinor: MinorSum },
  { title: 'CategorySum' },
);

export const BudgetSummary = Type.Object(
  {
    budgetId: Id,
    period: Type.String({ examples: ['2026-03'] }),
    from: nullable(Day),
    to: nullable(Day),
    currency: Currency,
    limit: Amount,
    limitMinor: Minor,
    carried: sum(),
    carriedMinor: MinorSum,
    available: sum(),
    availableMinor: MinorSum,
    spent: sum(),
    spentMinor: MinorSum,
    remaining: sum(),
    remainingMinor: MinorSum,
    expenses: Type.Integer({ description: 'Number of items' }),
    byCategory: Type.Array(Category),
  },
  { title: 'BudgetSummary' },
);
export type BudgetSummary = Static<typeof BudgetSummary>;

/** Spending of a budget in one period, in minor units. */
export interface PeriodSpending {
  readonly spent: bigint;
  /** Amount carried over from the periods before. */
  readonly carried: bigint;
}

export const defaultThresholds = [80, 100];

/** A budget without its spending, which costs more statements. Its times are formatted on demand. */
export type PlannedBudget = Omit<
  Budget,
  | 'startDate'
  | 'thresholds'
  | 'spent'
  | 'spentMinor'
  | 'remaining'
  | 'remainingMinor'
  | 'createdAt'
  | 'updatedAt'
> &
  Partial<Pick<Budget, 'spent' | 'remaining'>> & {
    readonly createdAt: string | number;
    readonly updatedAt: string | number;
  };

/** The columns of a {@link PlannedBudget}. */
export const planColumns = [
  ...(['id', 'name', 'limit_minor', 'currency', 'period', 'rollover'] as const),
  ...(['created_at_ms', 'updated_at_ms', 'version'] as const),
] as const;

export function toPlan(row: Pick<BudgetRow, (typeof planColumns)[number]>): PlannedBudget {
  return {
    id: row.id,
    name: row.name,
    limit: toMajor(row.limit_minor, row.currency),
    limitMinor: row.limit_minor,
    currency: row.currency,
    period: row.period,
    rollover: row.rollover,
    createdAt: row.created_at_ms,
    updatedAt: row.updated_at_ms,
    version: row.version,
  };
}

export function toBudget(row: BudgetRow, { spent, carried }: PeriodSpending): Budget {
  const { currency } = row;
  const remaining = BigInt(row.limit_minor) + carried - spent;
  return {
    id: row.id,
    name: row.name,
    limit: toMajor(row.limit_minor, currency),
    limitMinor: row.limit_minor,
    currency,
    period: row.period,
    startDate: row.start_date,
    rollover: row.rollover,
    thresholds: thresholdsOf(row),
    spent: toExact(spent, currency),
    spentMinor: toMinor(spent),
    remaining: toExact(remaining, currency),
    remainingMinor: toMinor(remaining),
    createdAt: isoTime(row.created_at_ms),
    updatedAt: isoTime(row.updated_at_ms),
    version: row.version,
  };
}

export function thresholdsOf({ thresholds }: BudgetRow): number[] {
  return JSON.parse(thresholds);
}
