import type { FormProblem } from '#kit/html/form-problem.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { ownPath } from '#kit/html/visit.ts';
import { findBudgets, getBudget, listBudgets } from '../budgets/index.ts';
import { isDay } from '../periods.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import {
  commanderOf,
  filled,
  idOf,
  type PageParts,
  type PageSession,
  type PageVisit,
  parameter,
  submit,
  type Visitor,
  versionsOf,
} from '../site.ts';
import { money } from '../views.ts';
import {
  createExpense,
  deleteExpense,
  getExpense,
  parseExpenseInput,
  parseExpensePatch,
  updateExpense,
} from './expenses.ts';
import { checkRange, listCategories, listExpenses } from './list.ts';
import { deletionPage, formPage, listPage } from './pages-views.ts';
import { quickEntry } from './views.ts';

const pageSize = 50;
const budgetsMax = 500;
const filterNames = ['q', 'budget', 'category', 'tag', 'from', 'to'] as const;

export function addExpensePages(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { core, visitors: access } = parts;
  routes.get(pageRoutes.expenses, { access }, (visitor) => showList(visitor, parts));
  routes.get(pageRoutes.newExpense, { access }, (visitor) => showForm(visitor, parts));
  routes.post(pageRoutes.expenses, { access }, (visitor) => {
    const { visit } = visitor;
    return submit(visit, {
      work: () => createExpense(core, commanderOf(visitor), parseExpenseInput(inputOf(visit))),
      done: async ({ budgetId, description, amountMinor, currency }) => {
        const { name } = await getBudget(core, visitor.caller, budgetId);
        const text = `${description}, ${money(amountMinor, currency)}, was added to ${name}.`;
        return visit.redirect(backOf(visit), { tone: 'good', text });
      },
      again: (problem) => showForm(visitor, parts, problem),
    });
  });
  addEditing(routes, parts);
}

function addEditing(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { core, visitors: access } = parts;
  routes.get(pageRoutes.editExpense, { access }, (visitor) => showForm(visitor, parts));
  routes.post(pageRoutes.editExpense, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return submit(visit, {
      work: async () => {
        const given = await patchOf(visitor, parts);
        const change = parseExpensePatch(given);
        return updateExpense(core, caller, idOf(visit), { ...change, versions: versionsOf(visit) });
      },
      done: ({ budgetId }) =>
        visit.redirect(pathOf(pageRoutes.budget, budgetId), {
          tone: 'good',
          text: 'The expense was saved.',
        }),
      again: (problem) => showForm(visitor, parts, problem),
    });
  });
  routes.get(pageRoutes.deleteExpense, { access }, async (visitor) =>
    deletionPage(visitor, await getExpense(core, visitor.caller, idOf(visitor.visit))),
  );
  routes.post(pageRoutes.deleteExpense, { access }, async (visitor) => {
    const { visit, caller } = visitor;
    const { budgetId, description } = await getExpense(core, caller, idOf(visit));
    await deleteExpense(core, caller, idOf(visit));
    const text = `${description} was deleted, and reversed in the ledger.`;
    return visit.redirect(pathOf(pageRoutes.budget, budgetId), { tone: 'good', text });
  });
}

async function showList(visitor: Visitor, { core }: PageParts): Promise<string> {
  const { visit, caller } = visitor;
  const filter = Object.fromEntries(
    filterNames.map((name) => [name, parameter(visit, name).slice(0, 256)]),
  ) as Record<(typeof filterNames)[number], string>;
  const cursor = parameter(visit, 'cursor') || undefined;
  const { items: budgets } = await listBudgets(core, caller, { limit: budgetsMax });
  const [from, to] = [dayIn(filter.from), dayIn(filter.to)];
  checkRange(from, to);
  const page = await listExpenses(core, caller, {
    q: filter.q || undefined,
    budgetId: filter.budget || undefined,
    category: filter.category || undefined,
    tag: filter.tag || undefined,
    ...{ from, to, cursor, limit: pageSize, sort: '-spentOn' },
  });
  const categories = await listCategories(core, caller);
  const isFiltered = Object.values(filter).some((value) => value !== '');
  const quick = isFiltered
    ? undefined
    : await quickEntry(core, visitor, { budgets, back: pageRoutes.expenses });
  return listPage(visitor, { filter, page, budgets, categories, hasCursor: cursor !== undefined, quick });
}

/** The form for a new expense, or the one in the address, with what was typed. */
async function showForm(visitor: Visitor, { core }: PageParts, problem?: FormProblem): Promise<string> {
  const { visit, caller } = visitor;
  const { id } = visit.request.params as { readonly id?: string };
  const expense = id === undefined ? undefined : await getExpense(core, caller, id);
  const { items } = await listBudgets(core, caller, { limit: budgetsMax });
  const known = items.some((budget) => budget.id === expense?.budgetId);
  const other = expense && !known ? [...(await findBudgets(core, caller, [expense.budgetId])).values()] : [];
  return formPage(visitor, {
    ...{ expense, problem, values: visit.fields(), budgets: [...items, ...other] },
    categories: await listCategories(core, caller),
  });
}

const fieldNames = ['budgetId', 'description', 'amount', 'currency', 'rate', 'category', 'spentOn', 'notes'];

/** What the form says, as the API takes it. */
function inputOf(visit: PageVisit): Record<string, unknown> {
  return { ...filled(visit, fieldNames), tags: tagsOf(visit) };
}

/** The same for a change: what was emptied is taken away, and without a currency it is that of the budget. */
async function patchOf({ visit, caller }: Visitor, { core }: PageParts): Promise<Record<string, unknown>> {
  const before = await getExpense(core, caller, idOf(visit));
  const { tags, ...given } = inputOf(visit);
  const { currency } = await getBudget(core, caller, String(given.budgetId ?? before.budgetId));
  // Tags from elsewhere may have commas.
  const hasOtherTags = visit.field('tags').trim() !== before.tags.join(', ');
  return { category: null, notes: null, currency, ...given, ...(hasOtherTags && { tags }) };
}

function tagsOf(visit: PageVisit): string[] {
  return visit
    .field('tags')
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

function dayIn(text: string): string | undefined {
  return isDay(text) ? text : undefined;
}

function backOf(visit: PageVisit): string {
  const path = ownPath(visit.field('back'));
  return path === '/' ? pageRoutes.budgets : path;
}
