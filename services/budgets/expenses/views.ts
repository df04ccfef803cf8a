import { labelsOf } from '@octavo/core';
import { highlight } from '@octavo/data/search';
import { parseWordQuery, type WordQuery } from '@octavo/data/terms';
import { type Content, field, type Html, html, icon, type Selection, table } from '@octavo/web/html';
import { type Budget, noBudget } from '../budgets/index.ts';
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
  const [only] = budgets;
  if (!only) return undefined;
  const last = await listExpenses(context, caller, { limit: 1 });
  const categories = await listCategories(context, caller);
  const which =
    budgets.length === 1
      ? html`<input type="hidden" name="budgetId" value="${only.id}">`
      : field({
          name: 'budgetId',
          label: labels.budgetId,
          type: 'select',
          value: last.items[0] ? (last.items[0].budgetId ?? '') : only.id,
          choices: budgetChoices(budgets),
        });
  const common = formFields(expenseFields, { values: { spentOn: today } });
  return html`<form class="card filters tight" method="post" action="${pageRoutes.expenses}" aria-label="Quick entry">${field(
    {
      ...common('description', { required: true, autocomplete: 'off', placeholder: 'Coffee' }),
      label: 'What did you spend on?',
    },
  )}
${field(common('amount', { ...amountAttributes, required: true, placeholder: typedText(420, 'USD') }))}
${which}${categoryField(categories, undefined)}
${field({ ...common('spentOn', { 'data-today': true }), type: 'date' })}
<div class="actions">${csrfField}${onceField()}<input type="hidden" name="back" value="${back}"><button>${icon('plus')}Add expense</button></div></form>`;
}

/** The page of an expense's budget, or that of unassigned expenses. */
export function budgetHref({ budgetId }: Pick<Expense, 'budgetId'>): string {
  return budgetId === null
    ? hrefWith(pageRoutes.expenses, { budget: noBudget })
    : pathOf(pageRoutes.budget, budgetId);
}

/** Budgets to choose from, and none. */
export function budgetChoices(budgets: readonly Budget[]): (readonly [string, string])[] {
  const named = budgets.map(({ id, name, currency }) => [id, `${name} (${currency})`] as const);
  return [...named, ['', 'Unassigned']];
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
  /** A checkbox in front of each, for a form around the table. */
  readonly selection?: Selection<Expense>;
}

/** Expenses with their day, category and amount. */
export function expenseTable(
  expenses: readonly Expense[],
  { names, words, selection }: TableOptions = {},
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
      { header: 'Expense', kind: 'main', cell: (expense) => mainCell(expense, query) },
      ...(names ? [budget] : []),
      { header: labels.category, kind: 'plain', cell: ({ category }) => category && marked(category, query) },
      { header: labels.amount, kind: 'amount', cell: amountCell },
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
