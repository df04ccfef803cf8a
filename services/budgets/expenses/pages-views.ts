import { labelsOf } from '@octavo/core';
import { currencyCodes } from '@octavo/documents/values';
import type { FormProblem } from '@octavo/web/html';
import {
  type Content,
  confirm,
  count,
  empty,
  field,
  filters,
  type Html,
  html,
  linkButton,
  menu,
} from '@octavo/web/html';
import type { Page } from '@octavo/web/rest';
import { type Budget, noBudget } from '../budgets/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { formFields } from '../site/form-fields.ts';
import { onceField, readingOfReader, type Visitor } from '../site/page-context.ts';
import { amountAttributes, cursorPager, hrefWith, money, problems, typedText } from '../site/views.ts';
import { categoryKey } from '../store/categories.ts';
import { bulkForm, leftByUndo } from './bulk/views.ts';
import { type Expense, expenseFields } from './expense.ts';
import { placeInForm } from './typed-expense.ts';
import { adderNames, budgetChoices, budgetHref, categoryField, elsewhere, nameInChoice } from './views.ts';

type Filter = Readonly<Record<'q' | 'budget' | 'category' | 'tag' | 'from' | 'to' | 'import', string>>;

interface ListView {
  readonly filter: Filter;
  /** Problem with the last day. */
  readonly toProblem: string | undefined;
  readonly page: Page<Expense>;
  readonly budgets: readonly Budget[];
  readonly categories: readonly string[];
  readonly hasCursor: boolean;
  readonly quick: Content;
  /** The last change of many, which can be undone. */
  readonly undo: Content;
  /** A rule that it proposes. */
  readonly offer: Content;
}

/** All expenses, with the search and filters above. */
export function listPage(visitor: Visitor, view: ListView): Promise<string> {
  const { filter, page, budgets, hasCursor, quick } = view;
  const isFiltered = Object.values(filter).some((value) => value !== '');
  const range = { from: filter.from, to: filter.to };
  const file = (format: string) => hrefWith(pageRoutes.export, { format, ...range });
  return visitor.render({
    title: filter.budget === noBudget ? 'Unassigned' : 'Expenses',
    lead: isFiltered ? `${count(page.total, 'expense')} found` : count(page.total, 'expense'),
    actions: html`${filter.budget === noBudget && page.total > 0 && linkButton(pageRoutes.sortExpenses, 'Sort by payee', 'primary')}${linkButton(pageRoutes.import, 'Import')}${menu(
      'Export',
      ['csv', 'ofx', 'qif', 'json'].map((format) => ({
        href: file(format),
        label: format.toUpperCase(),
        download: true,
      })),
    )}`,
    modules: ['live.js', 'amounts.js', 'select.js'],
    main: html`${view.undo}${filter.import && leftByUndo(visitor, { total: page.total, importId: filter.import })}${view.offer}${quick}${filterForm(view, isFiltered)}${filter.budget === '' && !filter.import && elsewhere(budgets)}<div data-live-region="expenses">${
      page.items.length === 0
        ? !view.toProblem && noExpenses(filter, budgets)
        : html`${bulkForm(visitor, { page, budgets, filter, shared: budgets.find(({ id, role }) => id === filter.budget && role !== 'owner') })}${cursorPager(pageRoutes.expenses, filter, { next: page.next, hasCursor })}`
    }</div>`,
  });
}

function filterForm({ filter, toProblem, budgets, categories }: ListView, isFiltered: boolean): Html {
  const { budget, category, tag, from, to } = filter;
  const anyOf = (label: string, choices: readonly (readonly [string, string])[]) =>
    [['', label], ...choices] as const;
  const chosen = categories.find((each) => categoryKey(each) === categoryKey(category)) ?? category;
  const known = categories.includes(chosen) || chosen === '' ? categories : [chosen, ...categories];
  return filters({
    action: pageRoutes.expenses,
    search: field({
      name: 'q',
      label: 'Search',
      type: 'search',
      value: filter.q,
      attributes: { maxlength: 256, placeholder: 'Words, or a “phrase”' },
    }),
    more: html`${field({
      name: 'budget',
      label: 'Budget',
      type: 'select',
      value: budget,
      choices: anyOf('Any', [
        ...budgets.map((each) => [each.id, each.sharedBy ? nameInChoice(each) : each.name] as const),
        [noBudget, 'Unassigned'] as const,
      ]),
    })}
<div class="field"><label for="filter-category">Category</label><select id="filter-category" name="category">${anyOf(
      'Any',
      known.map((name) => [name, name] as const),
    ).map(([value, label]) => option(value, label, value === chosen))}</select></div>
${field({ name: 'from', label: 'From', type: 'date', value: from })}${field({ name: 'to', label: 'To', type: 'date', value: to, error: toProblem })}
${tag && field({ name: 'tag', label: 'Tag', value: tag })}${filter.import && html`<input type="hidden" name="import" value="${filter.import}">`}`,
    hasMore: [budget, category, tag, from, to].some((value) => value !== ''),
    clearHref: isFiltered ? pageRoutes.expenses : undefined,
  });
}

function option(value: string, label: string, isSelected: boolean): Html {
  return isSelected
    ? html`<option value="${value}" selected>${label}</option>`
    : html`<option value="${value}">${label}</option>`;
}

function noExpenses(filter: Filter, budgets: readonly Budget[]): Html {
  const hasBudgets = budgets.some(({ role }) => role === 'owner');
  const { budget, ...others } = filter;
  const isNarrow = Object.values(others).some((value) => value !== '');
  if (budget === noBudget && !isNarrow)
    return empty({
      icon: 'check',
      title: 'All expenses have a budget',
      text: 'Expenses without one, such as rows of an import that no rule fits, appear here.',
    });
  if (isNarrow || budget !== '')
    return empty({
      icon: 'search',
      title: 'No matching expenses',
      text: 'Every word must be in the description, the category, the tags or the notes. Try fewer words or a longer time.',
    });
  return empty({
    icon: 'list',
    title: hasBudgets || budgets.length === 0 ? 'No expenses yet' : 'No expenses of your own yet',
    text: hasBudgets
      ? 'Enter one above, or import a file from your bank.'
      : 'Create a budget, or import a file from your bank: its rows wait in Unassigned.',
    actions: html`${!hasBudgets && linkButton(pageRoutes.newBudget, 'Create a budget', 'primary')}${linkButton(pageRoutes.import, 'Import a file')}`,
  });
}

interface FormView {
  /** The expense to edit; absent for a new one. */
  readonly expense: Expense | undefined;
  readonly budgets: readonly Budget[];
  readonly categories: readonly string[];
  /** Values as typed. */
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly problem: FormProblem | undefined;
  /** A day that its user is asked to confirm. */
  readonly unusualDay: string | undefined;
}

const labels = labelsOf(expenseFields);

const kinds = [
  ['expense', 'Expense'],
  ['refund', 'Refund: lowers the amount spent'],
] as const;

/** The form with all fields of an expense. */
export function formPage(visitor: Visitor, view: FormView): Promise<string> {
  const { expense, budgets, categories, problem, unusualDay } = view;
  const isBudgetGone = problem?.errors.budgetId !== undefined;
  // The address to go back to may be that of the budget which is gone.
  const values = isBudgetGone ? { ...view.values, budgetId: '', back: pageRoutes.expenses } : view.values;
  const saved: Readonly<Record<string, string>> = expense ? savedValues(expense) : { spentOn: visitor.today };
  const common = formFields(expenseFields, { values, saved, problem });
  // An expense stays in the account of its budget.
  const sharedFrom = expense && budgets.find(({ id }) => id === expense.budgetId)?.sharedBy?.id;
  const back = expense ? budgetHref(expense) : pageRoutes.expenses;
  const currencies = [['', 'Currency of the budget'], ...currencyCodes().map((code) => [code, code])] as [
    string,
    string,
  ][];
  return visitor.render({
    title: expense ? 'Edit expense' : 'New expense',
    lead: expense && adderNames(visitor, sharedFrom !== undefined)(expense),
    parent: { href: back, label: expense?.budgetId ? 'Budget' : 'Expenses' },
    modules: ['amounts.js'],
    actions:
      expense &&
      html`<a class="button secondary" href="${pathOf(pageRoutes.deleteExpense, expense.id)}" data-dialog>Delete</a>`,
    main: html`${problems(problem, labels)}<form class="card form" method="post" action="${expense ? pathOf(pageRoutes.editExpense, expense.id) : pageRoutes.expenses}" novalidate>
${visitor.csrfField}${onceField()}<input type="hidden" name="back" value="${values.back ?? back}">${expense && html`<input type="hidden" name="version" value="${expense.version}">`}${unusualDay && html`<input type="hidden" name="confirmedDay" value="${unusualDay}">`}
${field(common('description', { required: true }))}
${field(common('amount', { ...amountAttributes(), required: true }))}
${field({ ...common('budgetId', {}, budgetChoices(budgets, sharedFrom === undefined)), type: 'select' })}
${field({ ...common('kind', {}, kinds), type: 'select' })}
${categoryField(categories, values.category ?? saved.category, common('category').error)}
${field({ ...common('spentOn', { 'data-today': !expense && !problem }), type: 'date' })}
${field({ ...common('tags', { autocomplete: 'off' }), help: 'Separated by commas.' })}
${field({ ...common('currency'), type: 'select', choices: currencies, help: 'Choose one if you paid in another currency.' })}
${field({ ...common('rate', { inputmode: 'decimal', autocomplete: 'off' }), help: 'Exchange rate: the price of one unit in the currency of the budget, such as 1.0825.' })}
${field({ ...common('notes'), attributes: {}, type: 'textarea', countMax: 2_000 })}
<div class="actions"><button>${expense ? 'Save' : 'Add expense'}</button>${linkButton(back, 'Cancel', 'quiet')}</div></form>`,
  });
}

function savedValues(expense: Expense): Readonly<Record<string, string>> {
  const { description, kind, category, spentOn, notes, rate } = expense;
  const { budgetId, tags } = placeInForm(expense);
  const minor = expense.originalAmountMinor ?? expense.amountMinor;
  const amount = typedText(minor, expense.originalCurrency ?? expense.currency);
  return {
    description,
    amount,
    kind,
    budgetId,
    spentOn,
    currency: expense.originalCurrency ?? (expense.budgetId === null ? expense.currency : ''),
    rate: rate?.replace('.', readingOfReader().decimal ?? '.') ?? '',
    category: category ?? '',
    tags: tags.join(', '),
    notes: notes ?? '',
  };
}

export function deletionPage(visitor: Visitor, expense: Expense): Promise<string> {
  const { id, description, amountMinor, currency, budgetId, kind } = expense;
  const cancelHref = budgetHref(expense);
  const counted = kind === 'refund' ? 'counts as spent again' : 'no longer counts as spent';
  const effect = kind === 'expense' && budgetId ? 'is returned to the budget' : counted;
  return visitor.render({
    title: 'Delete expense',
    parent: { href: cancelHref, label: budgetId ? 'Budget' : 'Expenses' },
    main: confirm({
      title: `Delete “${description}”?`,
      text: `${money(amountMinor, currency)} ${effect}. The ledger records a reversal.`,
      action: pathOf(pageRoutes.deleteExpense, id),
      csrfField: visitor.csrfField,
      deed: 'Delete expense',
      cancelHref,
    }),
  });
}
