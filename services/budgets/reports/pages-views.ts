import { divideHalfEven } from '@octavo/documents/values';
import {
  barChart,
  type Content,
  card,
  columnChart,
  count,
  empty,
  type Html,
  html,
  linkButton,
  readerLocale,
  stats,
  table,
} from '@octavo/web/html';
import { type BudgetStanding, noBudget } from '../budgets/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import {
  balance,
  day,
  hrefWith,
  money,
  monthName,
  monthTick,
  periodWithDays,
  spendingMeter,
} from '../site/views.ts';
import { comparedMonths } from './breakdowns.ts';
import type {
  CashFlowRow,
  CategoryRow,
  CompareBudgetRow,
  CompareRow,
  PayeeRow,
  TagRow,
  TopRow,
  TrendRow,
} from './report.ts';

/** A year of months fits the chart, and more gets hard to read. */
const ticksMax = 12;
const barsMax = 20;

export interface Range {
  readonly from: string;
  readonly to: string;
}

export function noExpenses(): Html {
  return empty({
    icon: 'chart',
    title: 'Nothing to show',
    text: 'There are no expenses in this period. Choose another period, or add an expense.',
    actions: linkButton(pageRoutes.expenses, 'Go to expenses'),
  });
}

export interface Rows {
  readonly range: Range;
  readonly categories: readonly CategoryRow[];
  readonly payees: readonly PayeeRow[];
  readonly tags: readonly TagRow[];
  readonly months: readonly TrendRow[];
  readonly top: readonly TopRow[];
  readonly flow: readonly CashFlowRow[];
  readonly compared: readonly CompareRow[];
  readonly comparedBudgets: readonly CompareBudgetRow[];
  /** A day of the month that is compared. */
  readonly lastDay: string;
}

/** Figures and charts of a currency. */
export function charts(currency: string, rows: Rows): Html {
  const { range, categories, payees, tags, months, top, flow } = rows;
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
${flow.some(({ incomeMinor }) => incomeMinor !== 0) && card('Income and expense', flowTable(flow, currency))}
${comparisons(rows)}
${card(
  'By category',
  bars(
    'category',
    categories.map((row) => ({ ...row, name: row.category })),
    { currency, range },
  ),
)}
${
  payees.length > 0 &&
  card(
    'By payee',
    bars(
      'payee',
      payees.map((row) => ({ ...row, name: row.payee })),
      { currency, range },
    ),
  )
}
${
  tags.length > 0 &&
  card(
    'By tag',
    bars(
      'tag',
      tags.map((row) => ({ ...row, name: row.tag })),
      { currency, range },
    ),
  )
}
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

interface Bar {
  readonly name: string | null;
  readonly amountMinor: number | bigint;
}

/** The parameter of the list of expenses that shows those of a bar. */
const filters = { category: 'category', payee: 'q', tag: 'tag' } as const;

/** Spending by something, each bar with a link to its expenses. */
function bars(
  by: keyof typeof filters,
  rows: readonly Bar[],
  { currency, range }: { readonly currency: string; readonly range: Range },
): Html {
  const shown = rows.slice(0, barsMax);
  const others = rows.slice(barsMax);
  const rest = totalOf(others);
  const points = shown.map(({ name, amountMinor }) => ({
    label: name || `No ${by}`,
    value: Number(amountMinor),
    text: money(amountMinor, currency),
    href: name ? hrefWith(pageRoutes.expenses, { [filters[by]]: name, ...range }) : undefined,
  }));
  const other = { label: count(others.length, 'other'), value: Number(rest), text: money(rest, currency) };
  return barChart({
    caption: `Spending by ${by} in ${currency}`,
    heads: [`${by.slice(0, 1).toUpperCase()}${by.slice(1)}`, 'Spent'],
    points: others.length > 0 ? [...points, other] : points,
  });
}

function flowTable(rows: readonly CashFlowRow[], currency: string): Html {
  return table<CashFlowRow>({
    caption: `Income and expense by month in ${currency}`,
    rows,
    columns: [
      { header: 'Month', kind: 'main', cell: ({ month }) => monthName(month) },
      { header: 'Income', kind: 'number', cell: ({ incomeMinor }) => money(incomeMinor, currency) },
      { header: 'Expense', kind: 'number', cell: ({ expenseMinor }) => money(expenseMinor, currency) },
      { header: 'Net', kind: 'amount', cell: ({ netMinor }) => balance(netMinor, currency) },
    ],
  });
}

/** The comparisons by category and by budget; by budget first where no expense has a category. */
function comparisons({ compared, comparedBudgets, lastDay }: Rows): Content {
  if (compared.length === 0) return undefined;
  const [month] = comparedMonths(lastDay);
  const link = (parameters: Readonly<Record<string, string>>, label: string) =>
    html`<a href="${hrefWith(pageRoutes.expenses, { ...parameters, from: month.from, to: month.to })}">${label}</a>`;
  const byCategory = card(
    'Compared with before, by category',
    compareTable(compared, lastDay, {
      header: 'Category',
      cell: ({ category }) => (category === null ? 'No category' : link({ category }, category)),
    }),
  );
  const byBudget = card(
    'Compared with before, by budget',
    compareTable(comparedBudgets, lastDay, {
      header: 'Budget',
      cell: ({ budgetId, budget }) => link({ budget: budgetId ?? noBudget }, budget ?? 'Unassigned'),
    }),
  );
  const hasCategories = compared.some(({ category }) => category !== null);
  return hasCategories ? html`${byCategory}${byBudget}` : html`${byBudget}${byCategory}`;
}

function compareTable<R extends Omit<CompareRow, 'category'>>(
  rows: readonly R[],
  lastDay: string,
  main: { readonly header: string; readonly cell: (row: R) => Content },
): Html {
  const [now, before, yearAgo] = comparedMonths(lastDay).map(({ from }) => monthName(from.slice(0, 7)));
  return table<R>({
    caption: `Spending in ${now}, the month before and the same one last year`,
    rows: rows.slice(0, barsMax),
    columns: [
      { ...main, kind: 'main' },
      {
        header: now ?? '',
        kind: 'amount',
        cell: ({ amountMinor, currency }) => money(amountMinor, currency),
      },
      {
        header: before ?? '',
        kind: 'number',
        cell: ({ beforeMinor, currency }) => money(beforeMinor, currency),
      },
      {
        header: yearAgo ?? '',
        kind: 'number',
        cell: ({ lastYearMinor, currency }) => money(lastYearMinor, currency),
      },
    ],
  });
}

/** Budgets against what was spent, each in one of its periods. */
export function budgetSection(budgets: readonly BudgetStanding[]): Html | undefined {
  if (budgets.length === 0) return undefined;
  const rows = table<BudgetStanding>({
    caption: 'Budgets against what was spent',
    rows: budgets,
    columns: [
      {
        header: 'Budget',
        kind: 'main',
        cell: ({ id, name, period, spent, available }) =>
          html`<a href="${pathOf(pageRoutes.budget, id)}">${name}</a><div>${periodWithDays(period)}</div>${spendingMeter({ spent, available, passed: undefined })}`,
      },
      {
        header: 'Available',
        kind: 'number',
        cell: ({ available, currency }) => money(available, currency),
      },
      { header: 'Spent', kind: 'number', cell: ({ spent, currency }) => money(spent, currency) },
      {
        header: 'Left',
        kind: 'amount',
        cell: ({ spent, available, currency }) => balance(available - spent, currency),
      },
    ],
  });
  return card('Budgets against actual spending', rows);
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
      { header: 'Day', kind: 'plain', cell: ({ spentOn }) => day(spentOn) },
      { header: 'Amount', kind: 'amount', cell: ({ amountMinor, currency }) => money(amountMinor, currency) },
    ],
  });
}
