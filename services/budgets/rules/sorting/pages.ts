import { AppError } from '@octavo/core';
import type { FormProblem } from '@octavo/web/html';
import { count, empty, type Html, html, linkButton, table } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { type Budget, listBudgets, noBudget, transferChoice } from '../../budgets/index.ts';
import { createParser } from '../../edges/schema-parser.ts';
import { pageRoutes } from '../../routes.ts';
import {
  type PageParts,
  type PageSession,
  type PageVisit,
  submit,
  type Visitor,
} from '../../site/page-context.ts';
import { hrefWith, money, problems } from '../../site/views.ts';
import type { Tasks } from '../../tasks/index.ts';
import { SortingInput } from '../rule.ts';
import { type PayeeChoice, type PayeeGroup, type Sorting, sortPayees, unassignedPayees } from './sorting.ts';

interface SortingParts extends PageParts {
  readonly tasks: Tasks;
}

const parseChoices = createParser(SortingInput);
const budgetsMax = 500;
const rowsMax = 50;

/** The payees of the unassigned expenses, each with a field for its budget: all go into their budgets at once. */
export function addSortingPages(routes: PageRoutes<PageSession>, parts: SortingParts): void {
  const { tasks, visitors: access } = parts;
  routes.get(pageRoutes.sortExpenses, { access }, (visitor) => showForm(visitor, parts));
  routes.post(pageRoutes.sortExpenses, { access }, (visitor) => {
    const { visit, caller } = visitor;
    return submit(visit, {
      work: async () => {
        const payees = choicesOf(visit);
        if (payees.length === 0)
          throw new AppError('validation_failed', 'Type a budget beside at least one payee.');
        return sortPayees(tasks, caller, parseChoices({ payees }).payees);
      },
      done: (sorting) => {
        const href = hrefWith(pageRoutes.budgets, { undo: sorting.undo ?? '' });
        return visit.redirect(href, { tone: 'good', text: sentence(sorting) });
      },
      again: (problem) => showForm(visitor, parts, problem),
    });
  });
}

function sentence({ budgets, created, changed, undo }: Sorting): string {
  const places = count(budgets.length, 'budget');
  const moved =
    undo === null
      ? 'Tasks put the expenses there.'
      : budgets.length === 0
        ? `${count(changed, 'expense')} ${changed === 1 ? 'is a transfer' : 'are transfers'} between your own accounts now.`
        : `${count(changed, 'expense')} ${changed === 1 ? 'is' : 'are'} sorted into ${places} now.`;
  const fresh =
    created > 0
      ? ` ${count(created, 'budget')} ${created === 1 ? 'is' : 'are'} new, by the month: check the limits.`
      : '';
  return `${moved}${fresh} Imports follow the same rules.`;
}

/** The rows for which a budget was typed. “Unassigned” leaves a payee as it is, as an empty field does. */
function choicesOf(visit: PageVisit): PayeeChoice[] {
  const rows = Array.from({ length: rowsMax }, (_, index) => ({
    payee: visit.field(`payee-${index}`),
    currency: visit.field(`currency-${index}`),
    budget: visit.field(`budget-${index}`).trim(),
  }));
  return rows.filter(({ budget }) => budget !== '' && budget.toLowerCase() !== 'unassigned');
}

async function showForm(visitor: Visitor, { context }: PageParts, problem?: FormProblem): Promise<string> {
  const groups = await unassignedPayees(context, visitor.caller);
  const { items: all } = await listBudgets(context, visitor.caller, { limit: budgetsMax });
  const budgets = all.filter(({ role }) => role === 'owner');
  const hasShared = budgets.length < all.length;
  const [message] = Object.values(problem?.errors ?? {});
  const shown = problem && { ...problem, errors: {}, ...(message && { problem: `A budget ${message}.` }) };
  return visitor.render({
    title: 'Sort by payee',
    parent: { href: hrefWith(pageRoutes.expenses, { budget: noBudget }), label: 'Unassigned' },
    lead: 'Type a budget beside each payee, an old or a new one. The expenses go there, and later imports too.',
    main:
      groups.length === 0
        ? empty({
            icon: 'box',
            title: 'Nothing is unassigned',
            text: 'Expenses without a budget appear here, by payee.',
            actions: linkButton(pageRoutes.import, 'Import a file', 'primary'),
          })
        : html`${problems(shown, {})}${hasShared && html`<p class="muted">Only your own budgets are offered: your expenses cannot move into a budget that is shared with you. A name that is not one of yours creates a budget.</p>`}${formOf(visitor, groups, budgets)}`,
  });
}

function formOf(
  { csrfField, visit }: Visitor,
  groups: readonly PayeeGroup[],
  budgets: readonly Budget[],
): Html {
  const rows = groups.map((group, index) => ({ ...group, index }));
  const list = html`<datalist id="budgets">${budgets.map(({ name }) => html`<option value="${name}"></option>`)}<option value="${transferChoice.name}"></option></datalist>`;
  return html`<form method="post" action="${pageRoutes.sortExpenses}">${csrfField}${list}${table<
    (typeof rows)[number]
  >({
    caption: 'Payees of unassigned expenses, the most frequent first',
    rows,
    columns: [
      {
        header: 'Payee',
        kind: 'main',
        cell: ({ payee, expenses }) => html`${payee}<div>${count(expenses, 'expense')}</div>`,
      },
      { header: 'Amount', kind: 'amount', cell: ({ minor, currency }) => money(minor, currency) },
      {
        header: 'Budget',
        kind: 'plain',
        cell: ({ index, payee, currency, category }) =>
          html`<input type="hidden" name="payee-${index}" value="${payee}"><input type="hidden" name="currency-${index}" value="${currency}"><input name="budget-${index}" value="${visit.fields()[`budget-${index}`] ?? category ?? ''}" list="budgets" maxlength="120" autocomplete="off" aria-label="Budget of ${payee}" placeholder="Leave unassigned">`,
      },
    ],
  })}<p class="help">New budgets are monthly. Their limit is what you spent in a month. “${transferChoice.name}” counts neither as spent nor as earned.</p><div class="actions"><button>Sort</button>${linkButton(hrefWith(pageRoutes.expenses, { budget: noBudget }), 'Cancel', 'quiet')}</div></form>`;
}
