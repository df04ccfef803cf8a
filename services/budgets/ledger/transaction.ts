import { isoTime, type Static, Type } from '@octavo/core';
import { toMajor } from '@octavo/documents/values';
import {
  Amount,
  AmountInput,
  Currency,
  Id,
  Instant,
  Minor,
  nullable,
  Reference,
  text,
} from '../edges/schemas.ts';
import type { LedgerEntryRow, LedgerTransactionRow } from '../store/tables.ts';

const Entry = Type.Object(
  {
    account: Type.String({ examples: ['cash'], description: 'cash, or expenses: with the id of a budget' }),
    side: Type.Enum(['debit', 'credit']),
    amountMinor: Minor,
  },
  { title: 'LedgerEntry' },
);

export const Transaction = Type.Object(
  {
    id: Id,
    type: Type.Enum(['debit', 'credit', 'reversal']),
    description: Type.String(),
    amount: Amount,
    amountMinor: Minor,
    currency: Currency,
    budgetId: nullable(Id),
    expenseId: nullable(Id),
    orderId: nullable(Id),
    reverses: nullable(Id),
    entries: Type.Array(Entry),
    createdAt: Instant,
  },
  { title: 'Transaction' },
);
export type Transaction = Static<typeof Transaction>;

export const TransactionInput = Type.Object(
  {
    type: Type.Enum(['debit', 'credit']),
    description: text(500),
    amount: AmountInput,
    currency: Type.Optional(Currency),
    budgetId: Type.Optional(nullable(Reference)),
    expenseId: Type.Optional(nullable(Reference)),
  },
  { title: 'TransactionInput' },
);
export type TransactionInput = Static<typeof TransactionInput>;

export const TransactionPatch = Type.Object(
  { description: Type.Optional(text(500)), amount: Type.Optional(AmountInput) },
  { title: 'TransactionPatch' },
);
export type TransactionPatch = Static<typeof TransactionPatch>;

type EntryRow = Pick<LedgerEntryRow, 'account' | 'side' | 'amount_minor'>;

/**
 * Entries of `debit` and `credit`: cash to expenses, or the other way. A reversal has the entries of its transaction, with
 * sides swapped.
 */
export function entriesOf(
  type: 'debit' | 'credit',
  { budgetId, amountMinor }: { budgetId: string | null; amountMinor: number },
): EntryRow[] {
  const expenses = `expenses:${budgetId ?? 'unassigned'}`;
  const [debited, credited] = type === 'debit' ? [expenses, 'cash'] : ['cash', expenses];
  return [
    { account: debited, side: 'debit', amount_minor: amountMinor },
    { account: credited, side: 'credit', amount_minor: amountMinor },
  ];
}

export function reversed<T extends EntryRow>(entries: readonly T[]): T[] {
  return entries.map((entry) => ({ ...entry, side: entry.side === 'debit' ? 'credit' : 'debit' }));
}

export function toTransaction(row: LedgerTransactionRow, entries: readonly EntryRow[]): Transaction {
  return {
    id: row.id,
    type: row.type,
    description: row.description,
    amount: toMajor(row.amount_minor, row.currency),
    amountMinor: row.amount_minor,
    currency: row.currency,
    budgetId: row.budget_id,
    expenseId: row.expense_id,
    orderId: row.order_id,
    reverses: row.reverses,
    entries: entries.map(({ account, side, amount_minor }) => ({ account, side, amountMinor: amount_minor })),
    createdAt: isoTime(row.created_at_ms),
  };
}
