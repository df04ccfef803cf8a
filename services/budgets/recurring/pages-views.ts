import { badge, empty, linkButton } from '#kit/html/blocks.ts';
import { confirm } from '#kit/html/confirm.ts';
import { checkboxes, field } from '#kit/html/form.ts';
import type { FormProblem } from '#kit/html/form-problem.ts';
import { type Html, html } from '#kit/html/html.ts';
import { icon } from '#kit/html/icons.ts';
import { table } from '#kit/html/table.ts';
import type { Budget } from '../budgets/index.ts';
import { categoryField } from '../expenses/index.ts';
import { decimalText } from '../money.ts';
import type { Page } from '../paging.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { onceField, type Visitor } from '../site.ts';
import { cursorPager, day, money, problems } from '../views.ts';
import type { Recurring } from './recurring.ts';

interface ListView {
  readonly page: Page<Recurring>;
  readonly budgets: readonly Budget[];
  readonly hasCursor: boolean;
}

export function listPage(visitor: Visitor, { page, budgets, hasCursor }: ListView): Promise<string> {
  const names = new Map(budgets.map(({ id, name }) => [id, name]));
  return visitor.render({
    title: 'Recurring expenses',
    lead: 'Rent, subscriptions and the like, added automatically when their day begins.',
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
    text: 'Enter once what you pay every week, month or year. Days that were missed are caught up, for up to a year.',
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
        kind: 'fit',
        cell: ({ budgetId }) =>
          html`<a href="${pathOf(pageRoutes.budget, budgetId)}">${names.get(budgetId) ?? 'Budget'}</a>`,
      },
      {
        header: 'Next',
        kind: 'fit',
        cell: ({ next }) => (next === null ? badge('plain', 'ended') : day(next)),
      },
      { header: 'Amount', kind: 'number', cell: ({ amountMinor, currency }) => money(amountMinor, currency) },
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

/** `every month on day 31`, `every 2 weeks on Monday, Friday`. */
function ruleOf({ freq, interval, byDay, byMonthDay, end }: Recurring): Html {
  const unit = units[freq];
  const often = interval === 1 ? `every ${unit}` : `every ${interval} ${unit}s`;
  const days = byDay ? ` on ${byDay.map((name) => weekdayNames[name]).join(', ')}` : '';
  const monthDays = byMonthDay ? ` on day ${[byMonthDay].flat().join(', ')}` : '';
  return html`${often}${days}${monthDays}${end && html` until ${day(end)}`}`;
}

interface FormView {
  /** What is edited; absent for a new one. */
  readonly recurring: Recurring | undefined;
  readonly budgets: readonly Budget[];
  readonly categories: readonly string[];
  /** What was typed. */
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly byDay: readonly string[];
  readonly problem: FormProblem | undefined;
}

const labels = {
  description: 'Description',
  amount: 'Amount',
  budgetId: 'Budget',
  category: 'Category',
  freq: 'How often',
  interval: 'Every',
  byDay: 'On these days of the week',
  byMonthDay: 'On these days of the month',
  start: 'First day',
  end: 'Last day',
  count: 'How many times',
  timezone: 'Time zone',
};

const frequencies = [
  ['monthly', 'monthly'],
  ['weekly', 'weekly'],
  ['daily', 'daily'],
  ['yearly', 'yearly'],
] as const;

export function formPage(visitor: Visitor, view: FormView): Promise<string> {
  const { recurring, budgets, categories, values, byDay, problem } = view;
  const errors = problem?.errors ?? {};
  const saved: Readonly<Record<string, string>> = recurring
    ? savedValues(recurring)
    : { start: visitor.today, interval: '1', freq: 'monthly', timezone: 'UTC' };
  const common = (name: keyof typeof labels) => ({
    name,
    label: labels[name],
    value: values[name] ?? saved[name],
    error: errors[name] ?? errors[`${name}[0]`],
  });
  const number = { inputmode: 'numeric', autocomplete: 'off' } as const;
  return visitor.render({
    title: recurring ? `Edit ${recurring.description}` : 'New recurring expense',
    parent: { href: pageRoutes.recurring, label: 'Recurring expenses' },
    main: html`${problems(problem, labels)}<form class="card form" method="post" action="${recurring ? pathOf(pageRoutes.editRecurring, recurring.id) : pageRoutes.recurring}" novalidate>
${visitor.csrfField}${onceField()}${recurring && html`<input type="hidden" name="version" value="${recurring.version}">`}
${field({ ...common('description'), attributes: { maxlength: 500, required: true, placeholder: 'Rent' } })}
${field({ ...common('amount'), attributes: { inputmode: 'decimal', required: true, autocomplete: 'off' } })}
${field({ ...common('budgetId'), type: 'select', choices: budgets.map(({ id, name, currency }) => [id, `${name} (${currency})`] as const) })}
${categoryField(categories, values.category ?? saved.category, errors.category)}
${field({ ...common('freq'), type: 'select', choices: frequencies })}
${field({ ...common('interval'), help: '2 with “weekly” means every other week.', attributes: number })}
${field({ ...common('start'), type: 'date', help: 'A day in the past adds what was missed since, for up to a year.' })}
${checkboxes({
  name: 'byDay',
  label: labels.byDay,
  choices: Object.entries(weekdayNames),
  checked: values.freq === undefined ? (recurring?.byDay ?? []) : byDay,
  error: errors.byDay,
  help: 'For daily and weekly ones. Without any, the weekday of the first day.',
})}
${field({ ...common('byMonthDay'), help: 'For monthly and yearly ones, such as 1, 15. 31 is the last day of shorter months.', attributes: number })}
${field({ ...common('end'), type: 'date', help: 'Empty if it goes on.' })}
${field({ ...common('count'), help: 'Empty if there is no limit.', attributes: number })}
${field({ ...common('timezone'), help: 'Where its day begins, such as Europe/Berlin.', attributes: { 'data-time-zone': !recurring && !problem, maxlength: 64, autocomplete: 'off' } })}
<div class="actions"><button>${recurring ? 'Save' : 'Add'}</button>${linkButton(pageRoutes.recurring, 'Cancel', 'quiet')}</div></form>`,
  });
}

function savedValues(row: Recurring): Readonly<Record<string, string>> {
  const { description, budgetId, category, freq, interval, byMonthDay, start, end, count, timezone } = row;
  return {
    ...{ description, budgetId, freq, start, timezone },
    amount: decimalText(row.amountMinor, row.currency),
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
      text: 'No more expenses are added. Those that were added stay.',
      action: pathOf(pageRoutes.deleteRecurring, id),
      csrfField: visitor.csrfField,
      deed: 'Delete recurring expense',
      cancelHref: pageRoutes.recurring,
    }),
  });
}
