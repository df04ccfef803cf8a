import { AppError, type Static, Type } from '@octavo/core';
import { accessTo, budgetByNumber } from '../../budgets/index.ts';
import {
  type AccountTransaction,
  type Caller,
  type Context,
  OtherAccount,
  runCommand,
} from '../../commands.ts';
import { Id } from '../../edges/schemas.ts';
import type { BudgetRow, ExpenseRow, Store } from '../../store/tables.ts';
import { MadeResult } from '../../tasks/index.ts';
import type { ExpenseWithBudget } from '../expense.ts';
import { budgetOf, putExpense, record, type Touched, writeExpense } from '../expenses.ts';
import { expenseById } from '../store.ts';
import { type ChangedRow, checkAll, undoMs } from './bulk.ts';
import type { ChangeAbout, TakeBackMade } from './made.ts';
import { findChange, lastChange, markRestored, markUndone, restoreFile } from './store.ts';

export const BulkUndo = Type.Object({ undo: Type.String({ minLength: 1, maxLength: 64, format: 'text' }) });

export const BulkUndoResult = Type.Object(
  {
    undone: Type.Integer({ description: 'Expenses that are as they were before' }),
    kept: Type.Array(Type.Object({ id: Id, reason: Type.String() }), {
      description: 'Expenses that stay as they are',
    }),
    made: Type.Optional(MadeResult),
  },
  { title: 'BulkUndoResult' },
);
export type BulkUndoResult = Static<typeof BulkUndoResult>;

/** Takes a bulk change back, once within 24 hours, except for expenses that were changed since; then what it made besides. */
export function undoMany(
  context: Context,
  caller: Caller,
  token: string,
  takeBack: TakeBackMade,
): Promise<BulkUndoResult> {
  return runCommand(
    context,
    caller,
    async (transaction) => {
      const { session, actor: owner, nowMs } = transaction;
      const found = await findChange(session, { owner, token, sinceMs: nowMs - undoMs });
      if (!found) throw new AppError('not_found', 'There is no such change, or it is older than 24 hours.');
      if (found.undone === 1) throw new AppError('conflict', 'This change was undone already.');
      const result = await restoreAll(transaction, JSON.parse(found.rows_before));
      await markUndone(session, { owner, token, rows_before: '[]' });
      const { made } = JSON.parse(found.about ?? '{}') as Partial<ChangeAbout>;
      return made ? { ...result, made: await takeBack(transaction, made) } : result;
    },
    { alone: true },
  );
}

/** The newest change of an account that can be undone, without those of tasks. */
export async function findLastChange(
  { db, clock }: Context,
  { owner }: Caller,
): Promise<{ readonly token: string; readonly about: ChangeAbout } | undefined> {
  const found = await lastChange(db, { owner, sinceMs: clock.now() - undoMs });
  return found && { token: found.token, about: JSON.parse(found.about ?? '{}') };
}

/** Rows before a change; after its undo, the expenses that stay as they are. */
export async function rowsBefore(session: Store, owner: number, token: string): Promise<ChangedRow[]> {
  const found = await findChange(session, { owner, token, sinceMs: 0 });
  return JSON.parse(found?.rows_before ?? '[]');
}

/** Makes expenses as they were before a change. */
export async function restoreAll(
  transaction: AccountTransaction,
  rows: readonly ChangedRow[],
): Promise<BulkUndoResult> {
  const touched: Touched[] = [];
  const kept: BulkUndoResult['kept'] = [];
  const restored: ExpenseWithBudget[] = [];
  let undone = 0;
  for (const each of rows) {
    const done = await restore(transaction, each);
    if ('reason' in done) kept.push({ id: each.before.id, reason: done.reason });
    else {
      undone++;
      touched.push(...done.touched);
      if (each.version !== null) restored.push(each.before);
    }
  }
  const { session, owner } = transaction;
  for (const [as, same] of Map.groupBy(restored, contentVersion))
    await markRestored(session, { owner, numbers: same.map(({ number }) => number), as });
  await checkAll(transaction, touched);
  return { undone, kept };
}

/** The first version with the contents of a row: one before the changes that were undone. */
function contentVersion({ version, restored_version, restored_as }: ExpenseRow): number {
  return restored_version === version ? (restored_as ?? version) : version;
}

async function restore(
  transaction: AccountTransaction,
  { before, version }: ChangedRow,
): Promise<{ readonly touched: Touched[] } | { readonly reason: string }> {
  const { session, owner } = transaction;
  if (before.owner !== owner) throw new OtherAccount(before.owner);
  const budget = await budgetByNumber.first(session, { owner, number: before.budget });
  if (!budget) return { reason: 'its budget was deleted' };
  await recheck(transaction, budget);
  const now = await expenseById.first(session, { owner, id: before.id });
  if (version !== null) {
    if (!now) return { reason: 'it was deleted' };
    if (now.version !== version && contentVersion(now) !== version) return { reason: 'it was changed since' };
    const oldBudget = await budgetOf(transaction, now);
    await recheck(transaction, oldBudget);
    const same = oldBudget.number === budget.number ? oldBudget : budget;
    return writeExpense(transaction, { before: now, oldBudget, changed: before, budget: same });
  }
  const { id, description, amount_minor: minor, added_by = null } = before;
  const { id: transaction_id } = await record(transaction, budget, { id, description, minor });
  try {
    await putExpense(transaction, budget, { ...before, added_by, transaction_id });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
    throw new AppError('conflict', `The expense ${id} has an externalId that another expense has now.`);
  }
  await restoreFile(session, before);
  return { touched: [{ budget, days: [before.spent_on] }] };
}

/** Throws `not_found` if a budget is no longer shared with the actor, or `forbidden` if it may only be read. */
async function recheck(transaction: AccountTransaction, budget: BudgetRow): Promise<void> {
  if (transaction.actor !== transaction.owner) await accessTo(transaction, budget.id, 'write');
}
