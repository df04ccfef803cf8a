import { type Static, Type } from '@octavo/core';
import { createParser } from '../edges/schema-parser.ts';
import { Amount, Currency, Day, Id, Minor, MinorSum, nullable, Reference, sum } from '../edges/schemas.ts';

export const reportNames = [
  'by-category',
  'by-payee',
  'by-tag',
  'by-month',
  'trend',
  'top',
  'cash-flow',
  'compare',
  'compare-budgets',
] as const;
export type ReportName = (typeof reportNames)[number];

/** Sums are by currency: amounts of different currencies are never added. */
const total = { currency: Currency, amount: sum(), amountMinor: MinorSum };

export const CategoryRow = Type.Object(
  { category: nullable(Type.String()), ...total, expenses: Type.Integer() },
  { title: 'CategoryReportRow' },
);

export const PayeeRow = Type.Object(
  {
    payee: Type.String({ description: 'The words at the start of the descriptions', examples: ['REWE'] }),
    ...total,
    expenses: Type.Integer(),
  },
  { title: 'PayeeReportRow' },
);

export const TagRow = Type.Object(
  { tag: Type.String(), ...total, expenses: Type.Integer() },
  { title: 'TagReportRow', description: 'An expense counts for each of its tags' },
);

/** Spending in a month, the one before, and the same month a year before. */
const compared = {
  ...total,
  before: sum({ description: 'In the month before' }),
  beforeMinor: MinorSum,
  lastYear: sum({ description: 'In the same month of the year before' }),
  lastYearMinor: MinorSum,
};

export const CompareRow = Type.Object(
  { category: nullable(Type.String()), ...compared },
  { title: 'CompareReportRow' },
);

export const CompareBudgetRow = Type.Object(
  {
    budgetId: nullable(Id),
    budget: nullable(Type.String({ description: 'Its name; null for unassigned expenses' })),
    ...compared,
  },
  { title: 'CompareBudgetReportRow' },
);

const month = Type.String({ examples: ['2026-01'] });

export const MonthRow = Type.Object(
  { month, ...total, expenses: Type.Integer() },
  { title: 'MonthReportRow' },
);

export const TrendRow = Type.Object(
  {
    month,
    ...total,
    change: sum({ description: 'More than in the month before, in units of the currency' }),
    changeMinor: MinorSum,
    changePercent: nullable(Type.Number({ description: 'Null after a month without expenses' })),
    average: sum({ description: 'Of the three months up to this one, rounded' }),
    averageMinor: MinorSum,
  },
  { title: 'TrendReportRow' },
);

export const TopRow = Type.Object(
  {
    id: Id,
    budgetId: nullable(Id),
    description: Type.String(),
    category: nullable(Type.String()),
    spentOn: Day,
    currency: Currency,
    amount: Amount,
    amountMinor: Minor,
  },
  { title: 'TopReportRow' },
);

export const CashFlowRow = Type.Object(
  {
    month,
    currency: Currency,
    income: sum({ description: 'Credits of the ledger that are no refund' }),
    incomeMinor: MinorSum,
    expense: sum({ description: 'Expenses without refunds and transfers' }),
    expenseMinor: MinorSum,
    net: sum({ description: 'Income less expense' }),
    netMinor: MinorSum,
  },
  { title: 'CashFlowReportRow' },
);

export type CashFlowRow = Static<typeof CashFlowRow>;
export type PayeeRow = Static<typeof PayeeRow>;
export type TagRow = Static<typeof TagRow>;
export type CompareRow = Static<typeof CompareRow>;
export type CompareBudgetRow = Static<typeof CompareBudgetRow>;
export type CategoryRow = Static<typeof CategoryRow>;
export type MonthRow = Static<typeof MonthRow>;
export type TrendRow = Static<typeof TrendRow>;
export type TopRow = Static<typeof TopRow>;

/** A row of any report. */
export type ReportRow =
  | CategoryRow
  | PayeeRow
  | TagRow
  | MonthRow
  | TrendRow
  | TopRow
  | CashFlowRow
  | CompareRow
  | CompareBudgetRow;

export const ReportRange = Type.Object({
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  budgetId: Type.Optional(Reference),
});
export type ReportRange = Static<typeof ReportRange>;

/** Rows of a report. `budgets` are the numbers of budgets. */
export type ReportFilter = Omit<ReportRange, 'budgetId'> & {
  readonly budgets?: readonly number[] | undefined;
};

/** Parses the request of a report task. Throws `validation_failed`. */
export const parseReportRequest = createParser(
  Type.Object({
    report: Type.Enum(reportNames, { default: 'by-category' }),
    ...ReportRange.properties,
  }),
);
