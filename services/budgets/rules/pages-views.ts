import type { FormProblem } from '@octavo/web/html';
import {
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
import { categoryField, expenseTable } from '../expenses/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import { onceField, type Visitor } from '../site/page-context.ts';
import { problems } from '../site/views.ts';
import type { Rule } from './rule.ts';
import type { Trial } from './rules.ts';

const shownMax = 10;

export function listPage(visitor: Visitor, rules: readonly Rule[]): Promise<string> {
  const lead =
    'Rules give imported expenses a category by their description. The first matching rule applies.';
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
    main: html`<form id="moves" method="post">${visitor.csrfField}</form>${ruleTable(rules)}`,
  });
}

function ruleTable(rules: readonly Rule[]): Html {
  return table<Rule>({
    caption: 'Rules, in the order they are tried',
    rows: rules,
    columns: [
      { header: 'Order', kind: 'number', cell: ({ position }) => formatNumber(position) },
      {
        header: 'Description contains',
        kind: 'main',
        cell: ({ id, contains }) => html`<a href="${pathOf(pageRoutes.editRule, id)}">${contains}</a>`,
      },
      { header: 'Category', kind: 'fit', cell: ({ category }) => category },
      { header: 'Tags', kind: 'fit', cell: ({ tags }) => tags.map((tag) => `#${tag} `) },
      {
        header: 'Actions',
        kind: 'row-actions',
        cell: (rule) => actionsOf(rule, rules.length),
      },
    ],
  });
}

/** Buttons of the form above the table that move a rule by one place, beside the link that deletes it. */
function actionsOf({ id, contains, position }: Rule, rules: number): Html {
  const button = (to: number, label: string, symbol: IconName) =>
    to >= 1 &&
    to <= rules &&
    html`<button class="quiet only-icon" form="moves" formaction="${pathOf(pageRoutes.moveRule, id)}" name="position" value="${to}" title="${label}">${icon(symbol)}<span class="hidden">${label}: ${contains}</span></button>`;
  return html`${button(position - 1, 'Move up', 'up')}${button(position + 1, 'Move down', 'down')}
<a href="${pathOf(pageRoutes.deleteRule, id)}" data-dialog title="Delete">${icon('close')}<span class="hidden">Delete ${contains}</span></a>`;
}

interface FormView {
  /** The rule to edit; absent for a new one. */
  readonly rule: Rule | undefined;
  /** Values as typed, or as the address gives them. */
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly categories: readonly string[];
  readonly trial: Trial | undefined;
  readonly problem: FormProblem | undefined;
}

const labels = { contains: 'Description contains', category: 'Category', tags: 'Tags' };

export function formPage(visitor: Visitor, view: FormView): Promise<string> {
  const { rule, values, categories, trial, problem } = view;
  const errors = problem?.errors ?? {};
  const saved = rule && { ...rule, tags: rule.tags.join(', ') };
  const common = (name: keyof typeof labels) => ({
    name,
    label: labels[name],
    value: values[name] ?? saved?.[name],
    error: errors[name] ?? errors[`${name}[0]`],
  });
  const action = rule ? pathOf(pageRoutes.editRule, rule.id) : pageRoutes.rules;
  return visitor.render({
    title: rule ? 'Edit rule' : 'New rule',
    parent: { href: pageRoutes.rules, label: 'Rules' },
    main: html`<div class="stack">${problems(problem, labels)}<form class="card form" method="post" action="${action}" novalidate>
${visitor.csrfField}${onceField()}${rule && html`<input type="hidden" name="version" value="${rule.version}">`}
${field({ ...common('contains'), help: 'Part of the description or payee, in any case: “LIDL” fits “Lidl 4711 Berlin”.', attributes: { maxlength: 200, required: true, autocomplete: 'off' } })}
${categoryField(categories, values.category ?? saved?.category, errors.category)}
${field({ ...common('tags'), help: 'Separated by commas.', attributes: { autocomplete: 'off' } })}
${trial && trial.open.length > 0 && checkbox({ name: 'apply', label: `Also change ${count(trial.open.length, 'expense')} without a category`, checked: values.apply === 'true' })}
<div class="actions"><button>${rule ? 'Save' : 'Add rule'}</button><button class="secondary" name="do" value="try">Try</button>${linkButton(pageRoutes.rules, 'Cancel', 'quiet')}</div></form>
${trialSection(trial)}</div>`,
  });
}

function trialSection(trial: Trial | undefined): Content {
  if (!trial) return undefined;
  const { matches, tried } = trial;
  const among = tried === 1 ? 'your only expense' : `your last ${formatNumber(tried)} expenses`;
  if (tried === 0)
    return html`<section><h2>No expenses to try it on</h2><p class="muted">The rule applies to imports from now on.</p></section>`;
  if (matches.length === 0)
    return html`<section><h2>No matches in ${among}</h2><p class="muted">Try a shorter part of the description.</p></section>`;
  const more = matches.length - shownMax;
  return html`<section><h2>Matches ${formatNumber(matches.length)} of ${among}</h2>${expenseTable(matches.slice(0, shownMax))}${more > 0 && html`<p class="muted">And ${formatNumber(more)} more.</p>`}</section>`;
}

export function deletionPage(visitor: Visitor, { id, contains }: Rule): Promise<string> {
  return visitor.render({
    title: 'Delete rule',
    parent: { href: pageRoutes.rules, label: 'Rules' },
    main: confirm({
      title: `Delete the rule for “${contains}”?`,
      text: 'Expenses keep the categories that it gave them.',
      action: pathOf(pageRoutes.deleteRule, id),
      csrfField: visitor.csrfField,
      deed: 'Delete rule',
      cancelHref: pageRoutes.rules,
    }),
  });
}
