import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '@octavo/core';
import { checkVersion, type Versions } from '@octavo/web/rest';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../commands.ts';
import { reverseAll } from '../ledger/index.ts';
import type { BudgetRow } from '../store/tables.ts';
import { accessTo } from './access/access.ts';
import type { Budget } from './budget.ts';
import { notifyBudget, viewOf } from './budgets.ts';
import { addSpendings } from './spending.ts';
import { deleteBudgetRow, deleteExpenses, someExpenses } from './store.ts';

/**
 * Expenses of one transaction. On SQLite everybody waits for it; on PostgreSQL only writes of the same account do, so that there may be more
 * in each, which costs less in all.
 */
const sliceExpenses = { sqlite: 100, postgres: 400 };

export interface BudgetDeletion {
  /** Deletes its expenses too. */
  readonly cascade?: boolean | undefined;
  readonly versions?: Versions;
}

/**
 * Throws `conflict` for a budget with expenses, unless they are to be deleted too: many in slices, each with its reversals. If that is
 * interrupted, the budget is there with the rest, and can be deleted again.
 */
export async function deleteBudget(
  context: Context,
  caller: Caller,
  id: string,
  { cascade = false, versions }: BudgetDeletion = {},
): Promise<{ id: string; message: string }> {
  let before: Budget | undefined;
  const deleteSlice = async (transaction: AccountTransaction) => {
    const { session, nowMs } = transaction;
    const row = await accessTo(transaction, id, 'own');
    if (!before) checkVersion(row.version, versions);
    if (row.expenses > 0 && !cascade) throw hasExpenses();
    const whole = before ?? (await viewOf(session, row, nowMs));
    const isLast = await deleteSome(transaction, row);
    if (isLast) await deleteRow(transaction, row, whole);
    return { whole, isLast };
  };
  for (;;) {
    const { whole, isLast } = await runCommand(context, caller, deleteSlice, { alone: cascade });
    if (isLast) return { message: 'Budget deleted', id };
    before = whole;
    await nextTurn();
  }
}

/** Deletes a budget without expenses in the caller's transaction. */
export async function deleteEmptyBudget(transaction: AccountTransaction, row: BudgetRow): Promise<void> {
  await deleteRow(transaction, row, await viewOf(transaction.session, row, transaction.nowMs));
}

async function deleteRow(transaction: AccountTransaction, row: BudgetRow, budget: Budget): Promise<void> {
  const { session, owner } = transaction;
  await notifyBudget(transaction, 'deleted', { budget, row });
  await deleteBudgetRow.run(session, { owner, number: row.number });
}

/** Deletes some expenses of a budget and reverses their debits. True if there were no others. */
async function deleteSome(transaction: AccountTransaction, budget: BudgetRow): Promise<boolean> {
  const { session, owner } = transaction;
  const limit = sliceExpenses[session.dialect];
  const rows = await someExpenses.all(session, { owner, budget: budget.number, limit });
  if (rows.length === 0) return true;
  await reverseAll(
    transaction,
    rows.map(({ transaction_id }) => transaction_id),
  );
  const numbers = JSON.stringify(rows.map(({ number }) => number));
  await deleteExpenses.run(session, { owner, numbers });
  if (rows.length < limit) return true;
  const removed = rows.map(({ spent_on: day, amount_minor }) => ({ day, minor: -amount_minor }));
  await addSpendings(transaction, budget, removed, -1);
  return false;
}

function hasExpenses(): AppError {
  const message = 'This budget has expenses. Delete them first, or delete it with cascade=true.';
  return new AppError('conflict', message);
}
