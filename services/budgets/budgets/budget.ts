import { allOptional, field, isoTime, type Static, Type, withoutLabels } from '@octavo/core';
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
  Person,
  sum,
  text,
} from '../edges/schemas.ts';
import { periodKinds } from '../money/periods.ts';
import type { BudgetRow } from '../store/tables.ts';
import type { AccessedBudget, MemberColumns } from './access/store.ts';

/** Roles in a budget: a viewer reads it, an editor also writes its expenses. */
export const roles = ['owner', 'editor', 'viewer'] as const;
export const rolloverKinds = ['none', 'positive', 'full'] as const;

const period = Type.Enum(periodKinds, { description: 'Length of its period' });
const periodDay = Type.Integer({
  minimum: 1,
  maximum: 28,
  description: 'Day of the month on which its months, quarters or years begin, such as payday',
  examples: [1],
});
const rollover = Type.Enum(rolloverKinds, {
  description: 'Carried over to the next period: nothing, the remainder, or overspending too',
});
const thresholds = Type.Array(Type.Integer({ minimum: 1, maximum: 1_000 }), {
  maxItems: 10,
  uniqueItems: true,
  description: 'Percentages of the available amount at which the owner is notified, once per period',
  examples: [[80, 100]],
});

/** The fields of a budget that people write: the API, the pages and the admin take them from here, with their labels. */
export const budgetFields = {
  name: field('Name', text(120, { examples: ['Groceries'] })),
  limit: field('Limit', AmountInput),
  currency: Type.Optional(field('Currency', Currency)),
  period: Type.Optional(field('Repeats', period)),
  periodDay: Type.Optional(field('Begins on day', periodDay)),
  startDate: Type.Optional(field('First day', Day)),
  rollover: Type.Optional(field('Remaining amount', rollover)),
  thresholds: Type.Optional(field('Notify me at', thresholds)),
};
const inputFields = withoutLabels(budgetFields);

export const BudgetInput = Type.Object(inputFields, { title: 'BudgetInput' });
export type BudgetInput = Static<typeof BudgetInput>;

export const BudgetPatch = Type.Object(allOptional(inputFields), {
  title: 'BudgetPatch',
  description: 'Fields that are left out stay unchanged',
});
export type BudgetPatch = Static<typeof BudgetPatch>;

/** A change of a budget by REST and pages. */
export const BudgetChange = Type.Object(
  {
    ...BudgetPatch.properties,
    from: Type.Optional(
      Type.String({
        description:
          'Name of the period from which limit, period, its first day and rollover hold; the current one by default, so that periods that are over keep theirs',
        examples: ['2026-01'],
      }),
    ),
  },
  { title: 'BudgetChange', description: 'Fields that are left out stay unchanged' },
);
export type BudgetChange = Static<typeof BudgetChange>;

export const Budget = Type.Object(
  {
    id: Id,
    name: Type.String({ examples: ['Groceries'] }),
    limit: Amount,
    limitMinor: Minor,
    currency: Currency,
    period,
    periodDay: Type.Integer({ ...periodDay, default: 1 }),
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
    role: Type.Enum(roles, { default: 'owner', description: 'What you may do in it' }),
    sharedBy: Type.Union([Person, Type.Null()], {
      default: null,
      description: 'Its owner, if that is another person',
    }),
    createdAt: Instant,
    updatedAt: Instant,
    version: Type.Integer({ examples: [1] }),
  },
  { title: 'Budget' },
);
export type Budget = Static<typeof Budget>;

const Category = Type.Object(
  { category: nullable(Type.String()), amount: sum(), amountMinor: MinorSum },
  { title: 'CategorySum' },
);

/** A budget in a period. */
const standing = {
  period: Type.String({ examples: ['2026-03'] }),
  from: nullable(Day),
  to: nullable(Day),
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
};

export const BudgetSummary = Type.Object(
  {
    budgetId: Id,
    currency: Currency,
    ...standing,
    expenses: Type.Integer({ description: 'Number of items' }),
    byCategory: Type.Array(Category),
  },
  { title: 'BudgetSummary' },
);
export type BudgetSummary = Static<typeof BudgetSummary>;

export const BudgetPeriod = Type.Object(standing, { title: 'BudgetPeriod' });
export type BudgetPeriod = Static<typeof BudgetPeriod>;

/** The most periods of a history. */
export const historyMax = 120;

/** Spending of a budget in one period, in minor units. */
export interface PeriodSpending {
  readonly spent: bigint;
  /** Amount carried over from the periods before. */
  readonly carried: bigint;
}

export const defaultThresholds = [80, 100];

/** Role of the reader, and the owner if that is another person. */
function sharingOf({ member_role: role, owner_id: id, owner_username: username }: Partial<MemberColumns>) {
  if (role === undefined || id === undefined) return { role: 'owner' as const, sharedBy: null };
  return { role, sharedBy: { id, username: username ?? null } };
}

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
  ...(['id', 'name', 'limit_minor', 'currency', 'period', 'period_day', 'rollover'] as const),
  ...(['created_at_ms', 'updated_at_ms', 'version'] as const),
] as const;

export function toPlan(
  row: Pick<BudgetRow, (typeof planColumns)[number]> & Partial<MemberColumns>,
): PlannedBudget {
  return {
    id: row.id,
    name: row.name,
    limit: toMajor(row.limit_minor, row.currency),
    limitMinor: row.limit_minor,
    currency: row.currency,
    period: row.period,
    periodDay: row.period_day,
    rollover: row.rollover,
    ...sharingOf(row),
    createdAt: row.created_at_ms,
    updatedAt: row.updated_at_ms,
    version: row.version,
  };
}

export function toBudget(row: AccessedBudget, { spent, carried }: PeriodSpending): Budget {
  const { currency } = row;
  const remaining = BigInt(row.limit_minor) + carried - spent;
  return {
    id: row.id,
    name: row.name,
    limit: toMajor(row.limit_minor, currency),
    limitMinor: row.limit_minor,
    currency,
    period: row.period,
    periodDay: row.period_day,
    startDate: row.start_date,
    rollover: row.rollover,
    thresholds: thresholdsOf(row),
    spent: toExact(spent, currency),
    spentMinor: toMinor(spent),
    remaining: toExact(remaining, currency),
    remainingMinor: toMinor(remaining),
    ...sharingOf(row),
    createdAt: isoTime(row.created_at_ms),
    updatedAt: isoTime(row.updated_at_ms),
    version: row.version,
  };
}

export function thresholdsOf({ thresholds }: BudgetRow): number[] {
  return JSON.parse(thresholds);
}
