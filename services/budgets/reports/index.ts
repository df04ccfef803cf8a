export type { MonthRow, ReportName, ReportRange, ReportRow } from './report.ts';
export { reportByCategory, reportByMonth, reports, reportTask, reportTop, reportTrend } from './reports.ts';
