import type { FormProblem } from '@octavo/web/html';
import { count } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { getBudget, listBudgets } from '../budgets/index.ts';
import { createParser, invalid } from '../edges/schema-parser.ts';
import { listCategories } from '../expenses/index.ts';
import { pageRoutes } from '../routes.ts';
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
import { dayText, money } from '../site/views.ts';
import {
  createRecurring,
  deleteRecurring,
  findMissed,
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
  const { context, visitors: access } = parts;
  routes.get(pageRoutes.recurring, { access }, async (visitor) => {
    const { visit, caller } = visitor;
    const cursor = parameter(visit, 'cursor') || undefined;
    const { items: budgets } = await listBudgets(context, caller, { limit: budgetsMax, isOwn: true });
    const page = await listRecurring(context, caller, { limit: pageSize, cursor });
    return listPage(visitor, { page, budgets, hasCursor: cursor !== undefined });
  });
  routes.get(pageRoutes.newRecurring, { access }, (visitor) => showForm(visitor, parts));
  routes.post(pageRoutes.recurring, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return submit(visit, {
      work: async () => {
        const given = parseInput(inputOf(visit));
        const { currency } = await getBudget(context, caller, given.budgetId);
        const amount = typedAmount(given.amount, { field: 'amount', currency });
        return createRecurring(context, callerWithIdempotencyKey(visitor), { ...given, amount });
      },
      done: ({ description, amountMinor, currency }) =>
        goToList(visit, `${description}, ${money(amountMinor, currency)}, will be added automatically.`),
      again: (problem) => showForm(visitor, parts, { problem }),
    });
  });
  addEditing(routes, parts);
}

function addEditing(routes: PageRoutes<PageSession>, parts: PageParts): void {
  const { context, visitors: access } = parts;
  routes.get(pageRoutes.editRecurring, { access }, (visitor) => showForm(visitor, parts));
  routes.post(pageRoutes.editRecurring, { access }, (visitor) => {
    const { visit, caller } = visitor;
    let askedStart: string | undefined;
    return submit(visit, {
      work: async () => {
        const emptied = { category: null, byDay: null, byMonthDay: null, end: null, count: null };
        const typed = parsePatch({ ...emptied, ...inputOf(visit) });
        const { budgetId = (await getRecurring(context, caller, idOf(visit))).budgetId } = typed;
        const { currency } = await getBudget(context, caller, budgetId);
        const amount = typed.amount && typedAmount(typed.amount, { field: 'amount', currency });
        const change = { ...typed, amount };
        const missed = await findMissed(context, caller, idOf(visit), change);
        if (missed[0] !== undefined && visit.field('confirmedStart') !== change.start) {
          askedStart = change.start;
          throw invalid({ start: missedProblem(missed[0], missed.length) });
        }
        return updateRecurring(context, caller, idOf(visit), { ...change, versions: versionsOf(visit) });
      },
      done: ({ description, amountMinor, currency }) => {
        const text = `${description}, ${money(amountMinor, currency)}, was saved. Expenses that were added stay as they are.`;
        return goToList(visit, text);
      },
      again: (problem) => showForm(visitor, parts, { problem, askedStart }),
    });
  });
  routes.get(pageRoutes.deleteRecurring, { access }, async (visitor) =>
    deletionPage(visitor, await getRecurring(context, visitor.caller, idOf(visitor.visit))),
  );
  routes.post(pageRoutes.deleteRecurring, { access }, async ({ visit, caller }) => {
    await deleteRecurring(context, caller, idOf(visit));
    return goToList(visit, 'It was deleted. Expenses that were added stay.');
  });
}

interface Refusal {
  readonly problem?: FormProblem;
  /** The first day that its user is asked to confirm. */
  readonly askedStart?: string | undefined;
}

function missedProblem(first: string, expenses: number): string {
  return `This day adds ${count(expenses, 'missed expense')} from ${dayText(first)} on. Save again to add ${expenses === 1 ? 'it' : 'them'}.`;
}

async function showForm(
  visitor: Visitor,
  { context }: PageParts,
  { problem, askedStart }: Refusal = {},
): Promise<string> {
  const { visit, caller } = visitor;
  const { id } = visit.request.params as { readonly id?: string };
  const recurring = id === undefined ? undefined : await getRecurring(context, caller, id);
  const { items: budgets } = await listBudgets(context, caller, { limit: budgetsMax, isOwn: true });
  const categories = await listCategories(context, caller);
  const byDay = visit.values('byDay');
  return formPage(visitor, {
    recurring,
    budgets,
    categories,
    byDay,
    problem,
    askedStart,
    values: visit.fields(),
  });
}

function goToList(visit: PageVisit, text: string) {
  return visit.redirect(pageRoutes.recurring, { tone: 'good', text });
}

/** Reads the form as a body of the API: only the rules that fit the frequency. */
function inputOf(visit: PageVisit): Record<string, unknown> {
  const {
    interval,
    count: times,
    byMonthDay,
    ...given
  } = filled(visit, [
    ...['budgetId', 'description', 'amount', 'category', 'freq', 'start', 'onWeekend', 'end', 'timezone'],
    ...['interval', 'count', 'byMonthDay'],
  ]);
  const byDay = visit.values('byDay');
  const isShort = given.freq === 'daily' || given.freq === 'weekly';
  return {
    ...given,
    ...(interval !== undefined && { interval: numberIn(interval) }),
    ...(times !== undefined && { count: numberIn(times) }),
    ...(isShort && byDay.length > 0 && { byDay }),
    ...(!isShort && byMonthDay !== undefined && { byMonthDay: byMonthDay.split(/[\s,]+/).map(numberIn) }),
  };
}

/** A text that is no number stays, and is refused by the rules. */
function numberIn(text: string): number | string {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}
