import { setImmediate as nextTurn } from 'node:timers/promises';
import { forgetInHistory } from '@octavo/admin';
import { newId } from '@octavo/core';
import { forgetPeople } from '@octavo/people/sign-in';
import { passOnBudgets } from '../budgets/index.ts';
import type { Context } from '../commands.ts';
import { deleteAccount, deleteSessionsOf, deleteSlice, erasedAccounts, markErased } from './store.ts';
import { errors } from './user.ts';

/** Rows of one transaction. Others, who have the database in between, wait for no more than one of them. */
const sliceRows = 400;

/** Erases an account, whose shared budgets pass to their editors: at once for everybody, and then its rows in slices. Throws `unauthenticated` if it was erased before. */
export async function eraseAccount(context: Context, owner: number): Promise<void> {
  await context.db.write(async (session) => {
    const nowMs = context.clock.now();
    await passOnBudgets(session, owner);
    const { numUpdatedRows } = await markErased(session, { owner, email: `erased:${newId()}`, nowMs });
    if (numUpdatedRows === 0n) throw errors.unauthorized();
    await forgetInHistory(session, { model: 'budgets/account', id: String(owner) });
    await deleteSessionsOf(session, owner, '');
    await forgetPeople(session, '', [String(owner)], nowMs);
  });
  await deleteRows(context, owner);
}

/** Goes on with erasures that were interrupted. Any number of processes may do it. */
export async function completeErasures(context: Context): Promise<void> {
  for (const { number } of await erasedAccounts(context.db)) await deleteRows(context, number);
}

async function deleteRows({ db }: Context, owner: number): Promise<void> {
  for (;;) {
    const deleted = await db.write((session) => deleteSlice(session, owner, sliceRows), { alone: true });
    if (deleted < sliceRows) break;
    await nextTurn();
  }
  await db.write((session) => deleteAccount(session, owner), { alone: true });
}
