import { count, field, type Html, html, icon, notice } from '@octavo/web/html';
import type { Page } from '@octavo/web/rest';
import type { Budget } from '../../budgets/index.ts';
import { noBudget } from '../../budgets/index.ts';
import { pageRoutes } from '../../routes.ts';
import { onceField, type Visitor } from '../../site/page-context.ts';
import type { Expense } from '../expense.ts';
import { adderNames, expenseTable } from '../views.ts';

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
    ['', 'As it is'],
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
      ? html`<label><input type="checkbox" name="all" value="true"> All ${count(page.total, 'expense')} that match</label>`
      : undefined;
  return html`<form method="post" action="${pageRoutes.changeExpenses}" data-selection>${visitor.csrfField}${onceField()}${hidden}
${expenseTable(page.items, { names, words: filter.q, selection, adders })}
<div class="selection-bar" data-selection-bar><span><span data-selection-count aria-live="polite"></span> ${all}</span>
<div class="filters tight">${field({ name: 'to-budget', label: 'Budget', type: 'select', value: '', choices })}
${field({ name: 'to-category', label: 'Category', attributes: { list: 'categories', maxlength: 100, autocomplete: 'off' } })}
${field({ name: 'add-tags', label: 'Add tags', attributes: { autocomplete: 'off' } })}
<div class="actions"><button name="do" value="change">Change</button><button class="secondary" name="do" value="delete">${icon('close')}Delete</button></div></div></div></form>`;
}

/** Takes back the last change of many. */
export function undoForm(visitor: Visitor, token: string, back: string): Html | undefined {
  if (token === '') return undefined;
  return notice(
    'info',
    html`<form method="post" action="${pageRoutes.undoExpenses}">${visitor.csrfField}${onceField()}<input type="hidden" name="undo" value="${token}"><input type="hidden" name="back" value="${back}">Not what you wanted? <button class="quiet">Undo the last change</button></form>`,
  );
}
