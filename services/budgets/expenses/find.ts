import { notFound } from '@octavo/core';
import type { Session } from '@octavo/data';
import { type AccessedBudget, enter } from '../budgets/index.ts';
import type { AccountTransaction } from '../commands.ts';
import type { Tables } from '../store/tables.ts';
import type { ExpenseWithBudget } from './expense.ts';
import { expenseById, sharedExpenseById } from './store.ts';

/** The caller's own expense. Throws `not_found` for any other. */
export async function requireExpense(
  session: Session<Tables>,
  owner: number,
  id: string,
): Promise<ExpenseWithBudget> {
  const row = await expenseById.first(session, { owner, id });
  if (!row) throw notFound('expense', id);
  return row;
}

/** An expense of an account, or one in a budget that is shared with it. Throws `not_found` for any other. */
export async function readableExpense(
  session: Session<Tables>,
  account: number,
  id: string,
): Promise<ExpenseWithBudget & Pick<AccessedBudget, 'member_role'>> {
  const row =
    (await expenseById.first(session, { owner: account, id })) ??
    (await sharedExpenseById.first(session, { account, id }));
  if (!row) throw notFound('expense', id);
  return row;
}

/** An expense that the actor may change. Throws `not_found`, or `forbidden` if the actor may only read it. */
export async function expenseToChange(
  transaction: AccountTransaction,
  id: string,
): Promise<ExpenseWithBudget> {
  const { member_role, ...row } = await readableExpense(transaction.session, transaction.actor, id);
  enter(transaction, { owner: row.owner, member_role }, 'write');
  return row;
}
