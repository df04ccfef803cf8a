import {
  type Content,
  confirm,
  count,
  field,
  formatNumber,
  type Html,
  html,
  icon,
  notice,
} from '@octavo/web/html';
import type { Page } from '@octavo/web/rest';
import type { Budget } from '../../budgets/index.ts';
import { noBudget } from '../../budgets/index.ts';
import type { Context } from '../../commands.ts';
import { pageRoutes } from '../../routes.ts';
import { onceField, type Visitor } from '../../site/page-context.ts';
import type { Expense } from '../expense.ts';
import { adderNames, expenseTable } from '../views.ts';
import type { BulkRequest } from './bulk.ts';
import { findLastChange } from './undo.ts';

interface BulkView {
  readonly page: Page<Expense>;
  readonly budgets: readonly Budget[];
  /** The budget of the list, if it is shared with the reader. */
  readonly shared: Budget | undefined;
  /** The filters of the list. */
  readonly filter: Readonly<Record<string, string>>;
}

/** The expenses of a list in a form that changes those that are selected, or all that match. */
export function bulkForm(visitor: Visitor, { page, budgets, shared, filter }: BulkView): Html {
  const names = new Map(budgets.map(({ id, name }) => [id, name]));
  const adders = adderNames(visitor, shared !== undefined);
  if (shared?.role === 'viewer')
    return expenseTable(page.items, { words: filter.q, isReadOnly: true, adders });
  // Expenses stay in the account of their budget.
  const targets = budgets.filter(
    ({ role, sharedBy }) => role !== 'viewer' && sharedBy?.id === shared?.sharedBy?.id,
  );
  const choices = [
    ['', 'No change'],
    ...targets.map(({ id, name, currency }) => [id, `${name} (${currency})`] as const),
    ...(shared ? [] : ([[noBudget, 'Unassigned']] as const)),
  ] as const;
  const hidden = Object.entries(filter).map(
    ([name, value]) => html`<input type="hidden" name="filter-${name}" value="${value}">`,
  );
  const selection = {
    name: 'id',
    value: ({ id }: Expense) => id,
    label: ({ description }: Expense) => `“${description}”`,
  };
  const all =
    page.total > page.items.length
      ? html`<label><input type="checkbox" name="all" value="true" data-selection-total="${formatNumber(page.total)}"> All ${count(page.total, 'expense')} that match</label>`
      : undefined;
  return html`<form method="post" action="${pageRoutes.changeExpenses}" data-selection>${visitor.csrfField}${onceField()}${hidden}
${expenseTable(page.items, { names, words: filter.q, selection, adders })}
<div class="selection-bar" data-selection-bar><span><span data-selection-count aria-live="polite"></span> ${all}</span>
<div class="filters tight"><details class="more"><summary>Budget, category, tags</summary><div class="fields">${field({ name: 'to-budget', label: 'Budget', type: 'select', value: '', choices })}
${field({ name: 'to-category', label: 'Category', attributes: { list: 'categories', maxlength: 100, autocomplete: 'off' } })}
${field({ name: 'add-tags', label: 'Add tags', attributes: { autocomplete: 'off' } })}
<button name="do" value="change">Change</button></div></details><div class="actions"><button class="secondary" name="do" value="delete">${icon('close')}Delete</button></div></div></div></form>`;
}

/** The last change of many expenses, and the button that undoes it; nothing after 24 hours, or if it is not the change with the token. */
export async function lastChangeForm(
  context: Context,
  visitor: Visitor,
  { back, token }: { readonly back: string; readonly token?: string },
): Promise<Content> {
  const found = token === '' ? undefined : await findLastChange(context, visitor.caller);
  if (!found || (token !== undefined && token !== found.token)) return undefined;
  const { changed, deed, to } = found.about;
  const place = deed === 'deleted' ? ' deleted' : to === undefined ? ' changed' : ` → ${to}`;
  return html`<form class="last-change" method="post" action="${pageRoutes.undoExpenses}">${visitor.csrfField}${onceField()}<input type="hidden" name="undo" value="${found.token}"><input type="hidden" name="back" value="${back}"><span>Last change: ${count(changed, 'expense')}${place}</span><button class="secondary">Undo</button></form>`;
}

interface ConfirmView {
  readonly request: BulkRequest;
  /** Number of expenses. */
  readonly total: number;
  readonly cancelHref: string;
}

/** Asks before many expenses are changed, or some are deleted. */
export function confirmPage(visitor: Visitor, { request, total, cancelHref }: ConfirmView): Promise<string> {
  const { visit, csrfField } = visitor;
  const deed = `${request.delete === true ? 'Delete' : 'Change'} ${count(total, 'expense')}`;
  const { _csrf, id, ...fields } = visit.fields();
  const sent = [...Object.entries(fields), ...visit.values('id').map((each) => ['id', each] as const)];
  const hidden = [...sent, ['confirmed', 'true'] as const].map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value ?? ''}">`,
  );
  const effect =
    request.delete === true
      ? 'They no longer count as spent, and the ledger records reversals.'
      : 'All of them get what you chose.';
  return visitor.render({
    title: deed,
    parent: { href: cancelHref, label: 'Expenses' },
    main: confirm({
      title: `${deed}?`,
      text: `${effect} You can undo this for 24 hours.`,
      action: pageRoutes.changeExpenses,
      csrfField,
      fields: html`${hidden}`,
      deed,
      cancelHref,
    }),
  });
}

/** The expenses that the undo of an import left, with the button that deletes all of them. */
export function leftByUndo(
  visitor: Visitor,
  { total, importId }: { readonly total: number; readonly importId: string },
): Content {
  if (total === 0) return undefined;
  return notice(
    'info',
    html`<form class="last-change" method="post" action="${pageRoutes.changeExpenses}">${visitor.csrfField}${onceField()}<input type="hidden" name="filter-import" value="${importId}"><input type="hidden" name="all" value="true"><span>The undo of the import left these expenses, because they were changed since or a later file has them too.</span><button class="secondary" name="do" value="delete">Delete ${total === 1 ? 'this' : 'these'} ${count(total, 'expense')}</button></form>`,
  );
}
