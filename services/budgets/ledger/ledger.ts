import { AppError, newOrderedId, notFound } from '@octavo/core';
import type { Database, Session } from '@octavo/data';
import type { Page, PageRequest } from '@octavo/web/rest';
import type { AccountTransaction } from '../commands.ts';
import { pageByTime, placeByTime } from '../edges/paging.ts';
import type { LedgerTransactionRow, Tables } from '../store/tables.ts';
import {
  balances,
  countTransactions,
  entriesOfAll,
  insertEntries,
  insertEntry,
  insertReversals,
  insertReversedEntries,
  insertTransaction,
  insertTransactions,
  transactionById,
  transactionsPage,
} from './store.ts';
import { noteIncome, uncountIncome } from './store-incomes.ts';
import { entriesOf, reversed, type Transaction, toTransaction } from './transaction.ts';

/** A transaction to record. */
export interface Posting {
  readonly type: 'debit' | 'credit';
  readonly description: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly budgetId: string | null;
  readonly expenseId?: string | null;
  readonly orderId?: string | null;
}

/** The type and the amount of what an expense is in the ledger: a debit, or a credit if the amount is below 0. */
export function side(minor: number): Pick<Posting, 'type' | 'amountMinor'> {
  return { type: minor < 0 ? 'credit' : 'debit', amountMinor: Math.abs(minor) };
}

/** Adds a transaction with its two entries. */
export async function post(transaction: AccountTransaction, posting: Posting): Promise<Transaction> {
  const { type, amountMinor, budgetId } = posting;
  const entries = entriesOf(type, { budgetId, amountMinor });
  const posted = await insert(transaction, {
    type,
    description: posting.description,
    amount_minor: amountMinor,
    currency: posting.currency,
    budget_id: budgetId,
    expense_id: posting.expenseId ?? null,
    order_id: posting.orderId ?? null,
    reverses: null,
    entries,
  });
  if (type === 'credit' && !posting.expenseId) await noteIncome(transaction, posted as Transaction);
  return posted as Transaction;
}

/** Adds many transactions at once, and returns their ids in the same order. */
export async function postAll(
  { session, owner, nowMs }: AccountTransaction,
  postings: readonly Posting[],
): Promise<string[]> {
  const ids = postings.map(() => newOrderedId());
  const rows = postings.map((each, index) => {
    const { type, description, amountMinor, currency, budgetId, expenseId = null } = each;
    return [owner, ids[index], type, description, amountMinor, currency, budgetId, expenseId, nowMs];
  });
  const entries = postings.flatMap(({ type, amountMinor, budgetId }, index) =>
    entriesOf(type, { budgetId, amountMinor }).map(({ account, side, amount_minor }, position) => {
      return [owner, ids[index], position, account, side, amount_minor];
    }),
  );
  await insertTransactions(session, rows);
  await insertEntries(session, entries);
  return ids;
}

/** Cancels a transaction by one with the opposite entries. Throws `not_found`, and `conflict` for one that is reversed already. */
export async function reverse(transaction: AccountTransaction, id: string): Promise<Transaction> {
  const reversal = await tryReverse(transaction, id);
  if (!reversal) throw new AppError('conflict', 'This transaction was reversed already.');
  return reversal;
}

/** Like {@link reverse}, but gives nothing for one that is reversed already. */
export async function tryReverse(
  transaction: AccountTransaction,
  id: string,
): Promise<Transaction | undefined> {
  const { session, owner } = transaction;
  const row = await transactionById.first(session, { owner, id });
  if (!row) throw notFound('transaction', id);
  if (row.type === 'reversal') throw new AppError('conflict', 'Reversals cannot be reversed.');
  const entries = await entriesOfAll(session, owner, [id]);
  if (row.type === 'credit' && row.expense_id === null) await uncountIncome(session, owner, id);
  return insert(transaction, {
    ...row,
    type: 'reversal',
    description: `Reversal: ${row.description}`,
    reverses: id,
    entries: reversed(entries),
  });
}

/** Like {@link tryReverse} for many transactions, which the database copies by itself. */
export async function reverseAll(
  { session, owner, nowMs }: AccountTransaction,
  ids: readonly string[],
): Promise<void> {
  const pairs = ids.map((id) => [id, newOrderedId()]);
  const added = await insertReversals.all(session, { owner, pairs: JSON.stringify(pairs), nowMs });
  const reversals = JSON.stringify(added.map(({ reverses, id }) => [reverses, id]));
  await insertReversedEntries.run(session, { owner, pairs: reversals });
}

type NewTransaction = Omit<LedgerTransactionRow, 'owner' | 'id' | 'created_at_ms'> & {
  readonly entries: ReturnType<typeof entriesOf>;
};

async function insert(
  { session, owner, nowMs }: AccountTransaction,
  { entries, ...given }: NewTransaction,
): Promise<Transaction | undefined> {
  const row = { ...given, owner, id: newOrderedId(), created_at_ms: nowMs };
  const { changes } = await insertTransaction.run(session, row);
  if (changes === 0) return undefined;
  const inserted = entries.map(({ account, side, amount_minor }, position) =>
    insertEntry.run(session, { owner, transaction_id: row.id, position, account, side, amount_minor }),
  );
  await Promise.all(inserted);
  return toTransaction(row, entries);
}

/** A transaction, if the owner has one with this id. */
export async function findTransaction(
  session: Session<Tables>,
  owner: number,
  id: string,
): Promise<Transaction | undefined> {
  const row = await transactionById.first(session, { owner, id });
  return row && toTransaction(row, await entriesOfAll(session, owner, [id]));
}

/** The transactions of an owner, newest first. */
export async function transactionPage(
  database: Database<Tables>,
  session: Session<Tables>,
  owner: number,
  request: PageRequest,
): Promise<Page<Transaction>> {
  const rows = await transactionsPage.all(session, { owner, ...placeByTime(request) });
  const ids = rows.map(({ id }) => id);
  const all = await entriesOfAll(session, owner, ids);
  const entries = Map.groupBy(all, (entry) => entry.transaction_id);
  const total = await countTransactions(database, session, owner);
  const view = (row: LedgerTransactionRow) => toTransaction(row, entries.get(row.id) ?? []);
  return pageByTime(rows, { request, total, view });
}

/** The sum of each account and currency, debits minus credits, in minor units. All of one currency add up to zero. */
export function balancesOf(
  session: Session<Tables>,
  owner: number,
): Promise<{ account: string; currency: string; minor: number }[]> {
  return balances.all(session, { owner });
}
