import { currencyCodes } from '@octavo/documents/values';
import type { FormProblem } from '@octavo/web/html';
import { field, html, linkButton } from '@octavo/web/html';
import { pageRoutes, pathOf } from '../routes.ts';
import { onceField, type Visitor } from '../site/page-context.ts';
import { amountAttributes, problems, typedText } from '../site/views.ts';
import { type Budget, type BudgetInput, defaultThresholds } from './budget.ts';

interface FormView {
  /** The budget to edit; absent for a new one. */
  readonly budget?: Budget;
  /** Values as typed. */
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly problem?: FormProblem;
}

const labels: Readonly<Record<keyof BudgetInput, string>> = {
  name: 'Name',
  limit: 'Limit',
  currency: 'Currency',
  period: 'Repeats',
  rollover: 'Remaining amount',
  startDate: 'First day',
  thresholds: 'Notify me at',
};

const periods = [
  ['monthly', 'Monthly'],
  ['weekly', 'Weekly'],
  ['quarterly', 'Quarterly'],
  ['yearly', 'Yearly'],
  ['daily', 'Daily'],
  ['none', 'Never'],
] as const;

const rollovers = [
  ['none', 'Not carried over'],
  ['positive', 'Added to the next period'],
  ['full', 'Added to the next period, including overspending'],
] as const;

/** The form for a new budget, or one that is edited. */
export function formPage(visitor: Visitor, { budget, values, problem }: FormView): Promise<string> {
  const errors = problem?.errors ?? {};
  const saved = savedValues(budget);
  const common = (name: keyof typeof labels) => ({
    name,
    label: labels[name],
    value: values[name] ?? saved[name],
    error: errors[name],
  });
  const back = budget ? pathOf(pageRoutes.budget, budget.id) : pageRoutes.budgets;
  return visitor.render({
    title: budget ? `Edit ${budget.name}` : 'New budget',
    parent: { href: back, label: budget?.name ?? 'Budgets' },
    modules: ['amounts.js'],
    main: html`${problems(problem, labels)}<form class="card form" method="post" action="${budget ? pathOf(pageRoutes.editBudget, budget.id) : pageRoutes.budgets}" novalidate>
${visitor.csrfField}${onceField()}${budget && html`<input type="hidden" name="version" value="${budget.version}">`}
${field({ ...common('name'), attributes: { maxlength: 120, required: true, autofocus: !budget && !problem, placeholder: 'Groceries' } })}
${field({ ...common('limit'), help: 'Amount that you plan to spend in each period.', attributes: { ...amountAttributes, required: true, placeholder: typedText(40_000, 'USD') } })}
${field({ ...common('currency'), type: 'select', choices: currencyCodes().map((code) => [code, code] as const) })}
${field({ ...common('period'), type: 'select', choices: periods })}
${field({ ...common('rollover'), type: 'select', choices: rollovers })}
${field({ ...common('startDate'), type: 'date', help: 'The remainder is carried over from this period on. Leave empty for today.' })}
${field({ ...common('thresholds'), help: 'Percent of the available amount, such as 80, 100. Leave empty for no notifications.', attributes: { inputmode: 'numeric' } })}
<div class="actions"><button>${budget ? 'Save' : 'Create budget'}</button>${linkButton(back, 'Cancel', 'quiet')}</div></form>`,
  });
}

function savedValues(budget: Budget | undefined): Readonly<Record<string, string>> {
  if (!budget) return { currency: 'USD', period: 'monthly', thresholds: defaultThresholds.join(', ') };
  const { name, limitMinor, currency, period, rollover, startDate, thresholds } = budget;
  return {
    name,
    currency,
    period,
    rollover,
    startDate,
    limit: typedText(limitMinor, currency),
    thresholds: thresholds.join(', '),
  };
}
