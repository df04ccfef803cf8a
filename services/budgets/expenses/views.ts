import { highlight } from '@octavo/data/search';
import { parseWordQuery, type WordQuery } from '@octavo/data/terms';
import { type Content, field, type Html, html, icon, table } from '@octavo/web/html';
import type { Budget } from '../budgets/index.ts';
import type { Context } from '../commands.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { onceField, type Visitor } from '../site/page-context.ts';
import { amountAttributes, day, money, typedText } from '../site/views.ts';
import type { Expense } from './expense.ts';
import { listCategories, listExpenses } from './list.ts';

export interface QuickEntry {
  /** The budgets to choose from. */
  readonly budgets: readonly Budget[];
  /** Address to open afterwards. */
  readonly back: string;
}

/** A form in one row for a new expense. It starts with the budget of the last one. Empty if there are no budgets. */
export async function quickEntry(
  core: Context,
  { caller, csrfField, today }: Visitor,
  { budgets, back }: QuickEntry,
): Promise<Content> {
  const [only] = budgets;
  if (!only) return undefined;
  const last = await listExpenses(core, caller, { limit: 1 });
  const categories = await listCategories(core, caller);
  const which =
    budgets.length === 1
      ? html`<input type="hidden" name="budgetId" value="${only.id}">`
      : field({
          name: 'budgetId',
          label: 'Budget',
          type: 'select',
          value: last.items[0]?.budgetId ?? only.id,
          choices: budgets.map(({ id, name, currency }) => [id, `${name} (${currency})`] as const),
        });
  return html`<form class="card filters tight" method="post" action="${pageRoutes.expenses}" aria-label="Quick entry">${field(
    {
      name: 'description',
      label: 'What did you spend on?',
      attributes: { maxlength: 500, required: true, autocomplete: 'off', placeholder: 'Coffee' },
    },
  )}
${field({ name: 'amount', label: 'Amount', attributes: { ...amountAttributes, required: true, placeholder: typedText(420, 'USD') } })}
${which}${categoryField(categories, undefined)}
${field({ name: 'spentOn', label: 'Day', type: 'date', value: today, attributes: { 'data-today': true } })}
<div class="actions">${csrfField}${onceField()}<input type="hidden" name="back" value="${back}"><button>${icon('plus')}Add expense</button></div></form>`;
}

/** Suggests those that are in use. */
export function categoryField(
  categories: readonly string[],
  value: string | undefined,
  error?: string,
): Html {
  return html`${field({
    name: 'category',
    label: 'Category',
    value,
    error,
    attributes: { list: 'categories', maxlength: 100, autocomplete: 'off', placeholder: 'Food' },
  })}<datalist id="categories">${categories.map((name) => html`<option value="${name}"></option>`)}</datalist>`;
}

interface TableOptions {
  /** The names of budgets by their ids, where the expenses are in several. */
  readonly names?: ReadonlyMap<string, string>;
  /** Words to mark. */
  readonly words?: string;
}

/** Expenses with their day, category and amount. */
export function expenseTable(expenses: readonly Expense[], { names, words }: TableOptions = {}): Html {
  const query = words ? parseWordQuery(words, { isLastPrefix: true }) : undefined;
  const budget = {
    header: 'Budget',
    kind: 'fit' as const,
    cell: ({ budgetId }: Expense) =>
      html`<a href="${pathOf(pageRoutes.budget, budgetId)}">${names?.get(budgetId) ?? 'Budget'}</a>`,
  };
  return table<Expense>({
    caption: 'Expenses',
    rows: expenses,
    columns: [
      { header: 'Day', kind: 'fit', cell: ({ spentOn }) => day(spentOn) },
      { header: 'Expense', kind: 'main', cell: (expense) => mainCell(expense, query) },
      ...(names ? [budget] : []),
      { header: 'Category', kind: 'fit', cell: ({ category }) => category && marked(category, query) },
      { header: 'Amount', kind: 'number', cell: amountCell },
      {
        header: 'Actions',
        kind: 'row-actions',
        cell: ({ id, description }) =>
          html`<a href="${pathOf(pageRoutes.deleteExpense, id)}" data-dialog title="Delete">${icon('close')}<span class="hidden">Delete ${description}</span></a>`,
      },
    ],
  });
}

function mainCell({ id, description, tags, notes }: Expense, query: WordQuery | undefined): Html {
  const more = [
    ...tags.map((tag) => html`#${marked(tag, query)} `),
    notes && marked(notes.length > 120 ? `${notes.slice(0, 120)}…` : notes, query),
  ];
  return html`<a href="${pathOf(pageRoutes.editExpense, id)}">${marked(description, query)}</a>${
    (tags.length > 0 || notes) && html`<div>${more}</div>`
  }`;
}

function amountCell({ amountMinor, currency, originalAmountMinor, originalCurrency }: Expense): Html {
  const paid =
    originalAmountMinor !== null && originalCurrency !== null
      ? html`<br><small class="muted">${money(originalAmountMinor, originalCurrency)}</small>`
      : undefined;
  return html`${money(amountMinor, currency)}${paid}`;
}

function marked(text: string, query: WordQuery | undefined): Content {
  if (!query) return text;
  return highlight(text, query).map((part) => (part.isMatch ? html`<mark>${part.text}</mark>` : part.text));
}
