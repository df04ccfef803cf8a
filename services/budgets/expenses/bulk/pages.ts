import { count } from '@octavo/web/html';
import { ownPath, type PageRoutes } from '@octavo/web/pages';
import { noBudget } from '../../budgets/index.ts';
import { pageRoutes, pathOf } from '../../routes.ts';
import { takeBackSorting } from '../../rules/index.ts';
import {
  callerWithIdempotencyKey,
  type PageParts,
  type PageSession,
  type PageVisit,
  type Visitor,
} from '../../site/page-context.ts';
import { hrefWith } from '../../site/views.ts';
import { madeText, type Tasks } from '../../tasks/index.ts';
import { listExpenses } from '../list.ts';
import { type BulkRequest, type BulkResult, changeMany, parseBulkRequest } from './bulk.ts';
import { undoMany } from './undo.ts';
import { confirmPage } from './views.ts';

export const filterNames = ['q', 'budget', 'category', 'tag', 'from', 'to', 'import'] as const;

/** Expenses that a change may have without being confirmed. */
const unconfirmedMax = 20;

interface BulkPagesParts extends PageParts {
  readonly tasks: Tasks;
}

/** Changes the selected expenses of the list, and takes a change back. */
export function addBulkPages(routes: PageRoutes<PageSession>, parts: BulkPagesParts): void {
  const { context, tasks, visitors: access } = parts;
  routes.post(pageRoutes.changeExpenses, { access }, async (visitor) => {
    const { visit } = visitor;
    const filter = filterOf(visit);
    const request = requestOf(visit, filter);
    const list = hrefWith(pageRoutes.expenses, filter);
    if (typeof request === 'string') return visit.redirect(list, { tone: 'bad', text: request });
    if (visit.field('confirmed') !== 'true') {
      const total = await countOf(visitor, parts, request);
      if (request.delete === true || total > unconfirmedMax)
        return confirmPage(visitor, { request, total, cancelHref: list });
    }
    const result = await changeMany(tasks, callerWithIdempotencyKey(visitor), request);
    if (!('changed' in result)) return visit.redirect(pathOf(pageRoutes.task, result.id));
    const tone = result.changed > 0 ? 'good' : 'bad';
    const text = sentence(result, request.delete === true ? 'deleted' : 'changed');
    const address = hrefWith(pageRoutes.expenses, { ...filter, categorized: assignedIn(request) });
    return visit.redirect(address, { tone, text });
  });
  routes.post(pageRoutes.undoExpenses, { access }, async (visitor) => {
    const { visit } = visitor;
    const { undone, kept, made } = await undoMany(
      context,
      callerWithIdempotencyKey(visitor),
      visit.field('undo').slice(0, 64),
      takeBackSorting,
    );
    const stays = kept.length > 0 ? ` ${count(kept.length, 'expense')} changed since, and stay.` : '';
    const text = `${count(undone, 'expense')} ${undone === 1 ? 'is' : 'are'} as before.${stays}${madeText(made)}`;
    return visit.redirect(ownPath(visit.field('back')), { tone: 'good', text });
  });
}

/** Number of expenses that a request is about. */
async function countOf(
  { caller }: Visitor,
  { context }: PageParts,
  { ids, filter }: BulkRequest,
): Promise<number> {
  if (!filter) return ids?.length ?? 0;
  return (await listExpenses(context, caller, { ...filter, limit: 1 })).total;
}

/** The first expense that got a budget or a category, of which a rule is proposed. */
function assignedIn({ ids, change }: BulkRequest): string {
  return change?.budgetId || change?.category ? (ids?.[0] ?? '') : '';
}

type Filter = Readonly<Record<(typeof filterNames)[number], string>>;

function filterOf(visit: PageVisit): Filter {
  const values = filterNames.map((name) => [name, visit.field(`filter-${name}`).slice(0, 256)] as const);
  return Object.fromEntries(values) as Filter;
}

/** The change that the form asks for, or what it lacks. */
function requestOf(visit: PageVisit, filter: Filter): BulkRequest | string {
  const ids = visit.values('id');
  const isAll = visit.field('all') === 'true';
  if (!isAll && ids.length === 0) return 'Select at least one expense.';
  const { budget, import: undoneImport, ...others } = filter;
  const named = Object.entries({ ...others, budgetId: budget, undoneImport }).filter(
    ([, value]) => value !== '',
  );
  const which = isAll ? { filter: Object.fromEntries(named) } : { ids };
  if (visit.field('do') === 'delete') return parseBulkRequest({ ...which, delete: true });
  const [to, category] = [visit.field('to-budget'), visit.field('to-category').trim()];
  const tags = visit.field('add-tags').split(',');
  const addTags = tags.map((tag) => tag.trim()).filter((tag) => tag !== '');
  const change = {
    ...(to !== '' && { budgetId: to === noBudget ? null : to }),
    ...(category !== '' && { category }),
    ...(addTags.length > 0 && { addTags }),
  };
  if (Object.keys(change).length === 0)
    return 'Choose a budget, a category or tags for the selected expenses.';
  return parseBulkRequest({ ...which, change });
}

function sentence({ changed, kept }: BulkResult, deed: string): string {
  const done = `${count(changed, 'expense')} ${changed === 1 ? 'was' : 'were'} ${deed}.`;
  const [first] = kept;
  return first ? `${done} ${count(kept.length, 'expense')} could not be: ${first.reason}.` : done;
}
