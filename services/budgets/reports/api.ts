import { Type } from '@octavo/core';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import type { Context } from '../commands.ts';
import { callerOf } from '../edges/api-access.ts';
import { checkRange } from '../expenses/index.ts';
import { routes } from '../routes.ts';
import { csvHeaders, reportCsv, reportRows } from './csv.ts';
import { reports } from './named.ts';
import { type ReportName, ReportRange, reportNames } from './report.ts';

const summaries: Readonly<Record<ReportName, string>> = {
  'by-category': 'Spending by category',
  'by-payee': 'Spending by payee',
  'by-tag': 'Spending by tag',
  compare: 'A month beside the one before and the same one last year, by category',
  'compare-budgets': 'A month beside the one before and the same one last year, by budget',
  'by-month': 'Spending by month',
  trend: 'Change from month to month',
  top: 'The ten largest expenses of each currency',
  'cash-flow': 'Income and expense by month',
};

const ids: Readonly<Record<ReportName, string>> = {
  'by-category': 'reportByCategory',
  'by-payee': 'reportByPayee',
  'by-tag': 'reportByTag',
  compare: 'reportCompare',
  'compare-budgets': 'reportCompareBudgets',
  'by-month': 'reportByMonth',
  trend: 'reportTrend',
  top: 'reportTop',
  'cash-flow': 'reportCashFlow',
};

export function addReportApi(app: HttpApp, context: Context, access: AccessRule): void {
  for (const name of reportNames) {
    app.get(
      routes.report.replace(':name', name),
      {
        access,
        schema: {
          operationId: ids[name],
          summary: summaries[name],
          description:
            name === 'compare' || name === 'compare-budgets'
              ? 'Compares the month of `to`, by default this one. Sums are by currency.'
              : 'Sums are by currency. Amounts of different currencies are never added.',
          tags: ['Reports'],
          querystring: Type.Object({
            ...ReportRange.properties,
            format: Type.Enum(['json', 'csv'], { default: 'json' }),
          }),
          response: {
            200: {
              description: 'The rows',
              content: {
                'application/json': { schema: Type.Array(reportRows[name]) },
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
        const found = await reports[name](context, callerOf(request), range);
        if (format === 'json') return found;
        reply.headers(csvHeaders(name));
        return reportCsv(name, found);
      },
    );
  }
}
