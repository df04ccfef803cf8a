import { card, empty, linkButton, stats } from '#kit/html/blocks.ts';
import { barChart, columnChart } from '#kit/html/charts.ts';
import { field } from '#kit/html/form.ts';
import { count } from '#kit/html/format.ts';
import { type Html, html } from '#kit/html/html.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { table } from '#kit/html/table.ts';
import { checkRange } from '../expenses/index.ts';
import { addDays, isDay, periodAt } from '../periods.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { type PageParts, type PageSession, parameter, type Visitor } from '../site.ts';
import { day, hrefWith, money, monthName, monthTick } from '../views.ts';
import type { CategoryRow, TopRow, TrendRow } from './report.ts';
import { reportByCategory, reportTop, reportTrend } from './reports.ts';

interface Range {
  readonly from: string;
  readonly to: string;
}

/** A year of months fits the chart, and more gets hard to read. */
const ticksMax = 12;
const categoriesMax = 20;

/** Charts of the spending by month and category. */
export function addReportPages(routes: PageRoutes<PageSession>, parts: PageParts): void {
  routes.get(pageRoutes.reports, { access: parts.visitors }, (visitor) => showReports(visitor, parts));
}

async function showReports(visitor: Visitor, { core }: PageParts): Promise<string> {
  const { visit, caller, today } = visitor;
  const [from, to] = [parameter(visit, 'from'), parameter(visit, 'to')];
  const range = {
    from: isDay(from) ? from : yearUpTo(today).from,
    to: isDay(to) ? to : yearUpTo(today).to,
  };
  checkRange(range.from, range.to);
  const [categories, months, top] = await Promise.all([
    reportByCategory(core, caller, range),
    reportTrend(core, caller, range),
    reportTop(core, caller, range),
  ]);
  const currencies = [...new Set(months.map(({ currency }) => currency))];
  const own = <R extends { readonly currency: string }>(rows: readonly R[], currency: string) =>
    rows.filter((row) => row.currency === currency);
  return visitor.render({
    title: 'Reports',
    lead: html`${day(range.from)} to ${day(range.to)}`,
    modules: ['live.js'],
    main: html`${rangeForm(range, today)}<div class="stack" data-live-region="reports">${
      currencies.length === 0
        ? noExpenses()
        : currencies.map(
            (currency) =>
              html`${currencies.length > 1 && html`<h2>${currency}</h2>`}${charts(currency, {
                categories: own(categories, currency),
                months: own(months, currency),
              })}`,
          )
    }${top.length > 0 && card('Largest expenses', topTable(top))}</div>`,
  });
}

function yearUpTo(today: string): Range {
  const { from, to } = periodAt('monthly', today) as Range;
  return { from: `${Number(from.slice(0, 4)) - 1}${addDays(to, 1).slice(4, 8)}01`, to };
}

function rangeForm({ from, to }: Range, today: string): Html {
  const month = periodAt('monthly', today) as Range;
  const before = periodAt('monthly', addDays(month.from, -1)) as Range;
  const year = periodAt('yearly', today) as Range;
  const link = (label: string, range: Range) =>
    linkButton(hrefWith(pageRoutes.reports, { ...range }), label, 'quiet');
  return html`<form class="filters" action="${pageRoutes.reports}">${field({ name: 'from', label: 'From', type: 'date', value: from })}
${field({ name: 'to', label: 'To', type: 'date', value: to })}<div class="actions"><button class="secondary">Apply</button>${link('This month', month)}${link('Last month', before)}${link('This year', year)}</div></form>`;
}

function noExpenses(): Html {
  return empty({
    icon: 'chart',
    title: 'Nothing to show',
    text: 'There are no expenses in this time. Choose another, or enter what you spent.',
    actions: linkButton(pageRoutes.expenses, 'Go to expenses'),
  });
}

interface Rows {
  readonly categories: readonly CategoryRow[];
  readonly months: readonly TrendRow[];
}

function charts(currency: string, { categories, months }: Rows): Html {
  const total = months.reduce((all, { amountMinor }) => all + amountMinor, 0);
  const last = months.at(-1);
  const change = last?.changePercent;
  return html`${stats([
    { label: 'Spent', value: money(total, currency) },
    { label: 'A month, on average', value: money(Math.round(total / Math.max(months.length, 1)), currency) },
    ...(last && typeof change === 'number'
      ? [
          {
            label: `${monthName(last.month)}, compared with the month before`,
            value: `${change > 0 ? '+' : ''}${change.toFixed(1)} %`,
          },
        ]
      : []),
  ])}
${card('By month', byMonth(months, currency))}
${card('By category', byCategory(categories, currency))}`;
}

function byMonth(months: readonly TrendRow[], currency: string): Html {
  const every = Math.ceil(months.length / ticksMax);
  return columnChart({
    caption: `Spending by month in ${currency}`,
    heads: ['Month', 'Spent'],
    points: months.map(({ month, amountMinor }, index) => ({
      label: monthTick(month, index === 0),
      value: amountMinor,
      text: money(amountMinor, currency),
    })),
    ticks: months.map((_, index) => index).filter((index) => index % every === 0),
    format: (minor) => money(minor, currency).replace(/\.0+$/, ''),
  });
}

function byCategory(categories: readonly CategoryRow[], currency: string): Html {
  const shown = categories.slice(0, categoriesMax);
  const others = categories.slice(categoriesMax);
  const rest = others.reduce((all, { amountMinor }) => all + amountMinor, 0);
  const points = shown.map(({ category, amountMinor }) => ({
    label: category ?? 'No category',
    value: amountMinor,
    text: money(amountMinor, currency),
  }));
  const other = {
    label: count(others.length, 'other'),
    value: rest,
    text: money(rest, currency),
  };
  return barChart({
    caption: `Spending by category in ${currency}`,
    heads: ['Category', 'Spent'],
    points: others.length > 0 ? [...points, other] : points,
  });
}

function topTable(rows: readonly TopRow[]): Html {
  return table<TopRow>({
    caption: 'Largest expenses',
    rows,
    columns: [
      {
        header: 'Expense',
        kind: 'main',
        cell: ({ id, description, category }) =>
          html`<a href="${pathOf(pageRoutes.editExpense, id)}">${description}</a>${category && html`<div>${category}</div>`}`,
      },
      { header: 'Day', kind: 'fit', cell: ({ spentOn }) => day(spentOn) },
      { header: 'Amount', kind: 'number', cell: ({ amountMinor, currency }) => money(amountMinor, currency) },
    ],
  });
}
