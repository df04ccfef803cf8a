import { AppError } from '@octavo/core';
import { field, type Html, html, linkButton, menu } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { listStandings } from '../budgets/index.ts';
import { addDays, isDay, periodAt } from '../money/periods.ts';
import { pageRoutes } from '../routes.ts';
import { type PageParts, type PageSession, parameter, type Visitor } from '../site/page-context.ts';
import { day, hrefWith, rangeProblem } from '../site/views.ts';
import { reportByPayee, reportByTag, reportCompare, reportCompareBudgets } from './breakdowns.ts';
import { csvHeaders, reportCsv } from './csv.ts';
import { reports } from './named.ts';
import { budgetSection, charts, noExpenses, type Range } from './pages-views.ts';
import { type ReportName, reportNames } from './report.ts';
import { reportByCategory, reportCashFlow, reportTop, reportTrend } from './reports.ts';

/** Charts of the spending by month and category. */
export function addReportPages(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { context, visitors: access } = parts;
  routes.get(pageRoutes.reports, { access }, (visitor) => showReports(visitor, parts));
  routes.get(pageRoutes.reportFile, { access }, async (visitor) => {
    const { visit, caller } = visitor;
    const { name: given } = visit.request.params as { readonly name: string };
    const name = reportNames.find((each) => each === given);
    const { range, toProblem } = rangeIn(visitor);
    if (!name || toProblem) throw new AppError('not_found', 'There is no such report.');
    visit.reply.headers(csvHeaders(name));
    return visit.reply.send(reportCsv(name, await reports[name](context, caller, range)));
  });
}

/** The range in the address, by default the last twelve months. */
function rangeIn({ visit, today }: Visitor): { range: Range; toProblem: string | undefined } {
  const [from, to] = [parameter(visit, 'from'), parameter(visit, 'to')];
  const range = {
    from: isDay(from) ? from : yearUpTo(today).from,
    to: isDay(to) ? to : yearUpTo(today).to,
  };
  return { range, toProblem: rangeProblem(range.from, range.to) };
}

async function showReports(visitor: Visitor, { context }: PageParts): Promise<string> {
  const { visit, caller, today } = visitor;
  const { range, toProblem } = rangeIn(visitor);
  if (toProblem) {
    visit.reply.code(400);
    return visitor.render({ title: 'Reports', main: rangeForm(range, today, toProblem) });
  }
  const lastDay = range.to < today ? range.to : today;
  const [categories, payees, tags, months, top, flow, compared, comparedBudgets, budgets] = await Promise.all(
    [
      reportByCategory(context, caller, range),
      reportByPayee(context, caller, range),
      reportByTag(context, caller, range),
      reportTrend(context, caller, range),
      reportTop(context, caller, range),
      reportCashFlow(context, caller, range),
      reportCompare(context, caller, { to: lastDay }),
      reportCompareBudgets(context, caller, { to: lastDay }),
      listStandings(context, caller, { ...range, today }),
    ],
  );
  const currencies = [...new Set([...months, ...flow].map(({ currency }) => currency))];
  const own = <R extends { readonly currency: string }>(rows: readonly R[], currency: string) =>
    rows.filter((row) => row.currency === currency);
  return visitor.render({
    title: 'Reports',
    lead: html`${day(range.from)} to ${day(range.to)}`,
    actions: menu('Save as CSV', fileLinks(range)),
    modules: ['live.js'],
    main: html`${rangeForm(range, today)}<div class="stack" data-live-region="reports">${
      currencies.length === 0
        ? noExpenses()
        : currencies.map(
            (currency) =>
              html`${currencies.length > 1 && html`<h2>${currency}</h2>`}${charts(currency, {
                range,
                categories: own(categories, currency),
                payees: own(payees, currency),
                tags: own(tags, currency),
                months: own(months, currency),
                top: own(top, currency),
                flow: own(flow, currency),
                compared: own(compared, currency),
                comparedBudgets: own(comparedBudgets, currency),
                lastDay,
              })}`,
          )
    }${budgetSection(budgets)}</div>`,
  });
}

function yearUpTo(today: string): Range {
  const { from, to } = periodAt('monthly', today) as Range;
  return { from: `${Number(from.slice(0, 4)) - 1}${addDays(to, 1).slice(4, 8)}01`, to };
}

function rangeForm({ from, to }: Range, today: string, error?: string): Html {
  const month = periodAt('monthly', today) as Range;
  const before = periodAt('monthly', addDays(month.from, -1)) as Range;
  const year = periodAt('yearly', today) as Range;
  const link = (label: string, range: Range) =>
    linkButton(hrefWith(pageRoutes.reports, { ...range }), label, 'quiet');
  return html`<form class="filters" action="${pageRoutes.reports}">${field({ name: 'from', label: 'From', type: 'date', value: from })}
${field({ name: 'to', label: 'To', type: 'date', value: to, error })}<div class="actions"><button class="secondary">Apply</button>${link('This month', month)}${link('Last month', before)}${link('This year', year)}</div></form>`;
}

const fileNames: Readonly<Record<ReportName, string>> = {
  'by-category': 'By category',
  'by-payee': 'By payee',
  'by-tag': 'By tag',
  'by-month': 'By month',
  trend: 'Change by month',
  top: 'Largest expenses',
  'cash-flow': 'Income and expense',
  compare: 'Last month compared, by category',
  'compare-budgets': 'Last month compared, by budget',
};

function fileLinks(range: Range) {
  return reportNames.map((name) => ({
    href: hrefWith(pageRoutes.reportFile.replace(':name', name), { ...range }),
    label: fileNames[name],
    download: true,
  }));
}
