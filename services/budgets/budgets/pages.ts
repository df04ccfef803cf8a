import { AppError } from '@octavo/core';
import type { FormProblem } from '@octavo/web/html';
import { html } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import type { Context } from '../commands.ts';
import { lastChangeForm, listExpenses, quickEntry, usualCurrency } from '../expenses/index.ts';
import { isDay, periodAt } from '../money/periods.ts';
import { reportCashFlow } from '../reports/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { ruleOffer } from '../rules/index.ts';
import { invitationsOf, sharingOfBudget } from '../sharing/index.ts';
import {
  callerWithIdempotencyKey,
  filled,
  idOf,
  type PageParts,
  type PageSession,
  type PageVisit,
  parameter,
  submit,
  typedAmount,
  type Visitor,
  versionsOf,
} from '../site/page-context.ts';
import { checkRight } from './access/access.ts';
import { type BudgetSummary, budgetFields } from './budget.ts';
import {
  createBudget,
  getBudget,
  listBudgets,
  parseBudgetChange,
  parseBudgetInput,
  updateBudget,
} from './budgets.ts';
import { deleteBudget } from './deletion.ts';
import { budgetPage, deletionPage, formPage, overviewPage, planOf } from './pages-views.ts';
import { getBudgetHistory, getBudgetSummary } from './periods.ts';
import { noBudget } from './unassigned.ts';

const budgetsMax = 500;
const recentMax = 8;
const expensesMax = 50;
const historyPeriods = 12;

export function addBudgetPages(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { context, visitors: access } = parts;
  routes.get(pageRoutes.budgets, { access }, (visitor) => showOverview(visitor, parts));
  routes.get(pageRoutes.newBudget, { access }, async (visitor) =>
    formPage(visitor, { values: {}, currency: await usualCurrency(context, visitor.caller) }),
  );
  routes.post(pageRoutes.budgets, { access }, (visitor) =>
    submit(visitor.visit, {
      work: () => {
        const given = parseBudgetInput(inputOf(visitor.visit));
        const { currency = 'USD' } = given;
        const limit = typedAmount(given.limit, { field: 'limit', currency });
        return createBudget(context, callerWithIdempotencyKey(visitor), { ...given, limit });
      },
      done: (budget) =>
        visitor.visit.redirect(pathOf(pageRoutes.budget, budget.id), {
          tone: 'good',
          text: `The budget ${budget.name} was created: ${planOf(budget)}.`,
        }),
      again: (problem) => formPage(visitor, { values: visitor.visit.fields(), problem }),
    }),
  );
  routes.get(pageRoutes.budget, { access }, (visitor) => showBudget(visitor, parts));
  addEditing(routes, parts);
}

function addEditing(routes: PageRoutes<PageSession>, { context, visitors: access }: PageParts): void {
  routes.get(pageRoutes.editBudget, { access }, async (visitor) => {
    const budget = await getBudget(context, visitor.caller, idOf(visitor.visit));
    checkRight(budget.role, 'own');
    return formPage(visitor, { budget, values: {} });
  });
  routes.post(pageRoutes.editBudget, { access }, (visitor) => {
    const { visit, caller } = visitor;
    const id = idOf(visit);
    return submit(visit, {
      work: async () => {
        const change = parseBudgetChange({ ...inputOf(visit), ...filled(visit, ['from']) });
        const { currency = (await getBudget(context, caller, id)).currency } = change;
        const limit = change.limit && typedAmount(change.limit, { field: 'limit', currency });
        return updateBudget(context, caller, id, { ...change, limit, versions: versionsOf(visit) });
      },
      done: (budget) => {
        const text = `The budget was saved: ${planOf(budget)}.`;
        return visit.redirect(pathOf(pageRoutes.budget, id), { tone: 'good', text });
      },
      again: async (problem) => {
        const budget = await getBudget(context, caller, id);
        return formPage(visitor, { budget, values: visit.fields(), problem });
      },
    });
  });
  routes.get(pageRoutes.deleteBudget, { access }, (visitor) => confirmDeletion(visitor));
  routes.post(pageRoutes.deleteBudget, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return submit(visit, {
      work: () => deleteBudget(context, caller, idOf(visit), { cascade: visit.field('cascade') === 'true' }),
      done: () => visit.redirect(pageRoutes.budgets, { tone: 'good', text: 'The budget was deleted.' }),
      again: (problem) => confirmDeletion(visitor, problem),
    });
  });

  async function confirmDeletion(visitor: Visitor, problem?: FormProblem): Promise<string> {
    const { visit, caller } = visitor;
    const budget = await getBudget(context, caller, idOf(visit));
    checkRight(budget.role, 'own');
    const { total } = await listExpenses(context, caller, { budgetId: budget.id, limit: 1 });
    return deletionPage(visitor, { budget, expenses: total, problem });
  }
}

async function showOverview(visitor: Visitor, { context }: PageParts): Promise<string> {
  const { caller, today } = visitor;
  const [{ items: budgets }, { items: recent }, months] = await Promise.all([
    listBudgets(context, caller, { limit: budgetsMax }),
    listExpenses(context, caller, { limit: recentMax, sort: '-spentOn' }),
    reportCashFlow(context, caller, periodAt('monthly', today) as { from: string; to: string }),
  ]);
  const quick = await quickEntry(context, visitor, { budgets, back: pageRoutes.budgets });
  const invitations = await invitationsOf(context, visitor);
  const token = parameter(visitor.visit, 'undo');
  const undo = await lastChangeForm(context, visitor, { back: pageRoutes.budgets, token });
  const currency = await usualCurrency(context, caller);
  const waiting = budgets.length > 0 ? 0 : await unassignedTotal(context, caller);
  return overviewPage(visitor, { budgets, currency, waiting, recent, months, quick, invitations, undo });
}

/** The number of expenses without a budget. */
async function unassignedTotal(context: Context, caller: Visitor['caller']): Promise<number> {
  return (await listExpenses(context, caller, { budgetId: noBudget, limit: 1 })).total;
}

async function showBudget(visitor: Visitor, { context }: PageParts): Promise<string> {
  const { visit, caller } = visitor;
  const budget = await getBudget(context, caller, idOf(visit));
  const { id } = budget;
  const summary = await summaryOf(visitor, { context, id });
  const range = { from: summary.from ?? undefined, to: summary.to ?? undefined };
  const [history, expenses] = await Promise.all([
    getBudgetHistory(context, caller, id, historyPeriods),
    listExpenses(context, caller, { ...range, budgetId: id, limit: expensesMax, sort: '-spentOn' }),
  ]);
  const back = pathOf(pageRoutes.budget, budget.id);
  const offer = await ruleOffer(context, visitor, parameter(visit, 'categorized'));
  const quick = html`${offer}${await quickEntry(context, visitor, { budgets: [budget], back })}`;
  const sharing = await sharingOfBudget(context, visitor, budget);
  return budgetPage(visitor, { budget, summary, history, expenses, quick, sharing });
}

/** The chosen period. A link with one that the budget no longer has shows the current one. */
async function summaryOf(
  { visit, caller }: Visitor,
  { context, id }: { readonly context: Context; readonly id: string },
): Promise<BudgetSummary> {
  const day = parameter(visit, 'day');
  const period = parameter(visit, 'period');
  if (period === '') return getBudgetSummary(context, caller, id, isDay(day) ? { day } : {});
  return getBudgetSummary(context, caller, id, { period }).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'invalid_input')
      return getBudgetSummary(context, caller, id);
    throw error;
  });
}

/** Reads the form as a body of the API. */
function inputOf(visit: PageVisit): Record<string, unknown> {
  const { thresholds, periodDay, ...given } = filled(visit, Object.keys(budgetFields));
  const percents = (thresholds ?? '').split(/[\s,;%]+/).filter((text) => text !== '');
  const numberOf = (text: string) => (/^\d{1,4}$/.test(text) ? Number(text) : text);
  return {
    ...given,
    ...(periodDay !== undefined && { periodDay: numberOf(periodDay) }),
    thresholds: percents.map(numberOf),
  };
}
