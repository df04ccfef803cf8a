import { AppError, notFound } from '@octavo/core';
import { type AccountTransaction, OtherAccount } from '../../commands.ts';
import type { MemberRow, Store } from '../../store/tables.ts';
import { budgetById } from '../store.ts';
import { type AccessedBudget, sharedBudgetById } from './store.ts';

/** Rights in a budget. A viewer reads it, an editor also writes its expenses, and the owner does everything. */
export type Right = 'read' | 'write' | 'own';
export type Role = 'owner' | MemberRow['role'];

/** The budget with an id that an account may read; undefined for any other. */
export async function findReadableBudget(
  session: Store,
  account: number,
  id: string,
): Promise<AccessedBudget | undefined> {
  const own = await budgetById.first(session, { owner: account, id });
  return own ?? sharedBudgetById(session, { account, id });
}

/** {@link findReadableBudget}. Throws `not_found` if there is none. */
export async function readableBudget(session: Store, account: number, id: string): Promise<AccessedBudget> {
  const row = await findReadableBudget(session, account, id);
  if (!row) throw notFound('budget', id);
  return row;
}

/**
 * The budget with an id, for a command. Throws `not_found` for one that is not shared with the actor, and `forbidden` for one that is
 * shared without the right.
 */
export async function accessTo(
  transaction: AccountTransaction,
  id: string,
  right: Right,
): Promise<AccessedBudget> {
  const row = await readableBudget(transaction.session, transaction.actor, id);
  enter(transaction, row, right);
  return row;
}

/** Checks the right of the actor, and has the command begin again in the account of the budget if it is in another one. */
export function enter(
  { owner }: AccountTransaction,
  { owner: place, member_role: role }: Pick<AccessedBudget, 'owner' | 'member_role'>,
  right: Right,
): void {
  checkRight(role ?? 'owner', right);
  if (place !== owner) throw new OtherAccount(place);
}

/** Throws `forbidden` if a role does not have a right. */
export function checkRight(role: Role, right: Right): void {
  if (right === 'read' || role === 'owner') return;
  if (right === 'own') throw new AppError('forbidden', 'Only the owner of this budget may do this.');
  if (role === 'viewer') throw new AppError('forbidden', 'This budget is shared with you for reading only.');
}
