import { divideHalfEven } from '@octavo/documents/values';
import {
  barChart,
  card,
  columnChart,
  count,
  empty,
  field,
  type Html,
  html,
  linkButton,
  readerLocale,
  stats,
  table,
} from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { addDays, isDay, periodAt } from '../money/periods.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { type PageParts, type PageSession, parameter, type Visitor } from '../site/page-context.ts';
import { day, hrefWith, money, monthName, monthTick, rangeProblem } from '../site/views.ts';
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
  const toProblem = rangeProblem(range.from, range.to);
  if (toProblem) {
    visit.reply.code(400);
    return visitor.render({ title: 'Reports', main: rangeForm(range, today, toProblem) });
  }
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
                top: own(top, currency),
              })}`,
          )
    }</div>`,
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

function noExpenses(): Html {
  return empty({
    icon: 'chart',
    title: 'Nothing to show',
    text: 'There are no expenses in this period. Choose another period, or add an expense.',
    actions: linkButton(pageRoutes.expenses, 'Go to expenses'),
  });
}

interface Rows {
  readonly categories: readonly CategoryRow[];
  readonly months: readonly TrendRow[];
  readonly top: readonly TopRow[];
}

function charts(currency: string, { categories, months, top }: Rows): Html {
  const total = totalOf(months);
  const last = months.at(-1);
  const change = last?.changePercent;
  return html`${stats([
    { label: 'Spent', value: money(total, currency) },
    {
      label: 'Monthly average',
      value: money(divideHalfEven(total, BigInt(Math.max(months.length, 1))), currency),
    },
    ...(last && typeof change === 'number'
      ? [
          {
            label: `${monthName(last.month)}, compared with the month before`,
            value: changeText(change),
          },
        ]
      : []),
  ])}
${card('By month', byMonth(months, currency))}
${card('By category', byCategory(categories, currency))}
${top.length > 0 && card('Largest expenses', topTable(top))}`;
}

const percentMax = 1_000;

/** `+12.5%`; a change that no percentage makes clear is how many times as much it is. */
function changeText(percent: number): string {
  const locale = readerLocale() ?? 'en';
  if (percent >= percentMax)
    return `${(percent / 100 + 1).toLocaleString(locale, { maximumSignificantDigits: 3 })} times as much`;
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return (percent / 100).toLocaleString(locale, { style: 'percent', signDisplay: 'exceptZero', ...digits });
}

function byMonth(months: readonly TrendRow[], currency: string): Html {
  const every = Math.ceil(months.length / ticksMax);
  return columnChart({
    caption: `Spending by month in ${currency}`,
    heads: ['Month', 'Spent'],
    points: months.map(({ month, amountMinor }, index) => ({
      label: monthTick(month, index === 0),
      value: Number(amountMinor),
      text: money(amountMinor, currency),
    })),
    ticks: months.map((_, index) => index).filter((index) => index % every === 0),
    format: (minor) => money(minor, currency).replace(/\.0+$/, ''),
  });
}

function byCategory(categories: readonly CategoryRow[], currency: string): Html {
  const shown = categories.slice(0, categoriesMax);
  const others = categories.slice(categoriesMax);
  const rest = totalOf(others);
  const points = shown.map(({ category, amountMinor }) => ({
    label: category ?? 'No category',
    value: Number(amountMinor),
    text: money(amountMinor, currency),
  }));
  const other = {
    label: count(others.length, 'other'),
    value: Number(rest),
    text: money(rest, currency),
  };
  return barChart({
    caption: `Spending by category in ${currency}`,
    heads: ['Category', 'Spent'],
    points: others.length > 0 ? [...points, other] : points,
  });
}

function totalOf(rows: readonly { readonly amountMinor: number | bigint }[]): bigint {
  return rows.reduce((all, { amountMinor }) => all + BigInt(amountMinor), 0n);
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
