import type { FormProblem } from '@octavo/web/html';
import { html } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { listExpenses, quickEntry } from '../expenses/index.ts';
import { parsePeriod, periodAt } from '../money/periods.ts';
import { reportByMonth } from '../reports/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { ruleOffer } from '../rules/index.ts';
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
import {
  createBudget,
  getBudget,
  getBudgetSummary,
  listBudgets,
  parseBudgetInput,
  parseBudgetPatch,
  updateBudget,
} from './budgets.ts';
import { deleteBudget } from './deletion.ts';
import { budgetPage, deletionPage, formPage, overviewPage, planOf } from './pages-views.ts';

const budgetsMax = 500;
const recentMax = 8;
const expensesMax = 50;

export function addBudgetPages(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { core, visitors: access } = parts;
  routes.get(pageRoutes.budgets, { access }, (visitor) => showOverview(visitor, parts));
  routes.get(pageRoutes.newBudget, { access }, async (visitor) => formPage(visitor, { values: {} }));
  routes.post(pageRoutes.budgets, { access }, (visitor) =>
    submit(visitor.visit, {
      work: () => {
        const given = parseBudgetInput(inputOf(visitor.visit));
        const { currency = 'USD' } = given;
        const limit = typedAmount(given.limit, { field: 'limit', currency });
        return createBudget(core, callerWithIdempotencyKey(visitor), { ...given, limit });
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

function addEditing(routes: PageRoutes<PageSession>, { core, visitors: access }: PageParts): void {
  routes.get(pageRoutes.editBudget, { access }, async (visitor) => {
    const budget = await getBudget(core, visitor.caller, idOf(visitor.visit));
    return formPage(visitor, { budget, values: {} });
  });
  routes.post(pageRoutes.editBudget, { access }, (visitor) => {
    const { visit, caller } = visitor;
    const id = idOf(visit);
    return submit(visit, {
      work: async () => {
        const change = parseBudgetPatch(inputOf(visit));
        const { currency = (await getBudget(core, caller, id)).currency } = change;
        const limit = change.limit && typedAmount(change.limit, { field: 'limit', currency });
        return updateBudget(core, caller, id, { ...change, limit, versions: versionsOf(visit) });
      },
      done: (budget) => {
        const text = `The budget was saved: ${planOf(budget)}.`;
        return visit.redirect(pathOf(pageRoutes.budget, id), { tone: 'good', text });
      },
      again: async (problem) => {
        const budget = await getBudget(core, caller, id);
        return formPage(visitor, { budget, values: visit.fields(), problem });
      },
    });
  });
  routes.get(pageRoutes.deleteBudget, { access }, (visitor) => confirmDeletion(visitor));
  routes.post(pageRoutes.deleteBudget, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return submit(visit, {
      work: () => deleteBudget(core, caller, idOf(visit), { cascade: visit.field('cascade') === 'true' }),
      done: () => visit.redirect(pageRoutes.budgets, { tone: 'good', text: 'The budget was deleted.' }),
      again: (problem) => confirmDeletion(visitor, problem),
    });
  });

  async function confirmDeletion(visitor: Visitor, problem?: FormProblem): Promise<string> {
    const { visit, caller } = visitor;
    const budget = await getBudget(core, caller, idOf(visit));
    const { total } = await listExpenses(core, caller, { budgetId: budget.id, limit: 1 });
    return deletionPage(visitor, { budget, expenses: total, problem });
  }
}

async function showOverview(visitor: Visitor, { core }: PageParts): Promise<string> {
  const { caller, today } = visitor;
  const [{ items: budgets }, { items: recent }, months] = await Promise.all([
    listBudgets(core, caller, { limit: budgetsMax }),
    listExpenses(core, caller, { limit: recentMax, sort: '-createdAt' }),
    reportByMonth(core, caller, periodAt('monthly', today) as { from: string; to: string }),
  ]);
  const quick = await quickEntry(core, visitor, { budgets, back: pageRoutes.budgets });
  return overviewPage(visitor, { budgets, recent, months, quick });
}

async function showBudget(visitor: Visitor, { core }: PageParts): Promise<string> {
  const { visit, caller, today } = visitor;
  const budget = await getBudget(core, caller, idOf(visit));
  // A link with a period that the budget no longer has shows the current one.
  const period = parsePeriod(budget.period, parameter(visit, 'period')) ?? periodAt(budget.period, today);
  const { from, to } = period;
  const range = { from: from ?? undefined, to: to ?? undefined };
  const [summary, expenses] = await Promise.all([
    getBudgetSummary(core, caller, budget.id, period.name),
    listExpenses(core, caller, { ...range, budgetId: budget.id, limit: expensesMax, sort: '-spentOn' }),
  ]);
  const back = pathOf(pageRoutes.budget, budget.id);
  const offer = await ruleOffer(core, visitor, parameter(visit, 'categorized'));
  const quick = html`${offer}${await quickEntry(core, visitor, { budgets: [budget], back })}`;
  return budgetPage(visitor, { budget, period, summary, expenses, quick });
}

/** Reads the form as a body of the API. */
function inputOf(visit: PageVisit): Record<string, unknown> {
  const { thresholds, ...given } = filled(visit, [
    'name',
    'limit',
    'currency',
    'period',
    'rollover',
    'startDate',
    'thresholds',
  ]);
  const percents = (thresholds ?? '').split(/[\s,;%]+/).filter((text) => text !== '');
  return { ...given, thresholds: percents.map((text) => (/^\d{1,4}$/.test(text) ? Number(text) : text)) };
}
