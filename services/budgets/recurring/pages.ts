import type { FormProblem } from '#kit/html/form-problem.ts';
import type { PageRoutes } from '#kit/html/pages.ts';
import { createParser } from '#kit/schema-parser.ts';
import { listBudgets } from '../budgets/index.ts';
import { listCategories } from '../expenses/index.ts';
import { pageRoutes } from '../routes.ts';
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
import {
  createRecurring,
  deleteRecurring,
  getRecurring,
  listRecurring,
  updateRecurring,
} from './commands.ts';
import { deletionPage, formPage, listPage } from './pages-views.ts';
import { RecurringInput, RecurringPatch } from './recurring.ts';

const parseInput = createParser(RecurringInput);
const parsePatch = createParser(RecurringPatch);
const pageSize = 100;
const budgetsMax = 500;

export function addRecurringPages(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { core, visitors: access } = parts;
  routes.get(pageRoutes.recurring, { access }, async (visitor) => {
    const { visit, caller } = visitor;
    const cursor = parameter(visit, 'cursor') || undefined;
    const { items: budgets } = await listBudgets(core, caller, { limit: budgetsMax });
    const page = await listRecurring(core, caller, { limit: pageSize, cursor });
    return listPage(visitor, { page, budgets, hasCursor: cursor !== undefined });
  });
  routes.get(pageRoutes.newRecurring, { access }, (visitor) => showForm(visitor, parts));
  routes.post(pageRoutes.recurring, { access }, (visitor) => {
    const { visit } = visitor;
    return submit(visit, {
      work: () => createRecurring(core, commanderOf(visitor), parseInput(inputOf(visit))),
      done: ({ description }) => goToList(visit, `${description} will be added by itself.`),
      again: (problem) => showForm(visitor, parts, problem),
    });
  });
  addEditing(routes, parts);
}

function addEditing(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { core, visitors: access } = parts;
  routes.get(pageRoutes.editRecurring, { access }, (visitor) => showForm(visitor, parts));
  routes.post(pageRoutes.editRecurring, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return submit(visit, {
      work: () => {
        const emptied = { category: null, byDay: null, byMonthDay: null, end: null, count: null };
        const change = parsePatch({ ...emptied, ...inputOf(visit) });
        return updateRecurring(core, caller, idOf(visit), { ...change, versions: versionsOf(visit) });
      },
      done: () => goToList(visit, 'It was saved. Expenses that were added stay as they are.'),
      again: (problem) => showForm(visitor, parts, problem),
    });
  });
  routes.get(pageRoutes.deleteRecurring, { access }, async (visitor) =>
    deletionPage(visitor, await getRecurring(core, visitor.caller, idOf(visitor.visit))),
  );
  routes.post(pageRoutes.deleteRecurring, { access }, async ({ visit, caller }) => {
    await deleteRecurring(core, caller, idOf(visit));
    return goToList(visit, 'It was deleted. Expenses that were added stay.');
  });
}

async function showForm(visitor: Visitor, { core }: PageParts, problem?: FormProblem): Promise<string> {
  const { visit, caller } = visitor;
  const { id } = visit.request.params as { readonly id?: string };
  const recurring = id === undefined ? undefined : await getRecurring(core, caller, id);
  const { items: budgets } = await listBudgets(core, caller, { limit: budgetsMax });
  const categories = await listCategories(core, caller);
  const byDay = visit.values('byDay');
  return formPage(visitor, { recurring, budgets, categories, values: visit.fields(), byDay, problem });
}

function goToList(visit: PageVisit, text: string) {
  return visit.redirect(pageRoutes.recurring, { tone: 'good', text });
}

/** What the form says, as the API takes it: only the rules that fit the frequency. */
function inputOf(visit: PageVisit): Record<string, unknown> {
  const { interval, count, byMonthDay, ...given } = filled(visit, [
    ...['budgetId', 'description', 'amount', 'category', 'freq', 'start', 'end', 'timezone'],
    ...['interval', 'count', 'byMonthDay'],
  ]);
  const byDay = visit.values('byDay');
  const isShort = given.freq === 'daily' || given.freq === 'weekly';
  return {
    ...given,
    ...(interval !== undefined && { interval: numberIn(interval) }),
    ...(count !== undefined && { count: numberIn(count) }),
    ...(isShort && byDay.length > 0 && { byDay }),
    ...(!isShort && byMonthDay !== undefined && { byMonthDay: byMonthDay.split(/[\s,]+/).map(numberIn) }),
  };
}

/** A text that is no number stays, and is refused by the rules. */
function numberIn(text: string): number | string {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}
