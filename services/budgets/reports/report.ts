import { type Static, Type } from '#kit/schema.ts';
import { createParser } from '#kit/schema-parser.ts';
import { Amount, Currency, Day, Id, Minor, nullable } from '../schemas.ts';

export const reportNames = ['by-category', 'by-month', 'trend', 'top'] as const;
export type ReportName = (typeof reportNames)[number];

/** Sums are by currency: amounts of different currencies are never added. */
const sum = { currency: Currency, amount: Amount, amountMinor: Minor };

export const CategoryRow = Type.Object(
  { category: nullable(Type.String()), ...sum, expenses: Type.Integer() },
  { title: 'CategoryReportRow' },
);

const month = Type.String({ examples: ['2026-01'] });

export const MonthRow = Type.Object({ month, ...sum, expenses: Type.Integer() }, { title: 'MonthReportRow' });

export const TrendRow = Type.Object(
  {
    month,
    ...sum,
    change: Type.Number({ description: 'More than in the month before, in units of the currency' }),
    changeMinor: Minor,
    changePercent: nullable(Type.Number({ description: 'Null after a month without expenses' })),
    average: Type.Number({ description: 'Of the three months up to this one, rounded' }),
    averageMinor: Minor,
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
    ...sum,
  },
  { title: 'TopReportRow' },
);

export type CategoryRow = Static<typeof CategoryRow>;
export type MonthRow = Static<typeof MonthRow>;
export type TrendRow = Static<typeof TrendRow>;
export type TopRow = Static<typeof TopRow>;

/** A row of any report. */
export type ReportRow = CategoryRow | MonthRow | TrendRow | TopRow;

export const ReportRange = Type.Object({ from: Type.Optional(Day), to: Type.Optional(Day) });
export type ReportRange = Static<typeof ReportRange>;

/** What a task asks for. Throws `validation_failed`. */
export const parseReportRequest = createParser(
  Type.Object({
    report: Type.Enum(reportNames, { default: 'by-category' }),
    ...ReportRange.properties,
  }),
);
