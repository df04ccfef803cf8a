import type { FormProblem } from '@octavo/web/html';
import { badge, confirm, count, empty, type Html, html, table, time } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import type { Page } from '@octavo/web/rest';
import { listBudgets } from '../budgets/index.ts';
import type { Transaction } from '../ledger/index.ts';
import { pageRoutes, pathOf } from '../routes.ts';
import {
  callerWithIdempotencyKey,
  idOf,
  type PageParts,
  type PageSession,
  parameter,
  submit,
  type Visitor,
} from '../site/page-context.ts';
import { cursorPager, money } from '../site/views.ts';
import { getTransaction, listTransactions, reverseTransaction } from './transactions.ts';

const pageSize = 50;
const budgetsMax = 500;
const expensesPrefix = 'expenses:';

/** The ledger, in which nothing is ever changed. */
export function addTransactionPages(
  routes: PageRoutes<PageSession>,
  { context, visitors: access }: PageParts,
): void {
  routes.get(pageRoutes.transactions, { access }, async (visitor) => {
    const { visit, caller } = visitor;
    const cursor = parameter(visit, 'cursor') || undefined;
    const page = await listTransactions(context, caller, { limit: pageSize, cursor });
    const { items: budgets } = await listBudgets(context, caller, { limit: budgetsMax, isOwn: true });
    const names = new Map(budgets.map(({ id, name }) => [id, name]));
    return listPage(visitor, { page, names, hasCursor: cursor !== undefined });
  });
  const confirmReversal = async (visitor: Visitor, problem?: FormProblem) =>
    reversalPage(visitor, await getTransaction(context, visitor.caller, idOf(visitor.visit)), problem);
  routes.get(pageRoutes.reverseTransaction, { access }, (visitor) => confirmReversal(visitor));
  routes.post(pageRoutes.reverseTransaction, { access }, (visitor) => {
    const { visit } = visitor;
    return submit(visit, {
      work: () => reverseTransaction(context, callerWithIdempotencyKey(visitor), idOf(visit)),
      done: () =>
        visit.redirect(pageRoutes.transactions, { tone: 'good', text: 'The transaction was reversed.' }),
      again: (problem) => confirmReversal(visitor, problem),
    });
  });
}

interface ListView {
  readonly page: Page<Transaction>;
  readonly names: ReadonlyMap<string, string>;
  readonly hasCursor: boolean;
}

function listPage(visitor: Visitor, { page, names, hasCursor }: ListView): Promise<string> {
  return visitor.render({
    title: 'Ledger',
    lead: `${count(page.total, 'transaction')}. In each, debits equal credits. Corrections are recorded as reversals.`,
    modules: ['live.js'],
    main:
      page.total === 0
        ? empty({
            icon: 'link',
            title: 'The ledger is empty',
            text: 'Each expense and each completed order adds a transaction.',
          })
        : html`<div data-live-region="ledger">${transactionTable(page.items, names)}${cursorPager(pageRoutes.transactions, {}, { next: page.next, hasCursor })}</div>`,
  });
}

function transactionTable(rows: readonly Transaction[], names: ReadonlyMap<string, string>): Html {
  const reversed = new Set(rows.map(({ reverses }) => reverses));
  return table<Transaction>({
    caption: 'Transactions, newest first',
    rows,
    columns: [
      { header: 'Time', kind: 'plain', cell: ({ createdAt }) => time(createdAt) },
      {
        header: 'Transaction',
        kind: 'main',
        cell: ({ description, entries }) =>
          html`${description}<div>${entries.map(({ account, side }) => `${side} ${accountName(account, names)}`).join(' · ')}</div>`,
      },
      {
        header: 'Type',
        kind: 'plain',
        cell: ({ type }) => badge(type === 'reversal' ? 'warn' : 'plain', type),
      },
      { header: 'Amount', kind: 'amount', cell: ({ amountMinor, currency }) => money(amountMinor, currency) },
      {
        header: 'Actions',
        kind: 'row-actions',
        cell: ({ id, type, description }) =>
          type !== 'reversal' &&
          !reversed.has(id) &&
          html`<a href="${pathOf(pageRoutes.reverseTransaction, id)}" data-dialog>Reverse<span class="hidden"> ${description}</span></a>`,
      },
    ],
  });
}

function accountName(account: string, names: ReadonlyMap<string, string>): string {
  if (!account.startsWith(expensesPrefix)) return account;
  const id = account.slice(expensesPrefix.length);
  return id === 'unassigned' ? 'expenses' : `expenses of ${names.get(id) ?? 'a deleted budget'}`;
}

function reversalPage(visitor: Visitor, transaction: Transaction, problem?: FormProblem): Promise<string> {
  const { id, description, amountMinor, currency } = transaction;
  return visitor.render({
    title: 'Reverse transaction',
    parent: { href: pageRoutes.transactions, label: 'Ledger' },
    main: confirm({
      title: `Reverse “${description}”?`,
      text: `A second transaction cancels ${money(amountMinor, currency)} in the ledger. Budgets and expenses stay as they are.`,
      action: pathOf(pageRoutes.reverseTransaction, id),
      csrfField: visitor.csrfField,
      problem: problem?.problem,
      deed: 'Reverse transaction',
      cancelHref: pageRoutes.transactions,
    }),
  });
}
