import { linkButton } from '#kit/html/blocks.ts';
import { field } from '#kit/html/form.ts';
import type { FormProblem } from '#kit/html/form-problem.ts';
import { html } from '#kit/html/html.ts';
import { currencyCodes } from '../currencies.ts';
import { decimalText } from '../money.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { onceField, type Visitor } from '../site.ts';
import { problems } from '../views.ts';
import { type Budget, defaultThresholds } from './budget.ts';

interface FormView {
  /** What is edited; absent for a new one. */
  readonly budget?: Budget;
  /** What was typed. */
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly problem?: FormProblem;
}

const labels = {
  name: 'Name',
  limit: 'Limit',
  currency: 'Currency',
  period: 'Starts again',
  rollover: 'What is left at the end',
  startDate: 'Counts from',
  thresholds: 'Notify me at',
};

const periods = [
  ['monthly', 'every month'],
  ['weekly', 'every week'],
  ['quarterly', 'every quarter'],
  ['yearly', 'every year'],
  ['daily', 'every day'],
  ['none', 'never'],
] as const;

const rollovers = [
  ['none', 'is not carried over'],
  ['positive', 'is added to the next period'],
  ['full', 'is added to the next period, also what was overspent'],
] as const;

/** The form for a new budget, or one that is edited. */
export function formPage(visitor: Visitor, { budget, values, problem }: FormView): Promise<string> {
  const errors = problem?.errors ?? {};
  const saved = savedValues(budget);
  const common = (name: keyof typeof labels) => ({
    name,
    label: labels[name],
    value: values[name] ?? saved[name],
    error: errors[name] ?? errors[`${name}[0]`] ?? errors[`${name}[1]`],
  });
  const back = budget ? pathOf(pageRoutes.budget, budget.id) : pageRoutes.budgets;
  return visitor.render({
    title: budget ? `Edit ${budget.name}` : 'New budget',
    parent: { href: back, label: budget?.name ?? 'Budgets' },
    main: html`${problems(problem, labels)}<form class="card form" method="post" action="${budget ? pathOf(pageRoutes.editBudget, budget.id) : pageRoutes.budgets}" novalidate>
${visitor.csrfField}${onceField()}${budget && html`<input type="hidden" name="version" value="${budget.version}">`}
${field({ ...common('name'), attributes: { maxlength: 120, required: true, autofocus: !budget && !problem, placeholder: 'Groceries' } })}
${field({ ...common('limit'), help: 'How much you plan to spend in each period.', attributes: { inputmode: 'decimal', required: true, placeholder: '400.00', autocomplete: 'off' } })}
${field({ ...common('currency'), type: 'select', choices: currencyCodes().map((code) => [code, code] as const) })}
${field({ ...common('period'), type: 'select', choices: periods })}
${field({ ...common('rollover'), type: 'select', choices: rollovers })}
${field({ ...common('startDate'), type: 'date', help: 'What is left is carried over from this period on. Today if empty.' })}
${field({ ...common('thresholds'), help: 'Percent of what is available, such as 80, 100. Leave it empty for no notifications.', attributes: { inputmode: 'numeric' } })}
<div class="actions"><button>${budget ? 'Save' : 'Create budget'}</button>${linkButton(back, 'Cancel', 'quiet')}</div></form>`,
  });
}

function savedValues(budget: Budget | undefined): Readonly<Record<string, string>> {
  if (!budget) return { currency: 'USD', period: 'monthly', thresholds: defaultThresholds.join(', ') };
  const { name, limitMinor, currency, period, rollover, startDate, thresholds } = budget;
  return {
    ...{ name, currency, period, rollover, startDate },
    limit: decimalText(limitMinor, currency),
    thresholds: thresholds.join(', '),
  };
}
