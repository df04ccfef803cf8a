import { labelsOf } from '@octavo/core';
import { currencyCodes } from '@octavo/documents/values';
import type { FormProblem } from '@octavo/web/html';
import { field, type Html, html, linkButton } from '@octavo/web/html';
import { periodAt } from '../money/periods.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { formFields } from '../site/form-fields.ts';
import { onceField, type Visitor } from '../site/page-context.ts';
import { amountAttributes, problems, typedText } from '../site/views.ts';
import { type Budget, budgetFields, defaultThresholds } from './budget.ts';

interface FormView {
  /** The budget to edit; absent for a new one. */
  readonly budget?: Budget;
  /** Values as typed. */
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly problem?: FormProblem;
  /** The currency of a new budget. */
  readonly currency?: string;
}

const labels = { ...labelsOf(budgetFields), from: 'Changes apply from' };

/** In the order of the form. */
const periods: Readonly<Record<Budget['period'], string>> = {
  monthly: 'Monthly',
  weekly: 'Weekly',
  quarterly: 'Quarterly',
  yearly: 'Yearly',
  daily: 'Daily',
  none: 'Never',
};

const rollovers: Readonly<Record<Budget['rollover'], string>> = {
  none: 'Not carried over',
  positive: 'Added to the next period',
  full: 'Added to the next period, including overspending',
};

/** The form for a new budget, or one that is edited. */
export function formPage(
  visitor: Visitor,
  { budget, values, problem, currency = 'USD' }: FormView,
): Promise<string> {
  const common = formFields(budgetFields, { values, saved: savedValues(budget, currency), problem });
  const back = budget ? pathOf(pageRoutes.budget, budget.id) : pageRoutes.budgets;
  return visitor.render({
    title: budget ? `Edit ${budget.name}` : 'New budget',
    parent: { href: back, label: budget?.name ?? 'Budgets' },
    modules: ['amounts.js'],
    main: html`${problems(problem, labels)}<form class="card form" method="post" action="${budget ? pathOf(pageRoutes.editBudget, budget.id) : pageRoutes.budgets}" novalidate>
${visitor.csrfField}${onceField()}${budget && html`<input type="hidden" name="version" value="${budget.version}">`}
${field(common('name', { required: true, autofocus: !budget && !problem, placeholder: 'Groceries' }))}
${field({ ...common('limit', { ...amountAttributes(), required: true, placeholder: typedText(40_000, 'USD') }), help: 'Amount that you plan to spend in each period.' })}
${field({ ...common('currency'), type: 'select', choices: currencyCodes().map((code) => [code, code] as const) })}
${field({ ...common('period', {}, Object.entries(periods)), type: 'select' })}
${field({ ...common('periodDay', { inputmode: 'numeric', autocomplete: 'off' }), help: 'For months, quarters and years: 1 to 28, such as the day on which you are paid.' })}
${field({ ...common('rollover', {}, Object.entries(rollovers)), type: 'select' })}
${field({ ...common('startDate'), type: 'date', help: 'The remainder is carried over from this period on. Leave empty for today.' })}
${field({ ...common('thresholds', { inputmode: 'numeric' }), help: 'Percent of the available amount, such as 80, 100. Leave empty for no notifications.' })}
${budget && budget.period !== 'none' && fromField(budget, visitor.today, { value: values.from, error: problem?.errors?.from })}
<div class="actions"><button>${budget ? 'Save' : 'Create budget'}</button>${linkButton(back, 'Cancel', 'quiet')}</div></form>`,
  });
}

/** From which period a change of the terms holds. */
function fromField(
  { period, periodDay }: Budget,
  today: string,
  typed: { readonly value: string | undefined; readonly error: string | undefined },
): Html {
  const { name } = periodAt(period, today, periodDay);
  return field({
    ...typed,
    name: 'from',
    label: labels.from,
    help: `A new limit, period, first day or rollover applies from this period on. Leave empty for the current one (${name}): past periods keep their values. An earlier one changes what they had left.`,
  });
}

function savedValues(budget: Budget | undefined, usual: string): Readonly<Record<string, string>> {
  if (!budget)
    return { currency: usual, period: 'monthly', periodDay: '1', thresholds: defaultThresholds.join(', ') };
  const { name, limitMinor, currency, period, periodDay, rollover, startDate, thresholds } = budget;
  return {
    name,
    currency,
    period,
    periodDay: String(periodDay),
    rollover,
    startDate,
    limit: typedText(limitMinor, currency),
    thresholds: thresholds.join(', '),
  };
}
