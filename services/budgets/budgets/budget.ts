import { isoTime } from '#kit/iso-time.ts';
import { type Static, Type } from '#kit/schema.ts';
import { toMajor } from '../money.ts';
import { periodKinds } from '../periods.ts';
import { Amount, AmountInput, Currency, Day, Id, Instant, Minor, nullable, text } from '../schemas.ts';
import type { BudgetRow } from '../tables.ts';

export const rolloverKinds = ['none', 'positive', 'full'] as const;

const period = Type.Enum(periodKinds, { description: 'How often it starts again' });
const rollover = Type.Enum(rolloverKinds, {
  description: 'What a period hands on to the next: nothing, what is left, or debts too',
});
const thresholds = Type.Array(Type.Integer({ minimum: 1, maximum: 1_000 }), {
  maxItems: 10,
  uniqueItems: true,
  description: 'Percent of what is available at which its owner is notified, once in a period',
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
    spent: Type.Number({ description: 'In the current period', examples: [4.2] }),
    spentMinor: Minor,
    remaining: Type.Number({
      description: 'In the current period, with what was carried over',
      examples: [8.3],
    }),
    remainingMinor: Minor,
    createdAt: Instant,
    updatedAt: Instant,
    version: Type.Integer({ examples: [1] }),
  },
  { title: 'Budget' },
);
export type Budget = Static<typeof Budget>;

export const BudgetInput = Type.Object(
  {
    name: text(120, { examples: ['Groceries'] }),
    limit: AmountInput,
    currency: Type.Optional(Currency),
    period: Type.Optional(period),
    startDate: Type.Optional(Day),
    rollover: Type.Optional(rollover),
    thresholds: Type.Optional(thresholds),
  },
  { title: 'BudgetInput' },
);
export type BudgetInput = Static<typeof BudgetInput>;

export const BudgetPatch = Type.Object(
  {
    name: Type.Optional(text(120, { examples: ['Groceries'] })),
    limit: Type.Optional(AmountInput),
    currency: Type.Optional(Currency),
    period: Type.Optional(period),
    startDate: Type.Optional(Day),
    rollover: Type.Optional(rollover),
    thresholds: Type.Optional(thresholds),
  },
  { title: 'BudgetPatch', description: 'What is left out stays' },
);
export type BudgetPatch = Static<typeof BudgetPatch>;

const Category = Type.Object(
  { category: nullable(Type.String()), amount: Amount, amountMinor: Minor },
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
    carried: Amount,
    carriedMinor: Minor,
    available: Amount,
    availableMinor: Minor,
    spent: Amount,
    spentMinor: Minor,
    remaining: Amount,
    remainingMinor: Minor,
    expenses: Type.Integer({ description: 'How many there are' }),
    byCategory: Type.Array(Category),
  },
  { title: 'BudgetSummary' },
);
export type BudgetSummary = Static<typeof BudgetSummary>;

/** What became of a budget in one period, in minor units. */
export interface Standing {
  readonly spent: number;
  /** What the periods before it handed on. */
  readonly carried: number;
}

export const defaultThresholds = [80, 100];

/** A budget as it is read without what was spent, which costs more statements. Its times are formatted only if they are asked for. */
export type Plan = Pick<
  Budget,
  'id' | 'name' | 'limit' | 'limitMinor' | 'currency' | 'period' | 'rollover' | 'version'
> &
  Partial<Pick<Budget, 'spent' | 'remaining'>> & {
    readonly createdAt: string | number;
    readonly updatedAt: string | number;
  };

/** The columns of a {@link Plan}. */
export const planColumns = [
  ...(['id', 'name', 'limit_minor', 'currency', 'period', 'rollover'] as const),
  ...(['created_at_ms', 'updated_at_ms', 'version'] as const),
] as const;

export function toPlan(row: Pick<BudgetRow, (typeof planColumns)[number]>): Plan {
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

export function toBudget(row: BudgetRow, { spent, carried }: Standing): Budget {
  const { currency } = row;
  const remaining = row.limit_minor + carried - spent;
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
    spent: toMajor(spent, currency),
    spentMinor: spent,
    remaining: toMajor(remaining, currency),
    remainingMinor: remaining,
    createdAt: isoTime(row.created_at_ms),
    updatedAt: isoTime(row.updated_at_ms),
    version: row.version,
  };
}

export function thresholdsOf({ thresholds }: BudgetRow): number[] {
  return JSON.parse(thresholds);
}
