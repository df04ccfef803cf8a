import { labelsOf } from '@octavo/core';
import type { FormProblem } from '@octavo/web/html';
import {
  badge,
  checkboxes,
  confirm,
  empty,
  field,
  type Html,
  html,
  icon,
  linkButton,
  table,
} from '@octavo/web/html';
import type { Page } from '@octavo/web/rest';
import type { Budget } from '../budgets/index.ts';
import { categoryField } from '../expenses/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { formFields } from '../site/form-fields.ts';
import { onceField, type Visitor } from '../site/page-context.ts';
import {
  amountAttributes,
  budgetFirst,
  cursorPager,
  day,
  money,
  problems,
  typedText,
} from '../site/views.ts';
import { type Recurring, recurringFields } from './recurring.ts';

interface ListView {
  readonly page: Page<Recurring>;
  readonly budgets: readonly Budget[];
  readonly hasCursor: boolean;
}

export function listPage(visitor: Visitor, { page, budgets, hasCursor }: ListView): Promise<string> {
  const names = new Map(budgets.map(({ id, name }) => [id, name]));
  return visitor.render({
    title: 'Recurring expenses',
    lead: 'Rent, subscriptions and other regular expenses, added automatically on their day.',
    actions: page.total > 0 && linkButton(pageRoutes.newRecurring, 'New recurring expense', 'primary'),
    modules: ['live.js'],
    main:
      page.total === 0
        ? nothing(budgets.length > 0)
        : html`${recurringTable(page.items, names)}${cursorPager(pageRoutes.recurring, {}, { next: page.next, hasCursor })}`,
  });
}

function nothing(hasBudgets: boolean): Html {
  return empty({
    icon: 'calendar',
    title: 'No recurring expenses yet',
    text: 'Add an expense that you pay every week, month or year. Missed days are added later, for up to a year.',
    actions: hasBudgets
      ? linkButton(pageRoutes.newRecurring, 'Add the first one', 'primary')
      : linkButton(pageRoutes.newBudget, 'Create a budget first', 'primary'),
  });
}

function recurringTable(rows: readonly Recurring[], names: ReadonlyMap<string, string>): Html {
  return table<Recurring>({
    caption: 'Recurring expenses, newest first',
    rows,
    columns: [
      {
        header: 'Expense',
        kind: 'main',
        cell: (row) =>
          html`<a href="${pathOf(pageRoutes.editRecurring, row.id)}">${row.description}</a><div>${ruleOf(row)}</div>`,
      },
      {
        header: 'Budget',
        kind: 'plain',
        cell: ({ budgetId }) =>
          html`<a href="${pathOf(pageRoutes.budget, budgetId)}">${names.get(budgetId) ?? 'Budget'}</a>`,
      },
      {
        header: 'Next',
        kind: 'fit',
        cell: ({ next }) => (next === null ? badge('plain', 'ended') : day(next)),
      },
      { header: 'Amount', kind: 'amount', cell: ({ amountMinor, currency }) => money(amountMinor, currency) },
      {
        header: 'Actions',
        kind: 'row-actions',
        cell: ({ id, description }) =>
          html`<a href="${pathOf(pageRoutes.deleteRecurring, id)}" data-dialog title="Delete">${icon('close')}<span class="hidden">Delete ${description}</span></a>`,
      },
    ],
  });
}

const weekdayNames = {
  MO: 'Monday',
  TU: 'Tuesday',
  WE: 'Wednesday',
  TH: 'Thursday',
  FR: 'Friday',
  SA: 'Saturday',
  SU: 'Sunday',
} as const;

const units = { daily: 'day', weekly: 'week', monthly: 'month', yearly: 'year' } as const;

const moves = {
  same: '',
  before: ', on the Friday before a weekend',
  after: ', on the Monday after a weekend',
} as const;

const onWeekendChoices = [
  ['same', 'stays on that day'],
  ['before', 'moves to the Friday before'],
  ['after', 'moves to the Monday after'],
] as const;

/** `every month on day 31`, `every 2 weeks on Monday, Friday`. */
function ruleOf({ freq, interval, byDay, byMonthDay, onWeekend, end }: Recurring): Html {
  const unit = units[freq];
  const often = interval === 1 ? `every ${unit}` : `every ${interval} ${unit}s`;
  const days = byDay ? ` on ${byDay.map((name) => weekdayNames[name]).join(', ')}` : '';
  const monthDays = byMonthDay ? ` on day ${[byMonthDay].flat().join(', ')}` : '';
  return html`${often}${days}${monthDays}${moves[onWeekend]}${end && html` until ${day(end)}`}`;
}

interface FormView {
  /** The rule to edit; absent for a new one. */
  readonly recurring: Recurring | undefined;
  readonly budgets: readonly Budget[];
  readonly categories: readonly string[];
  /** Values as typed. */
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly byDay: readonly string[];
  readonly problem: FormProblem | undefined;
  /** The first day that saving again confirms. */
  readonly askedStart: string | undefined;
}

const labels = labelsOf(recurringFields);

const frequencies = [
  ['monthly', 'monthly'],
  ['weekly', 'weekly'],
  ['daily', 'daily'],
  ['yearly', 'yearly'],
] as const;

const newRecurring = {
  title: 'New recurring expense',
  parent: { href: pageRoutes.recurring, label: 'Recurring expenses' },
};

export function formPage(visitor: Visitor, view: FormView): Promise<string> {
  const { recurring, budgets, categories, values, byDay, problem, askedStart } = view;
  if (budgets.length === 0) {
    const main = budgetFirst('calendar', 'Recurring expenses belong to budgets.');
    return visitor.render({ ...newRecurring, main });
  }
  const errors = problem?.errors ?? {};
  const saved: Readonly<Record<string, string>> = recurring
    ? savedValues(recurring)
    : { start: visitor.today, interval: '1', freq: 'monthly', timezone: 'UTC' };
  const common = formFields(recurringFields, { values, saved, problem });
  const number = { inputmode: 'numeric', autocomplete: 'off' } as const;
  return visitor.render({
    ...newRecurring,
    ...(recurring && { title: `Edit ${recurring.description}` }),
    modules: ['amounts.js'],
    main: html`${problems(problem, labels)}<form class="card form" method="post" action="${recurring ? pathOf(pageRoutes.editRecurring, recurring.id) : pageRoutes.recurring}" novalidate>
${visitor.csrfField}${onceField()}${recurring && html`<input type="hidden" name="version" value="${recurring.version}">`}${askedStart && html`<input type="hidden" name="confirmedStart" value="${askedStart}">`}
${field(common('description', { required: true, placeholder: 'Rent' }))}
${field(common('amount', { ...amountAttributes(), required: true }))}
${field({ ...common('budgetId', {}, [...(errors.budgetId ? ([['', 'Choose a budget']] as const) : []), ...budgets.map(({ id, name, currency }) => [id, `${name} (${currency})`] as const)]), type: 'select', ...(errors.budgetId && { value: '' }) })}
${categoryField(categories, values.category ?? saved.category, errors.category)}
${field({ ...common('freq', {}, frequencies), type: 'select' })}
${field({ ...common('interval', number), help: 'For example, 2 with “weekly” means every other week.' })}
${field({ ...common('start', { 'data-today': !recurring && !problem }), type: 'date', help: recurring ? 'An earlier day adds the missed expenses, for up to a year. All other changes apply from tomorrow.' : 'If you choose a day in the past, the missed expenses are added, for up to a year.' })}
${checkboxes({
  name: 'byDay',
  label: labels.byDay,
  choices: Object.entries(weekdayNames),
  checked: values.freq === undefined ? (recurring?.byDay ?? []) : byDay,
  error: errors.byDay,
  help: 'For daily and weekly rules. By default the weekday of the first day.',
})}
${field({ ...common('byMonthDay', number), help: 'For monthly and yearly rules, such as 1, 15. In shorter months, 31 is the last day.' })}
${field({ ...common('onWeekend'), type: 'select', choices: onWeekendChoices, help: 'The last working day of each month is day 31 that moves to the Friday before.' })}
${field({ ...common('end'), type: 'date', help: 'Leave empty for no end.' })}
${field({ ...common('count', number), help: 'Leave empty for no limit.' })}
${field({ ...common('timezone', { 'data-time-zone': !recurring && !problem, autocomplete: 'off' }), help: 'Time zone, such as Europe/Berlin. Expenses are added when the day begins there.' })}
<div class="actions"><button>${recurring ? 'Save' : 'Add'}</button>${linkButton(pageRoutes.recurring, 'Cancel', 'quiet')}</div></form>`,
  });
}

function savedValues(row: Recurring): Readonly<Record<string, string>> {
  const {
    description,
    budgetId,
    category,
    freq,
    interval,
    byMonthDay,
    onWeekend,
    start,
    end,
    count,
    timezone,
  } = row;
  return {
    description,
    budgetId,
    freq,
    start,
    onWeekend,
    timezone,
    amount: typedText(row.amountMinor, row.currency),
    category: category ?? '',
    interval: String(interval),
    byMonthDay: byMonthDay === null ? '' : [byMonthDay].flat().join(', '),
    end: end ?? '',
    count: count === null ? '' : String(count),
  };
}

export function deletionPage(visitor: Visitor, { id, description }: Recurring): Promise<string> {
  return visitor.render({
    title: 'Delete recurring expense',
    parent: { href: pageRoutes.recurring, label: 'Recurring expenses' },
    main: confirm({
      title: `Delete “${description}”?`,
      text: 'No more expenses are added. Existing expenses stay.',
      action: pathOf(pageRoutes.deleteRecurring, id),
      csrfField: visitor.csrfField,
      deed: 'Delete recurring expense',
      cancelHref: pageRoutes.recurring,
    }),
  });
}
