import type { FormProblem } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { ownPath } from '@octavo/web/pages';
import {
  type Budget,
  checkRight,
  findBudgets,
  getBudget,
  isTransfer,
  listBudgets,
  transferChoice,
} from '../budgets/index.ts';
import type { Context } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import { isDay } from '../money/periods.ts';
import { pageRoutes } from '../routes.ts';
import { ruleOffer } from '../rules/index.ts';
import {
  callerWithIdempotencyKey,
  idOf,
  type PageParts,
  type PageSession,
  type PageVisit,
  parameter,
  submit,
  type Visitor,
  versionsOf,
} from '../site/page-context.ts';
import { hrefWith, money, rangeProblem } from '../site/views.ts';
import { addBulkPages, filterNames } from './bulk/pages.ts';
import { lastChangeForm } from './bulk/views.ts';
import type { Expense } from './expense.ts';
import { deleteExpense, getExpense, parseExpensePatch, updateExpense } from './expenses.ts';
import { listCategories, listExpenses } from './list.ts';
import { deletionPage, formPage, listPage } from './pages-views.ts';
import { createTypedExpense, currencyOf, inputOf, placeInForm, typedPrice } from './typed-expense.ts';
import { budgetHref, quickEntry } from './views.ts';

const pageSize = 50;
const budgetsMax = 500;

export function addExpensePages(
  routes: PageRoutes<PageSession>,
  parts: Parameters<typeof addBulkPages>[1],
): void {
  const { context, visitors: access } = parts;
  routes.get(pageRoutes.expenses, { access }, (visitor) => showList(visitor, parts));
  routes.get(pageRoutes.newExpense, { access }, (visitor) => showForm(visitor, parts));
  routes.post(pageRoutes.expenses, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return submit(visit, {
      work: () => {
        checkDay(visitor);
        return createTypedExpense(context, callerWithIdempotencyKey(visitor), visit.fields());
      },
      done: async ({ id, budgetId, tags, description, amountMinor, currency }) => {
        const none = isTransfer(tags) ? 'transfers between your own accounts' : 'Unassigned';
        const name = budgetId === null ? none : (await getBudget(context, caller, budgetId)).name;
        const text = `${description}, ${money(amountMinor, currency)}, was added to ${name}.`;
        return visit.redirect(`${backOf(visit)}#expense-${id}`, { tone: 'good', text });
      },
      again: (problem) => showForm(visitor, parts, problem),
    });
  });
  addEditing(routes, parts);
  addBulkPages(routes, parts);
}

function addEditing(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { context, visitors: access } = parts;
  routes.get(pageRoutes.editExpense, { access }, (visitor) => showForm(visitor, parts));
  routes.post(pageRoutes.editExpense, { access }, (visitor) => {
    const { visit, caller } = visitor;
    let before: Expense | undefined;
    return submit(visit, {
      work: async () => {
        before = await getExpense(context, caller, idOf(visit));
        if (visit.field('spentOn') !== before.spentOn) checkDay(visitor);
        const given = await patchOf(visitor, parts);
        const change = parseExpensePatch(given);
        const price = typedPrice(change, given.currency);
        return updateExpense(context, caller, idOf(visit), {
          ...change,
          ...price,
          versions: versionsOf(visit),
        });
      },
      done: ({ id, budgetId, description, amountMinor, currency, category }) => {
        const isCategorized = category !== null && category !== before?.category;
        const isAssigned = budgetId !== null && budgetId !== before?.budgetId;
        const categorized = isCategorized || isAssigned ? id : '';
        return visit.redirect(`${hrefWith(budgetHref({ budgetId }), { categorized })}#expense-${id}`, {
          tone: 'good',
          text: `${description}, ${money(amountMinor, currency)}, was saved.`,
        });
      },
      again: (problem) => showForm(visitor, parts, problem),
    });
  });
  routes.get(pageRoutes.deleteExpense, { access }, async (visitor) =>
    deletionPage(visitor, await changeableExpense(context, visitor)),
  );
  routes.post(pageRoutes.deleteExpense, { access }, async (visitor) => {
    const { visit, caller } = visitor;
    const { budgetId, description } = await getExpense(context, caller, idOf(visit));
    await deleteExpense(context, caller, idOf(visit));
    const text = `${description} was deleted, and reversed in the ledger.`;
    return visit.redirect(budgetHref({ budgetId }), { tone: 'good', text });
  });
}

async function showList(visitor: Visitor, { context }: PageParts): Promise<string> {
  const { visit, caller } = visitor;
  const filter = Object.fromEntries(
    filterNames.map((name) => [name, parameter(visit, name).slice(0, 256)]),
  ) as Record<(typeof filterNames)[number], string>;
  const cursor = parameter(visit, 'cursor') || undefined;
  const { items: budgets } = await listBudgets(context, caller, { limit: budgetsMax });
  const [from, to] = [dayIn(filter.from), dayIn(filter.to)];
  const toProblem = rangeProblem(from, to);
  if (toProblem) visit.reply.code(400);
  const wanted = {
    q: filter.q || undefined,
    budgetId: filter.budget || undefined,
    category: filter.category || undefined,
    tag: filter.tag || undefined,
    undoneImport: filter.import || undefined,
    from,
    to,
    cursor,
    limit: pageSize,
    sort: '-spentOn',
  } as const;
  const page = toProblem
    ? { items: [], total: 0, next: undefined }
    : await listExpenses(context, caller, wanted);
  const categories = await listCategories(context, caller);
  const isFiltered = Object.values(filter).some((value) => value !== '');
  const quick = isFiltered
    ? undefined
    : await quickEntry(context, visitor, { budgets, back: pageRoutes.expenses });
  const hasCursor = cursor !== undefined;
  const undo = await lastChangeForm(context, visitor, { back: hrefWith(pageRoutes.expenses, filter) });
  const offer = await ruleOffer(context, visitor, parameter(visit, 'categorized'));
  return listPage(visitor, { filter, toProblem, page, budgets, categories, hasCursor, quick, undo, offer });
}

const firstYear = 1900;
const yearsAhead = 5;

/** True for a day that is likely a typing error: before 1900, or more than five years ahead. */
function isUnusual(day: string, today: string): boolean {
  const year = Number(day.slice(0, 4));
  return isDay(day) && (year < firstYear || year > Number(today.slice(0, 4)) + yearsAhead);
}

/** Asks once whether an unusual day is right. Throws `validation_failed`. */
function checkDay({ visit, today }: Visitor): void {
  const day = visit.field('spentOn');
  if (isUnusual(day, today) && visit.field('confirmedDay') !== day)
    throw invalid({ spentOn: `is in the year ${Number(day.slice(0, 4))}. Save again if that is right` });
}

/** The form of a new expense, or of the one in the address, with the typed values. */
async function showForm(visitor: Visitor, { context }: PageParts, problem?: FormProblem): Promise<string> {
  const { visit, caller } = visitor;
  const { id } = visit.request.params as { readonly id?: string };
  const expense = id === undefined ? undefined : await changeableExpense(context, visitor);
  const { items } = await listBudgets(context, caller, { limit: budgetsMax });
  const { budgetId } = expense ?? {};
  const isListed = !budgetId || items.some((budget) => budget.id === budgetId);
  const other = isListed ? [] : [...(await findBudgets(context, caller, [budgetId])).values()];
  const all = [...items, ...other];
  const current = all.find((budget) => budget.id === budgetId);
  const isTarget = ({ role, sharedBy }: Budget) =>
    role !== 'viewer' && (expense === undefined || sharedBy?.id === current?.sharedBy?.id);
  return formPage(visitor, {
    expense,
    problem,
    values: visit.fields(),
    unusualDay: isUnusual(visit.field('spentOn'), visitor.today) ? visit.field('spentOn') : undefined,
    budgets: all.filter(isTarget),
    categories: await listCategories(context, caller),
  });
}

/** Reads the form as a change: emptied fields are cleared, and without a currency it is that of the budget. */
async function patchOf(
  { visit, caller }: Visitor,
  { context }: PageParts,
): Promise<Record<string, unknown> & { readonly currency: string }> {
  const before = await getExpense(context, caller, idOf(visit));
  const { tags, ...given } = inputOf(visit.fields());
  const place = visit.fields().budgetId;
  const isUnassigned = place === '' || place === transferChoice.value;
  const budgetId = isUnassigned ? null : ((given.budgetId as string | undefined) ?? before.budgetId);
  const currency =
    (await currencyOf(context, caller, budgetId)) ?? before.originalCurrency ?? before.currency;
  // Tags from elsewhere may have commas.
  const shown = placeInForm(before);
  const wasTransfer = shown.budgetId === transferChoice.value;
  const hasOtherTags =
    visit.field('tags').trim() !== shown.tags.join(', ') || wasTransfer !== (place === transferChoice.value);
  const paidIn = typeof given.currency === 'string' ? given.currency : currency;
  return { category: null, notes: null, ...given, budgetId, currency: paidIn, ...(hasOtherTags && { tags }) };
}

/** The expense in the address. Throws `forbidden` if the visitor may only read it. */
async function changeableExpense(context: Context, { visit, caller }: Visitor): Promise<Expense> {
  const expense = await getExpense(context, caller, idOf(visit));
  if (expense.budgetId !== null)
    checkRight((await getBudget(context, caller, expense.budgetId)).role, 'write');
  return expense;
}

function dayIn(text: string): string | undefined {
  return isDay(text) ? text : undefined;
}

function backOf(visit: PageVisit): string {
  const path = ownPath(visit.field('back'));
  return path === '/' ? pageRoutes.budgets : path;
}
