import { Type } from '@octavo/core';
import { csvRecord, numberText, type RawJson } from '@octavo/core/text';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { Context } from '../commands.ts';
import { callerOf } from '../edges/api-access.ts';
import { checkRange } from '../expenses/index.ts';
import { routes } from '../routes.ts';
import {
  CategoryRow,
  MonthRow,
  type ReportName,
  ReportRange,
  type ReportRow,
  reportNames,
  TopRow,
  TrendRow,
} from './report.ts';
import { reports } from './reports.ts';

const rows = { 'by-category': CategoryRow, 'by-month': MonthRow, trend: TrendRow, top: TopRow };

const summaries: Readonly<Record<ReportName, string>> = {
  'by-category': 'Spending by category',
  'by-month': 'Spending by month',
  trend: 'Change from month to month',
  top: 'The ten largest expenses of each currency',
};

const ids: Readonly<Record<ReportName, string>> = {
  'by-category': 'reportByCategory',
  'by-month': 'reportByMonth',
  trend: 'reportTrend',
  top: 'reportTop',
};

export function addReportApi(app: HttpApp, core: Context, access: AccessRule): void {
  for (const name of reportNames) {
    app.get(
      routes.report.replace(':name', name),
      {
        access,
        schema: {
          operationId: ids[name],
          summary: summaries[name],
          description: 'Sums are by currency. Amounts of different currencies are never added.',
          tags: ['Reports'],
          querystring: Type.Object({
            ...ReportRange.properties,
            format: Type.Enum(['json', 'csv'], { default: 'json' }),
          }),
          response: {
            200: {
              description: 'The rows',
              content: {
                'application/json': { schema: Type.Array(rows[name]) },
                'text/csv': { schema: Type.String() },
              },
            },
          },
        },
        config: { errors: ['not_found', 'rate_limited'] },
      },
      async (request, reply) => {
        const { format, ...range } = request.query;
        checkRange(range.from, range.to);
        const found = await reports[name](core, callerOf(request), range);
        if (format === 'json') return found;
        reply.type('text/csv; charset=utf-8; header=present');
        reply.header('content-disposition', `attachment; filename="${name}.csv"`);
        return csvOf(found, Object.keys(rows[name].properties));
      },
    );
  }
}

type Cell = string | number | bigint | RawJson | null;

function cellOf(value: Cell): string | null {
  return typeof value === 'string' || value === null ? value : numberText(value);
}

function csvOf(found: readonly ReportRow[], columns: readonly string[]): string {
  const records = found.map((row) =>
    csvRecord(columns.map((column) => cellOf((row as unknown as Record<string, Cell>)[column] ?? null))),
  );
  return csvRecord(columns) + records.join('');
}
