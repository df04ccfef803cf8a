import type { FormProblem } from '@octavo/web/html';
import {
  badge,
  barChart,
  type Content,
  card,
  checkbox,
  confirm,
  count,
  empty,
  type Html,
  html,
  linkButton,
  stats,
  table,
} from '@octavo/web/html';
import type { Page } from '@octavo/web/rest';
import { type Expense, expenseTable } from '../expenses/index.ts';
import { addDays, nextPeriod, type Period, periodAt } from '../money/periods.ts';
import type { MonthRow } from '../reports/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import type { Visitor } from '../site/page-context.ts';
import {
  balance,
  hrefWith,
  money,
  periodTitle,
  periodWords,
  problems,
  spendingMeter,
} from '../site/views.ts';
import type { Budget, BudgetSummary } from './budget.ts';

/** Most currencies shown; more would fill the page. */
const currenciesMax = 3;

export { formPage } from './pages-form.ts';

interface OverviewView {
  readonly budgets: readonly Budget[];
  readonly recent: readonly Expense[];
  /** Spending of this month, by currency. */
  readonly months: readonly MonthRow[];
  readonly quick: Content;
}

/** All budgets and how they stand, with the form for a new expense. */
export function overviewPage(
  visitor: Visitor,
  { budgets, recent, months, quick }: OverviewView,
): Promise<string> {
  if (budgets.length === 0) return visitor.render({ title: 'Budgets', main: noBudgets() });
  const names = new Map(budgets.map(({ id, name }) => [id, name]));
  return visitor.render({
    title: 'Budgets',
    lead: periodTitle('monthly', periodAt('monthly', visitor.today)),
    actions: linkButton(pageRoutes.newBudget, 'New budget'),
    modules: ['live.js', 'amounts.js'],
    main: html`${quick}<div class="stack" data-live-region="overview">${figures(budgets, months)}${budgetTable(budgets, visitor.today)}
<section><h2>Recent expenses</h2>${
      recent.length === 0
        ? html`<p class="muted">Nothing yet. Enter what you spend above.</p>`
        : html`${expenseTable(recent, { names })}<p><a href="${pageRoutes.expenses}">See all expenses</a></p>`
    }</section></div>`,
  });
}

function noBudgets(): Html {
  return empty({
    icon: 'wallet',
    title: 'No budgets yet',
    text: `A budget is a limit for what you spend, such as ${money(40_000, 'USD')} a month on groceries. Create one, then enter expenses or import a file from your bank, and see what is left.`,
    actions: linkButton(pageRoutes.newBudget, 'Create your first budget', 'primary'),
  });
}

function figures(budgets: readonly Budget[], months: readonly MonthRow[]): Html {
  const over = budgets.filter(({ remainingMinor }) => remainingMinor < 0).length;
  return stats([
    ...months.slice(0, currenciesMax).map(({ amountMinor, currency }) => ({
      label: months.length > 1 ? `Spent in ${currency} this month` : 'Spent this month',
      value: money(amountMinor, currency),
    })),
    ...leftByCurrency(budgets).map(([currency, minor]) => ({
      label: `${minor < 0n ? 'Overspent' : 'Left'} in budgets in ${currency}`,
      value:
        minor < 0n ? html`<span class="negative">${money(-minor, currency)}</span>` : money(minor, currency),
    })),
    { label: 'Overspent', value: over === 0 ? 'None' : count(over, 'budget') },
  ]);
}

/** Amounts of different currencies are never added. */
function leftByCurrency(budgets: readonly Budget[]): [string, bigint][] {
  const left = new Map<string, bigint>();
  for (const { currency, remainingMinor } of budgets)
    left.set(currency, (left.get(currency) ?? 0n) + BigInt(remainingMinor));
  return [...left].slice(0, currenciesMax);
}

function budgetTable(budgets: readonly Budget[], today: string): Html {
  return table<Budget>({
    caption: 'Budgets, newest first',
    rows: budgets,
    columns: [
      {
        header: 'Budget',
        kind: 'main',
        cell: (budget) => html`<a href="${pathOf(pageRoutes.budget, budget.id)}">${budget.name}</a>
<div>${planOf(budget)} · ${periodTitle(budget.period, periodAt(budget.period, today))}</div>`,
      },
      {
        header: 'Progress',
        cell: ({ spentMinor, remainingMinor }) =>
          spendingMeter({ spent: spentMinor, available: BigInt(spentMinor) + BigInt(remainingMinor) }),
      },
      {
        header: 'Spent',
        kind: 'number',
        cell: ({ spentMinor, currency }) => money(spentMinor, currency),
      },
      {
        header: 'Left',
        kind: 'number',
        cell: ({ remainingMinor, currency }) => html`<b>${balance(remainingMinor, currency)}</b>`,
      },
    ],
  });
}

/** `$400.00 a month, rolls over`. */
export function planOf({ limitMinor, currency, period, rollover }: Budget): string {
  const carried = rollover === 'none' || period === 'none' ? '' : ', rolls over';
  return `${money(limitMinor, currency)} ${periodWords[period]}${carried}`;
}

interface BudgetView {
  readonly budget: Budget;
  readonly period: Period;
  readonly summary: BudgetSummary;
  readonly expenses: Page<Expense>;
  readonly quick: Content;
}

/** One budget in one period: how it stands, by category, and its expenses. */
export function budgetPage(
  visitor: Visitor,
  { budget, period, summary, expenses, quick }: BudgetView,
): Promise<string> {
  const { id, name } = budget;
  const all = hrefWith(pageRoutes.expenses, { budget: id, from: period.from ?? '', to: period.to ?? '' });
  const isMore = expenses.next !== undefined;
  return visitor.render({
    title: name,
    lead: planOf(budget),
    parent: { href: pageRoutes.budgets, label: 'Budgets' },
    actions: html`${linkButton(pathOf(pageRoutes.editBudget, id), 'Edit')}<a class="button secondary" href="${pathOf(pageRoutes.deleteBudget, id)}" data-dialog>Delete</a>`,
    modules: ['live.js', 'amounts.js'],
    main: html`${quick}<div class="stack" data-live-region="budget">${periodLinks(visitor, budget, period)}${standing(budget, summary)}
${summary.byCategory.length > 0 && card('By category', categories(summary))}
<section><h2>${count(expenses.total, 'expense')}</h2>${
      expenses.items.length === 0
        ? html`<p class="muted">Nothing was spent in this period.</p>`
        : html`${expenseTable(expenses.items)}${isMore && html`<p><a href="${all}">See all ${count(expenses.total, 'expense')}</a></p>`}`
    }</section></div>`,
  });
}

function periodLinks({ today }: Visitor, { id, period: kind }: Budget, period: Period): Content {
  if (period.from === null) return undefined;
  const link = (label: string, to: Period) =>
    linkButton(hrefWith(pathOf(pageRoutes.budget, id), { period: to.name }), label);
  const current = periodAt(kind, today);
  return html`<nav class="pager" aria-label="Periods"><b>${periodTitle(kind, period)}</b><span class="actions">${link('Previous', periodAt(kind, addDays(period.from, -1)))}
${period.name !== current.name && link('Current', current)}${link('Next', nextPeriod(kind, period))}</span></nav>`;
}

function standing({ rollover }: Budget, summary: BudgetSummary): Html {
  const { currency, limitMinor, carriedMinor, spentMinor, availableMinor, remainingMinor } = summary;
  const carried = { label: 'Carried over', value: balance(carriedMinor, currency) };
  return html`${stats([
    { label: 'Limit', value: money(limitMinor, currency) },
    ...(rollover === 'none' ? [] : [carried]),
    { label: 'Spent', value: money(spentMinor, currency) },
    { label: 'Left', value: balance(remainingMinor, currency) },
  ])}<p>${spendingMeter({ spent: spentMinor, available: availableMinor })}</p>
${remainingMinor < 0 && html`<p>${badge('bad', 'overspent')} ${money(-remainingMinor, currency)} more than was available.</p>`}`;
}

function categories({ byCategory, currency }: BudgetSummary): Html {
  return barChart({
    caption: 'Spending by category',
    heads: ['Category', 'Spent'],
    points: byCategory.map(({ category, amountMinor }) => ({
      label: category ?? 'No category',
      value: Number(amountMinor),
      text: money(amountMinor, currency),
    })),
  });
}

interface DeletionView {
  readonly budget: Budget;
  readonly expenses: number;
  readonly problem?: FormProblem | undefined;
}

export function deletionPage(visitor: Visitor, { budget, expenses, problem }: DeletionView): Promise<string> {
  const { id, name } = budget;
  const back = pathOf(pageRoutes.budget, id);
  const text =
    expenses === 0
      ? 'It has no expenses.'
      : `It has ${count(expenses, 'expense')}. They are deleted with it, and reversed in the ledger. This cannot be undone.`;
  const box = { name: 'cascade', label: `Delete ${count(expenses, 'expense')} too` };
  return visitor.render({
    title: `Delete ${name}`,
    parent: { href: back, label: name },
    main: html`${problems(problem && { ...problem, problem: undefined }, {})}${confirm({
      title: `Delete “${name}”?`,
      text,
      action: pathOf(pageRoutes.deleteBudget, id),
      csrfField: visitor.csrfField,
      ...(expenses > 0 && { fields: checkbox(box) }),
      problem: problem?.problem,
      deed: 'Delete budget',
      cancelHref: back,
    })}`,
  });
}
