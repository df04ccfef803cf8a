import { labelsOf } from '@octavo/core';
import { highlight } from '@octavo/data/search';
import { parseWordQuery, type WordQuery } from '@octavo/data/terms';
import { type Content, field, type Html, html, icon, type Selection, table } from '@octavo/web/html';
import { type Budget, noBudget, transferChoice } from '../budgets/index.ts';
import type { Context } from '../commands.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { formFields } from '../site/form-fields.ts';
import { onceField, type Visitor } from '../site/page-context.ts';
import { amountAttributes, day, hrefWith, money, typedText } from '../site/views.ts';
import { type Expense, expenseFields } from './expense.ts';
import { listCategories, listExpenses } from './list.ts';

const labels = labelsOf(expenseFields);

export interface QuickEntry {
  /** The budgets to choose from. */
  readonly budgets: readonly Budget[];
  /** Address to open afterwards. */
  readonly back: string;
}

/** A form in one row for a new expense. It starts with the budget of the last one. Empty if there are no budgets. */
export async function quickEntry(
  context: Context,
  { caller, csrfField, today }: Visitor,
  { budgets, back }: QuickEntry,
): Promise<Content> {
  const writable = budgets.filter(({ role }) => role !== 'viewer');
  const [only] = writable;
  if (!only) return undefined;
  const last = await listExpenses(context, caller, { limit: 1 });
  const categories = await listCategories(context, caller);
  const which =
    writable.length === 1
      ? html`<input type="hidden" name="budgetId" value="${only.id}">`
      : field({
          name: 'budgetId',
          label: labels.budgetId,
          type: 'select',
          value: last.items[0] ? (last.items[0].budgetId ?? '') : only.id,
          choices: budgetChoices(writable),
        });
  const isNamed = writable.length === 1 && back !== pathOf(pageRoutes.budget, only.id);
  const target = isNamed && html`<small class="muted">to ${only.name}${ofOwner(only)}</small>`;
  const common = formFields(expenseFields, { values: { spentOn: today } });
  return html`<form class="card filters tight" method="post" action="${pageRoutes.expenses}" aria-label="Quick entry">${field(
    {
      ...common('description', { required: true, autocomplete: 'off', placeholder: 'Coffee' }),
      label: 'What did you spend on?',
    },
  )}
${field(common('amount', { ...amountAttributes(), required: true, placeholder: typedText(420, 'USD') }))}
${which}<details class="more"><summary>Category and day</summary><div class="fields">${categoryField(categories, undefined)}
${field({ ...common('spentOn', { 'data-today': true }), type: 'date' })}</div></details>
<div class="actions">${csrfField}${onceField()}<input type="hidden" name="back" value="${back}"><button>${icon('plus')}Add expense</button>${target}</div></form>`;
}

/** The page of an expense's budget, or that of unassigned expenses. */
export function budgetHref({ budgetId }: Pick<Expense, 'budgetId'>): string {
  return budgetId === null
    ? hrefWith(pageRoutes.expenses, { budget: noBudget })
    : pathOf(pageRoutes.budget, budgetId);
}

/** Budgets to choose from, none, and a transfer. */
export function budgetChoices(budgets: readonly Budget[], hasNone = true): (readonly [string, string])[] {
  const named = budgets.map((budget) => [budget.id, nameInChoice(budget)] as const);
  return hasNone ? [...named, ['', 'Unassigned'], [transferChoice.value, transferChoice.name]] : named;
}

/** A budget in a list of choices. */
export function nameInChoice(budget: Budget): string {
  return `${budget.name} (${budget.currency})${ofOwner(budget)}`;
}

/** ` of Max` for a budget that is shared with the reader. */
function ofOwner({ sharedBy }: Budget): string {
  return sharedBy ? ` of ${sharedBy.username ?? 'another person'}` : '';
}

/** Says that a list has expenses of own budgets, with links to those of other people; nothing without such. */
export function elsewhere(budgets: readonly Budget[]): Content {
  const shared = budgets.filter(({ role }) => role !== 'owner');
  if (shared.length === 0) return undefined;
  const links = shared.map(
    (budget, index) =>
      html`${index > 0 && ', '}<a href="${pathOf(pageRoutes.budget, budget.id)}">${budget.name}${ofOwner(budget)}</a>`,
  );
  return html`<p class="muted">These are expenses of your own budgets. Those of shared budgets are on their pages: ${links}.</p>`;
}

/** Suggests those that are in use. */
export function categoryField(
  categories: readonly string[],
  value: string | undefined,
  error?: string,
): Html {
  const common = formFields(expenseFields, { values: { category: value } });
  const attributes = { list: 'categories', autocomplete: 'off', placeholder: 'Food' };
  return html`${field({ ...common('category', attributes), error })}<datalist id="categories">${categories.map((name) => html`<option value="${name}"></option>`)}</datalist>`;
}

interface TableOptions {
  /** The names of budgets by their ids, where the expenses are in several. */
  readonly names?: ReadonlyMap<string, string>;
  /** Words to mark. */
  readonly words?: string | undefined;
  /** Leaves out the links that change expenses. */
  readonly isReadOnly?: boolean;
  /** Words for who added an expense. */
  readonly adders?: ((expense: Expense) => string | undefined) | undefined;
  /** A checkbox in front of each, for a form around the table. */
  readonly selection?: Selection<Expense>;
}

/** Expenses with their day, category and amount. */
export function expenseTable(
  expenses: readonly Expense[],
  { names, words, selection, isReadOnly = false, adders }: TableOptions = {},
): Html {
  const query = words ? parseWordQuery(words, { isLastPrefix: true }) : undefined;
  const budget = {
    header: labels.budgetId,
    kind: 'plain' as const,
    cell: ({ budgetId }: Expense) =>
      html`<a href="${budgetHref({ budgetId })}">${budgetId === null ? 'Unassigned' : (names?.get(budgetId) ?? 'Budget')}</a>`,
  };
  return table<Expense>({
    caption: 'Expenses',
    rows: expenses,
    selection,
    id: ({ id }) => `expense-${id}`,
    columns: [
      { header: labels.spentOn, kind: 'plain', cell: ({ spentOn }) => day(spentOn) },
      {
        header: 'Expense',
        kind: 'main',
        cell: (expense) => mainCell(expense, { query, isReadOnly, adder: adders?.(expense) }),
      },
      ...(names ? [budget] : []),
      { header: labels.category, kind: 'plain', cell: ({ category }) => category && marked(category, query) },
      { header: labels.amount, kind: 'amount', cell: amountCell },
      ...(isReadOnly ? [] : [deletion]),
    ],
  });
}

const deletion = {
  header: 'Actions',
  kind: 'row-actions' as const,
  cell: ({ id, description }: Expense) =>
    html`<a href="${pathOf(pageRoutes.deleteExpense, id)}" data-dialog title="Delete">${icon('close')}<span class="hidden">Delete ${description}</span></a>`,
};

/** Words for who added an expense. Where only the reader adds, those of other people alone, such as one who has left. */
export function adderNames({ caller }: Visitor, isShared: boolean): NonNullable<TableOptions['adders']> {
  return ({ addedBy }) => {
    if (addedBy === null) return 'Added by an erased account';
    if (addedBy.id === caller.userId) return isShared ? 'Added by you' : undefined;
    return `Added by ${addedBy.username ?? 'another person'}`;
  };
}

interface MainCell {
  readonly query: WordQuery | undefined;
  readonly isReadOnly: boolean;
  readonly adder: string | undefined;
}

function mainCell({ id, description, tags, notes }: Expense, { query, isReadOnly, adder }: MainCell): Html {
  const more = [
    ...tags.map((tag) => html`#${marked(tag, query)} `),
    notes && marked(notes.length > 120 ? `${notes.slice(0, 120)}…` : notes, query),
  ];
  const name = marked(description, query);
  return html`${isReadOnly ? html`<span>${name}</span>` : html`<a href="${pathOf(pageRoutes.editExpense, id)}">${name}</a>`}${
    (tags.length > 0 || notes) && html`<div>${more}</div>`
  }${adder && html`<div>${adder}</div>`}`;
}

function amountCell({ amountMinor, kind, currency, originalAmountMinor, originalCurrency }: Expense): Html {
  const paid =
    originalAmountMinor !== null && originalCurrency !== null
      ? html`<br><small class="muted">${money(originalAmountMinor, originalCurrency)}</small>`
      : undefined;
  if (kind === 'expense') return html`${money(amountMinor, currency)}${paid}`;
  return html`${money(-amountMinor, currency)}<br><small class="muted">Refund</small>${paid}`;
}

function marked(text: string, query: WordQuery | undefined): Content {
  if (!query) return text;
  return highlight(text, query).map((part) => (part.isMatch ? html`<mark>${part.text}</mark>` : part.text));
}
