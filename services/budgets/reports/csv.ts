import { csvRecord, numberText, type RawJson } from '@octavo/core/text';
import {
  CashFlowRow,
  CategoryRow,
  CompareBudgetRow,
  CompareRow,
  MonthRow,
  PayeeRow,
  type ReportName,
  type ReportRow,
  TagRow,
  TopRow,
  TrendRow,
} from './report.ts';

/** The rows of each report. */
export const reportRows = {
  'by-category': CategoryRow,
  'by-month': MonthRow,
  trend: TrendRow,
  top: TopRow,
  'cash-flow': CashFlowRow,
  'by-payee': PayeeRow,
  'by-tag': TagRow,
  compare: CompareRow,
  'compare-budgets': CompareBudgetRow,
};

type Cell = string | number | bigint | RawJson | null;

function cellOf(value: Cell): string | null {
  return typeof value === 'string' || value === null ? value : numberText(value);
}

export function csvHeaders(name: ReportName): Record<string, string> {
  return {
    'content-type': 'text/csv; charset=utf-8; header=present',
    'content-disposition': `attachment; filename="${name}.csv"`,
  };
}

export function reportCsv(name: ReportName, found: readonly ReportRow[]): string {
  const columns = Object.keys(reportRows[name].properties);
  const records = found.map((row) =>
    csvRecord(columns.map((column) => cellOf((row as unknown as Record<string, Cell>)[column] ?? null))),
  );
  return csvRecord(columns) + records.join('');
}
