import { type Static, Type } from '@octavo/core';
import { createParser } from '../edges/schema-parser.ts';
import { Amount, Currency, Day, Id, Minor, MinorSum, nullable, Reference, sum } from '../edges/schemas.ts';

export const reportNames = ['by-category', 'by-month', 'trend', 'top'] as const;
export type ReportName = (typeof reportNames)[number];

/** Sums are by currency: amounts of different currencies are never added. */
const total = { currency: Currency, amount: sum(), amountMinor: MinorSum };

export const CategoryRow = Type.Object(
  { category: nullable(Type.String()), ...total, expenses: Type.Integer() },
  { title: 'CategoryReportRow' },
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
    budgetId: Id,
    description: Type.String(),
    category: nullable(Type.String()),
    spentOn: Day,
    currency: Currency,
    amount: Amount,
    amountMinor: Minor,
  },
  { title: 'TopReportRow' },
);

export type CategoryRow = Static<typeof CategoryRow>;
export type MonthRow = Static<typeof MonthRow>;
export type TrendRow = Static<typeof TrendRow>;
export type TopRow = Static<typeof TopRow>;

/** A row of any report. */
export type ReportRow = CategoryRow | MonthRow | TrendRow | TopRow;

export const ReportRange = Type.Object({
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  budgetId: Type.Optional(Reference),
});
export type ReportRange = Static<typeof ReportRange>;

/** Rows of a report. `budget` is the number of a budget. */
export type ReportFilter = Omit<ReportRange, 'budgetId'> & { readonly budget?: number | undefined };

/** Parses the request of a report task. Throws `validation_failed`. */
export const parseReportRequest = createParser(
  Type.Object({
    report: Type.Enum(reportNames, { default: 'by-category' }),
    ...ReportRange.properties,
  }),
);
