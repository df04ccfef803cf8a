import type { Caller, Context } from '../commands.ts';
import { checkRange } from '../expenses/index.ts';
import type { RunningTask, TaskInput, TaskKind } from '../tasks/index.ts';
import { reportByPayee, reportByTag, reportCompare, reportCompareBudgets } from './breakdowns.ts';
import { parseReportRequest, type ReportName, type ReportRange, type ReportRow } from './report.ts';
import {
  reportByCategory,
  reportByMonth,
  reportCashFlow,
  reportTop,
  reportTrend,
  selectionOf,
} from './reports.ts';

/** Each report by its name. */
export const reports: Readonly<
  Record<ReportName, (context: Context, caller: Caller, range: ReportRange) => Promise<ReportRow[]>>
> = {
  'by-category': reportByCategory,
  'by-payee': reportByPayee,
  'by-tag': reportByTag,
  'by-month': reportByMonth,
  trend: reportTrend,
  top: reportTop,
  'cash-flow': reportCashFlow,
  compare: reportCompare,
  'compare-budgets': reportCompareBudgets,
};

/** Reports as tasks. */
export const reportTask: TaskKind = {
  async prepare({ db }: Context, { owner }: Caller, { report, from, to, budgetId }: TaskInput) {
    const given = Object.entries({ report, from, to, budgetId }).filter(([, value]) => value !== undefined);
    const input = parseReportRequest(Object.fromEntries(given));
    checkRange(input.from, input.to);
    await selectionOf(db, owner, input);
    return { input };
  },
  async run({ context, caller, input }: RunningTask) {
    const { report, ...range } = input as ReturnType<typeof parseReportRequest>;
    return { report, rows: await reports[report](context, caller, range) };
  },
};
