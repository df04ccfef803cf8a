export { reports, reportTask } from './named.ts';
export type { CashFlowRow, MonthRow, ReportName, ReportRange, ReportRow } from './report.ts';
export { reportByCategory, reportByMonth, reportCashFlow, reportTop, reportTrend } from './reports.ts';
