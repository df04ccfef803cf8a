import { digitsOf } from '@octavo/documents/values';
import type { FormProblem } from '@octavo/web/html';
import {
  badge,
  barChart,
  type Content,
  card,
  checkbox,
  columnChart,
  confirm,
  count,
  empty,
  type Html,
  html,
  linkButton,
  stats,
} from '@octavo/web/html';
import type { Page } from '@octavo/web/rest';
import { adderNames, type Expense, elsewhere, expenseTable } from '../expenses/index.ts';
import { addDays, daysOf, hasPeriodDay, periodAt } from '../money/periods.ts';
import type { CashFlowRow } from '../reports/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import type { Visitor } from '../site/page-context.ts';
import {
  balance,
  dialogLink,
  hrefWith,
  money,
  periodTick,
  periodTitle,
  periodWithDays,
  periodWords,
  problems,
  spendingMeter,
} from '../site/views.ts';
import type { Budget, BudgetPeriod, BudgetSummary } from './budget.ts';
import { noBudget } from './unassigned.ts';

/** Most currencies shown; more would fill the page. */
const currenciesMax = 3;

export { formPage } from './pages-form.ts';

interface OverviewView {
  readonly budgets: readonly Budget[];
  /** Number of expenses that wait for a first budget. */
  readonly waiting: number;
  readonly recent: readonly Expense[];
  /** Income and expense of this month, by currency. */
  readonly months: readonly CashFlowRow[];
  readonly quick: Content;
  /** Invitations that wait for the reader. */
  readonly invitations: Content;
  /** The usual currency of the reader. */
  readonly currency: string;
  /** The change that was just made, which can be undone. */
  readonly undo: Content;
}

/** All budgets and how they stand, with the form for a new expense. */
export function overviewPage(
  visitor: Visitor,
  { budgets, waiting, recent, months, quick, invitations, undo, currency }: OverviewView,
): Promise<string> {
  if (budgets.length === 0)
    return visitor.render({ title: 'Budgets', main: html`${invitations}${noBudgets(waiting, currency)}` });
  const names = new Map(budgets.map(({ id, name }) => [id, name]));
  return visitor.render({
    title: 'Budgets',
    lead: periodTitle('monthly', periodAt('monthly', visitor.today)),
    actions: linkButton(pageRoutes.newBudget, 'New budget'),
    modules: ['live.js', 'amounts.js'],
    main: html`${undo}${invitations}${quick}<div class="stack" data-live-region="overview">${figures(budgets, months)}${budgetList(budgets, visitor.today)}
<section><h2>Recent expenses</h2>${elsewhere(budgets)}${
      recent.length === 0
        ? budgets.some(({ role }) => role === 'owner') &&
          html`<p class="muted">Nothing yet. Enter what you spend above.</p>`
        : html`${expenseTable(recent, { names, adders: adderNames(visitor, false) })}<p><a href="${pageRoutes.expenses}">See all expenses</a></p>`
    }</section></div>`,
  });
}

function noBudgets(waiting: number, currency: string): Html {
  const example = `${money(400 * 10 ** digitsOf(currency), currency)} a month on groceries`;
  if (waiting > 0)
    return empty({
      icon: 'wallet',
      title: `${count(waiting, 'expense')} ${waiting === 1 ? 'waits' : 'wait'} for a budget`,
      text: `Sort them by payee, which creates the budgets, or create one yourself, such as ${example}.`,
      actions: html`${linkButton(pageRoutes.sortExpenses, 'Sort by payee', 'primary')}${linkButton(pageRoutes.newBudget, 'Create a budget')}${linkButton(hrefWith(pageRoutes.expenses, { budget: noBudget }), 'See them')}`,
    });
  return empty({
    icon: 'wallet',
    title: 'No budgets yet',
    text: `A budget is a limit for what you spend, such as ${example}. Create one, then enter expenses or import a file from your bank, and see what is left.`,
    actions: html`${linkButton(pageRoutes.newBudget, 'Create your first budget', 'primary')}${linkButton(pageRoutes.import, 'Import a file')}`,
  });
}

/** Sums of the reader's own budgets: those of others are in the list alone. */
function figures(all: readonly Budget[], months: readonly CashFlowRow[]): Html {
  const budgets = all.filter(({ role }) => role === 'owner');
  const over = budgets.filter(({ remainingMinor }) => remainingMinor < 0).length;
  return stats([
    ...months.slice(0, currenciesMax).flatMap((month) => monthFigures(month, months.length > 1)),
    ...leftByCurrency(budgets).map(([currency, minor]) => ({
      label: `${minor < 0n ? 'Overspent' : 'Left'} in budgets in ${currency}`,
      value:
        minor < 0n ? html`<span class="negative">${money(-minor, currency)}</span>` : money(minor, currency),
    })),
    { label: 'Overspent', value: over === 0 ? 'None' : count(over, 'budget') },
  ]);
}

/** Spending of a month and, if there was income, what was earned and is left of it. */
function monthFigures({ currency, incomeMinor, expenseMinor, netMinor }: CashFlowRow, isNamed: boolean) {
  const of = isNamed ? ` in ${currency}` : '';
  const spent = { label: `Spent${of} this month`, value: html`${money(expenseMinor, currency)}` };
  if (incomeMinor === 0) return [spent];
  return [
    { label: `Earned${of} this month`, value: html`${money(incomeMinor, currency)}` },
    spent,
    { label: `Left${of} this month`, value: balance(netMinor, currency) },
  ];
}

/** Amounts of different currencies are never added. */
function leftByCurrency(budgets: readonly Budget[]): [string, bigint][] {
  const left = new Map<string, bigint>();
  for (const { currency, remainingMinor } of budgets)
    left.set(currency, (left.get(currency) ?? 0n) + BigInt(remainingMinor));
  return [...left].slice(0, currenciesMax);
}

function budgetList(budgets: readonly Budget[], today: string): Html {
  return html`<section><h2 class="hidden">Budgets, newest first</h2><ul class="plans">${budgets.map((budget) => standingOf(budget, today))}</ul>
<p class="small muted">The line in a bar is today: what is spent up to it is in step with the period. The gap in a red bar is the limit.</p></section>`;
}

/** A budget with what is left and for how long. */
function standingOf(budget: Budget, today: string): Html {
  const { id, name, spentMinor, remainingMinor, currency, role, sharedBy } = budget;
  const of = role === 'owner' ? '' : ` · shared by ${sharedBy?.username ?? 'another person'}`;
  const period = periodAt(budget.period, today, budget.periodDay);
  const days = daysOf(period, today);
  const left =
    remainingMinor < 0
      ? html`<b class="negative">${money(-remainingMinor, currency)} over</b>`
      : html`<b>${money(remainingMinor, currency)} left</b>`;
  const spent = `${money(spentMinor, currency)} spent`;
  return html`<li><p><span><a href="${pathOf(pageRoutes.budget, id)}">${name}</a> <small>${planOf(budget)} · ${periodWithDays(period)}${of}</small></span>
<span class="number">${left} <small>${days ? `${spent}, ${count(days.left, 'day')} to go` : spent}</small></span></p>${spendingMeter(
    {
      spent: spentMinor,
      available: BigInt(spentMinor) + BigInt(remainingMinor),
      passed: days && (days.all - days.left + 1) / days.all,
    },
  )}</li>`;
}

/** `$400.00 a month, rolls over`. */
export function planOf({ limitMinor, currency, period, periodDay, rollover }: Budget): string {
  const carried = rollover === 'none' || period === 'none' ? '' : ', rolls over';
  const begin = periodDay > 1 && hasPeriodDay(period) ? `, from day ${periodDay}` : '';
  return `${money(limitMinor, currency)} ${periodWords[period]}${begin}${carried}`;
}

interface BudgetView {
  readonly budget: Budget;
  readonly summary: BudgetSummary;
  readonly history: readonly BudgetPeriod[];
  readonly expenses: Page<Expense>;
  readonly quick: Content;
  /** Parts of the head about its owner and members. */
  readonly sharing: {
    readonly isShared: boolean;
    readonly lead: string | undefined;
    readonly action: Content;
  };
}

/** One budget in one period: how it stands, by category, and its expenses. */
export function budgetPage(
  visitor: Visitor,
  { budget, summary, history, expenses, quick, sharing }: BudgetView,
): Promise<string> {
  const { id, name, role } = budget;
  const all = hrefWith(pageRoutes.expenses, { budget: id, from: summary.from ?? '', to: summary.to ?? '' });
  const isMore = expenses.next !== undefined;
  return visitor.render({
    title: name,
    lead: html`${planOf(budget)}${sharing.lead && html`<br>${sharing.lead}`}`,
    parent: { href: pageRoutes.budgets, label: 'Budgets' },
    actions:
      role === 'owner'
        ? html`${sharing.action}${linkButton(pathOf(pageRoutes.editBudget, id), 'Edit')}${dialogLink(pathOf(pageRoutes.deleteBudget, id), 'Delete')}`
        : sharing.action,
    modules: ['live.js', 'amounts.js'],
    main: html`${quick}<div class="stack" data-live-region="budget">${periodLinks(visitor, budget, summary)}${standing(budget, summary)}
${history.length > 1 && card('Period by period', historyChart(budget, history))}
${summary.byCategory.length > 0 && card('By category', categories(summary))}
<section><h2>${count(expenses.total, 'expense')}</h2>${
      expenses.items.length === 0
        ? html`<p class="muted">Nothing was spent in this period.</p>`
        : html`${expenseTable(expenses.items, { isReadOnly: role === 'viewer', adders: adderNames(visitor, sharing.isShared) })}${isMore && html`<p><a href="${all}">See all ${count(expenses.total, 'expense')}</a></p>`}`
    }</section></div>`,
  });
}

function periodLinks({ today }: Visitor, { id }: Budget, { period, from, to }: BudgetSummary): Content {
  if (from === null || to === null) return undefined;
  const link = (label: string, of: string) =>
    linkButton(hrefWith(pathOf(pageRoutes.budget, id), { day: of }), label);
  const isCurrent = from <= today && today <= to;
  return html`<nav class="pager" aria-label="Periods"><b>${periodWithDays({ name: period, from, to })}</b><span class="actions">${link('Previous', addDays(from, -1))}
${!isCurrent && link('Current', today)}${link('Next', addDays(to, 1))}</span></nav>`;
}

/** Spending in each period, with a line at what was the limit then. */
function historyChart({ id, currency }: Budget, history: readonly BudgetPeriod[]): Html {
  return columnChart({
    caption: 'Spent in each period, with a line at its limit',
    heads: ['Period', 'Spent of the limit'],
    points: history.map(({ period, from, to, spentMinor, limitMinor }, index) => ({
      label: periodWithDays({ name: period, from, to }),
      tick: periodTick({ name: period, from, to }, index === 0),
      value: Number(spentMinor),
      mark: limitMinor,
      text: `${money(spentMinor, currency)} of ${money(limitMinor, currency)}`,
      href: hrefWith(pathOf(pageRoutes.budget, id), { day: from ?? '' }),
    })),
    ticks: history.map((_, index) => index).filter((index) => index % 2 === 0),
    format: (minor) => money(minor, currency).replace(/\.0+$/, ''),
  });
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
