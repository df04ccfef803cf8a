import { readNumber } from '@octavo/documents/values';
import type { FormProblem } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { ownPath } from '@octavo/web/pages';
import { findBudgets, getBudget, listBudgets } from '../budgets/index.ts';
import { invalid } from '../edges/schema-parser.ts';
import { isDay } from '../money/periods.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import {
  callerWithIdempotencyKey,
  filled,
  idOf,
  type PageParts,
  type PageSession,
  type PageVisit,
  parameter,
  readingOfReader,
  submit,
  typedAmount,
  typedTags,
  type Visitor,
  versionsOf,
} from '../site/page-context.ts';
import { hrefWith, money, rangeProblem } from '../site/views.ts';
import type { ExpensePatch } from './expense.ts';
import {
  createExpense,
  deleteExpense,
  getExpense,
  parseExpenseInput,
  parseExpensePatch,
  updateExpense,
} from './expenses.ts';
import { listCategories, listExpenses } from './list.ts';
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
    const { visit, caller } = visitor;
    return submit(visit, {
      work: async () => {
        const given = parseExpenseInput(inputOf(visit));
        const currency = given.currency ?? (await getBudget(core, caller, given.budgetId)).currency;
        return createExpense(core, callerWithIdempotencyKey(visitor), {
          ...given,
          ...typedPrice(given, currency),
        });
      },
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
    let categoryBefore: string | null = null;
    return submit(visit, {
      work: async () => {
        categoryBefore = (await getExpense(core, caller, idOf(visit))).category;
        const given = await patchOf(visitor, parts);
        const change = parseExpensePatch(given);
        const price = typedPrice(change, given.currency);
        return updateExpense(core, caller, idOf(visit), { ...change, ...price, versions: versionsOf(visit) });
      },
      done: ({ id, budgetId, description, amountMinor, currency, category }) => {
        const categorized = category !== null && category !== categoryBefore ? id : '';
        return visit.redirect(hrefWith(pathOf(pageRoutes.budget, budgetId), { categorized }), {
          tone: 'good',
          text: `${description}, ${money(amountMinor, currency)}, was saved.`,
        });
      },
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
  const toProblem = rangeProblem(from, to);
  if (toProblem) visit.reply.code(400);
  const wanted = {
    q: filter.q || undefined,
    budgetId: filter.budget || undefined,
    category: filter.category || undefined,
    tag: filter.tag || undefined,
    from,
    to,
    cursor,
    limit: pageSize,
    sort: '-spentOn',
  } as const;
  const page = toProblem
    ? { items: [], total: 0, next: undefined }
    : await listExpenses(core, caller, wanted);
  const categories = await listCategories(core, caller);
  const isFiltered = Object.values(filter).some((value) => value !== '');
  const quick = isFiltered
    ? undefined
    : await quickEntry(core, visitor, { budgets, back: pageRoutes.expenses });
  const hasCursor = cursor !== undefined;
  return listPage(visitor, { filter, toProblem, page, budgets, categories, hasCursor, quick });
}

/** The form of a new expense, or of the one in the address, with the typed values. */
async function showForm(visitor: Visitor, { core }: PageParts, problem?: FormProblem): Promise<string> {
  const { visit, caller } = visitor;
  const { id } = visit.request.params as { readonly id?: string };
  const expense = id === undefined ? undefined : await getExpense(core, caller, id);
  const { items } = await listBudgets(core, caller, { limit: budgetsMax });
  const known = items.some((budget) => budget.id === expense?.budgetId);
  const other = expense && !known ? [...(await findBudgets(core, caller, [expense.budgetId])).values()] : [];
  return formPage(visitor, {
    expense,
    problem,
    values: visit.fields(),
    budgets: [...items, ...other],
    categories: await listCategories(core, caller),
  });
}

const fieldNames = ['budgetId', 'description', 'amount', 'currency', 'rate', 'category', 'spentOn', 'notes'];

/** Reads the form as a body of the API. */
function inputOf(visit: PageVisit): Record<string, unknown> {
  return { ...filled(visit, fieldNames), tags: typedTags(visit) };
}

/** Reads the form as a change: emptied fields are cleared, and without a currency it is that of the budget. */
async function patchOf(
  { visit, caller }: Visitor,
  { core }: PageParts,
): Promise<Record<string, unknown> & { readonly currency: string }> {
  const before = await getExpense(core, caller, idOf(visit));
  const { tags, ...given } = inputOf(visit);
  const { currency } = await getBudget(core, caller, String(given.budgetId ?? before.budgetId));
  // Tags from elsewhere may have commas.
  const hasOtherTags = visit.field('tags').trim() !== before.tags.join(', ');
  const paidIn = typeof given.currency === 'string' ? given.currency : currency;
  return { category: null, notes: null, ...given, currency: paidIn, ...(hasOtherTags && { tags }) };
}

/** The amount and the rate as typed. */
function typedPrice<T extends ExpensePatch>(
  { amount, rate }: T,
  currency: string,
): Pick<T, 'amount' | 'rate'> {
  const read = typeof rate === 'string' ? readNumber(rate, readingOfReader()) : undefined;
  if (read?.problem !== undefined) throw invalid({ rate: read.problem });
  return {
    ...(amount !== undefined && { amount: typedAmount(amount, { field: 'amount', currency }) }),
    ...(read && { rate: read.text }),
  };
}

function dayIn(text: string): string | undefined {
  return isDay(text) ? text : undefined;
}

function backOf(visit: PageVisit): string {
  const path = ownPath(visit.field('back'));
  return path === '/' ? pageRoutes.budgets : path;
}
