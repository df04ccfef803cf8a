import { labelsOf } from '@octavo/core';
import type { FormProblem } from '@octavo/web/html';
import {
  badge,
  type Content,
  checkbox,
  confirm,
  count,
  empty,
  field,
  formatNumber,
  type Html,
  html,
  type IconName,
  icon,
  linkButton,
  table,
} from '@octavo/web/html';
import type { Budget } from '../budgets/index.ts';
import { categoryField, expenseTable } from '../expenses/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { formFields } from '../site/form-fields.ts';
import { onceField, type Visitor } from '../site/page-context.ts';
import { problems } from '../site/views.ts';
import type { Trial } from './apply.ts';
import { type FormValues, nameIn, type TypedCondition, typedConditions } from './pages-form.ts';
import { conditionsMax, formFieldsOfRule, type Rule } from './rule.ts';
import { fieldChoices, nameOf, opChoices } from './rule-words.ts';

interface ListView {
  readonly rules: readonly Rule[];
  readonly budgets: readonly Budget[];
  /** The change that was just made, which can be undone. */
  readonly undo: Content;
}

export function listPage(visitor: Visitor, { rules, budgets, undo }: ListView): Promise<string> {
  const lead =
    'Rules give imported expenses a budget, a category and tags. Each field is set by the first matching rule that sets it.';
  if (rules.length === 0)
    return visitor.render({
      title: 'Rules',
      main: empty({
        icon: 'flag',
        title: 'No rules yet',
        text: `${lead} A category that the file gives always stays.`,
        actions: linkButton(pageRoutes.newRule, 'Add the first rule', 'primary'),
      }),
    });
  return visitor.render({
    title: 'Rules',
    lead,
    actions: linkButton(pageRoutes.newRule, 'New rule', 'primary'),
    modules: ['live.js'],
    main: html`${undo}<form id="moves" method="post">${visitor.csrfField}</form>${ruleTable(rules, budgets)}`,
  });
}

function ruleTable(rules: readonly Rule[], budgets: readonly Budget[]): Html {
  const names = new Map(budgets.map(({ id, name }) => [id, name]));
  return table<Rule>({
    caption: 'Rules, in the order they are tried',
    rows: rules,
    id: ({ id }) => `rule-${id}`,
    columns: [
      { header: 'Order', kind: 'number', cell: ({ position }) => formatNumber(position) },
      {
        header: 'Rows that match',
        kind: 'main',
        cell: (rule) =>
          html`<a href="${pathOf(pageRoutes.editRule, rule.id)}">${nameOf(rule)}</a>${!rule.enabled && html` ${badge('plain', 'off')}`}`,
      },
      { header: 'Budget', kind: 'plain', cell: (rule) => placeOf(rule, names) },
      { header: 'Category', kind: 'plain', cell: ({ set }) => set.category },
      {
        header: 'Tags',
        kind: 'fit',
        cell: ({ set }) => [
          ...(set.addTags ?? []).map((tag) => `#${tag} `),
          set.description !== undefined && html`<div>as “${set.description}”</div>`,
        ],
      },
      {
        header: 'Actions',
        kind: 'row-actions',
        cell: (rule) => actionsOf(rule, rules.length),
      },
    ],
  });
}

function placeOf({ set, transfer }: Rule, names: ReadonlyMap<string, string>): Content {
  if (transfer) return badge('info', 'transfer');
  return set.budgetId !== undefined && (names.get(set.budgetId) ?? 'A deleted budget');
}

/** Buttons of the form above the table that move a rule by one place, beside the link that deletes it. */
function actionsOf(rule: Rule, rules: number): Html {
  const { id, position } = rule;
  const name = nameOf(rule);
  const button = (to: number, label: string, symbol: IconName) =>
    to >= 1 &&
    to <= rules &&
    html`<button class="quiet only-icon" form="moves" formaction="${pathOf(pageRoutes.moveRule, id)}" name="position" value="${to}" title="${label}">${icon(symbol)}<span class="hidden">${label}: ${name}</span></button>`;
  return html`${button(position - 1, 'Move up', 'up')}${button(position + 1, 'Move down', 'down')}
<a href="${pathOf(pageRoutes.deleteRule, id)}" data-dialog title="Delete">${icon('close')}<span class="hidden">Delete ${name}</span></a>`;
}

interface FormView {
  /** The rule to edit; absent for a new one. */
  readonly rule: Rule | undefined;
  /** Values as typed, saved, or as the address gives them. */
  readonly values: FormValues;
  readonly budgets: readonly Budget[];
  readonly categories: readonly string[];
  readonly trial: Trial | undefined;
  readonly problem: FormProblem | undefined;
}

const fieldLabels = { ...labelsOf(formFieldsOfRule), set: 'The rule' };
const labels: Readonly<Record<string, string>> = { ...fieldLabels, ...conditionLabels() };

export function formPage(visitor: Visitor, view: FormView): Promise<string> {
  const { rule, values, budgets, categories, trial, problem } = view;
  const errors = problem?.errors ?? {};
  const common = formFields(formFieldsOfRule, { values, problem });
  const action = rule ? pathOf(pageRoutes.editRule, rule.id) : pageRoutes.rules;
  const open = trial?.open ?? 0;
  return visitor.render({
    title: rule ? 'Edit rule' : 'New rule',
    parent: { href: pageRoutes.rules, label: 'Rules' },
    main: html`<div class="stack">${problems(problem, labels)}<form class="card form" method="post" action="${action}" novalidate>
${visitor.csrfField}${onceField()}${rule && html`<input type="hidden" name="version" value="${rule.version}">`}
${conditionFieldset(values, problem)}
<fieldset class="part"><legend>What they get</legend><p class="help">Values that a row already has are kept.</p>
${field({ name: 'budgetId', label: fieldLabels.budgetId, type: 'select', value: values.budgetId, choices: [['', 'None'], ...budgets.map(({ id, name, currency }) => [id, `${name} (${currency})`] as const)] })}
${categoryField(categories, values.category, errors.category)}
${field({ ...common('tags', { autocomplete: 'off' }), help: 'Separated by commas.' })}
${field({ ...common('description', { autocomplete: 'off' }), help: 'Replaces the text from the bank.', error: errors['set.description'] })}
${checkbox({ name: 'transfer', label: 'They are transfers between my accounts, neither income nor expense', checked: values.transfer === 'true', error: errors.transfer })}
${checkbox({ name: 'enabled', label: 'Apply to imports from now on', checked: values.enabled !== 'false' })}</fieldset>
${open > 0 && checkbox({ name: 'apply', label: `Also change ${count(open, 'expense')} that ${open === 1 ? 'is' : 'are'} there`, checked: values.apply === 'true' })}
<div class="actions"><button>${rule ? 'Save' : 'Add rule'}</button><button class="secondary" name="do" value="try">Try</button>${linkButton(pageRoutes.rules, 'Cancel', 'quiet')}</div></form>
${trialSection(trial)}</div>`,
  });
}

/** The conditions, and an empty one for another. */
function conditionFieldset(values: FormValues, problem: FormProblem | undefined): Html {
  const typed = typedConditions(values);
  const rows =
    typed.length < conditionsMax ? [...typed, { field: 'description', op: 'contains', value: '' }] : typed;
  return html`<fieldset class="part"><legend>Rows that match</legend>
${field({
  name: 'match',
  label: fieldLabels.match,
  type: 'select',
  value: values.match ?? 'all',
  choices: [
    ['all', 'all conditions match'],
    ['any', 'any condition matches'],
  ],
})}
${rows.map((row, index) => conditionRow(row, index, problem?.errors ?? {}))}
<p class="help">Texts match regardless of case: “LIDL” matches “Lidl 4711 Berlin”. Separate several values by semicolons. “Try” adds an empty row for another condition.</p></fieldset>`;
}

function conditionRow(row: TypedCondition, index: number, errors: Readonly<Record<string, string>>): Html {
  const control = (part: keyof TypedCondition, choices?: readonly (readonly [string, string])[]) => {
    const name = nameIn(index, part);
    return field({
      name,
      label: labels[name] ?? '',
      value: row[part],
      error: errors[name] ?? (part === 'value' ? errors[`${name}[0]`] : undefined),
      ...(choices ? { type: 'select', choices } : { attributes: { maxlength: 200, autocomplete: 'off' } }),
    });
  };
  return html`<div class="filters tight">${control('field', fieldChoices)}${control('op', opChoices)}${control('value')}</div>`;
}

function conditionLabels(): Record<string, string> {
  const rows = Array.from({ length: conditionsMax }, (_, index) => [
    [nameIn(index, 'field'), `Field ${index + 1}`],
    [nameIn(index, 'op'), `Comparison ${index + 1}`],
    [nameIn(index, 'value'), `Value ${index + 1}`],
  ]);
  return Object.fromEntries(rows.flat());
}

function trialSection(trial: Trial | undefined): Content {
  if (!trial) return undefined;
  const { shown, matched, tried } = trial;
  const among = tried === 1 ? 'your only expense' : `your ${formatNumber(tried)} expenses`;
  if (tried === 0)
    return html`<section><h2>No expenses to try it on</h2><p class="muted">The rule applies to imports from now on.</p></section>`;
  if (matched === 0)
    return html`<section><h2>No matches in ${among}</h2><p class="muted">Try a shorter part of the description.</p></section>`;
  const more = matched - shown.length;
  return html`<section><h2>Matches ${formatNumber(matched)} of ${among}</h2>${expenseTable(shown)}${more > 0 && html`<p class="muted">And ${formatNumber(more)} more.</p>`}</section>`;
}

export function deletionPage(visitor: Visitor, rule: Rule): Promise<string> {
  return visitor.render({
    title: 'Delete rule',
    parent: { href: pageRoutes.rules, label: 'Rules' },
    main: confirm({
      title: `Delete the rule for “${nameOf(rule)}”?`,
      text: 'Expenses that it changed stay as they are.',
      action: pathOf(pageRoutes.deleteRule, rule.id),
      csrfField: visitor.csrfField,
      deed: 'Delete rule',
      cancelHref: pageRoutes.rules,
    }),
  });
}
