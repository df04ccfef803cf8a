import { type SqlBool, sql } from 'kysely';
import type { ExpenseRow, Store } from '../../store/tables.ts';
import { inSharedBudgets, withBudget } from '../store.ts';

/** Selects an owner's expenses with some ids, which must not be empty. */
export function expensesWithIds({ kysely }: Store, owner: number, ids: readonly string[]) {
  return withBudget(kysely, owner)
    .where('e.owner', '=', owner)
    .where('e.id', 'in', [...ids])
    .orderBy('e.number', 'desc')
    .execute();
}

/** Selects expenses with some ids in budgets that are shared with an account, and its role in them. */
export function sharedWithIds({ kysely }: Store, account: number, ids: readonly string[]) {
  return inSharedBudgets(kysely)
    .where('m.account', '=', account)
    .where('e.id', 'in', [...ids])
    .orderBy('e.number', 'desc')
    .execute();
}

export function keepChange(
  { kysely }: Store,
  row: { owner: number; token: string; rows_before: string; created_at_ms: number; about: string | null },
) {
  return kysely
    .insertInto('bulk_change')
    .values({ ...row, undone: 0 })
    .execute();
}

/** The newest change of an account that can be undone, without those of tasks. */
export function lastChange({ kysely }: Store, given: { owner: number; sinceMs: number }) {
  return kysely
    .selectFrom('bulk_change')
    .select(['token', 'about'])
    .where('owner', '=', given.owner)
    .where('created_at_ms', '>=', given.sinceMs)
    .where(sql<SqlBool>`undone = 0 AND about IS NOT NULL`)
    .orderBy('created_at_ms', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export function findChange({ kysely }: Store, given: { owner: number; token: string; sinceMs: number }) {
  return kysely
    .selectFrom('bulk_change')
    .select(['rows_before', 'undone', 'about'])
    .where('owner', '=', given.owner)
    .where('token', '=', given.token)
    .where('created_at_ms', '>=', given.sinceMs)
    .executeTakeFirst();
}

/** Marks a change as undone, with what stays as it is in place of the rows. */
export function markUndone(
  { kysely }: Store,
  { owner, token, rows_before }: { owner: number; token: string; rows_before: string },
) {
  return kysely
    .updateTable('bulk_change')
    .set({ undone: 1, rows_before })
    .where('owner', '=', owner)
    .where('token', '=', token)
    .execute();
}

/** The undo token of the slice of a task that begins after an expense. */
export function tokenOfSlice(taskId: string, after: number): string {
  return `${taskId}/${after + 1}`;
}

/** The token of what was made for a task. */
export function tokenOfMade(taskId: string): string {
  return `${taskId}/made`;
}

/** The slices of a task that have changed something. */
export function slicesOfTask({ kysely }: Store, owner: number, taskId: string) {
  return kysely
    .selectFrom('bulk_change')
    .select(['token', 'undone'])
    .where('owner', '=', owner)
    .where('token', '>', `${taskId}/`)
    .where('token', '<', `${taskId}/:`)
    .orderBy('token')
    .execute();
}

/** The number of the last expense of an owner. */
export function lastExpense({ kysely }: Store, owner: number) {
  return kysely
    .selectFrom('expense')
    .select('number')
    .where('owner', '=', owner)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export function sweepChanges({ kysely }: Store, owner: number, beforeMs: number) {
  return kysely
    .deleteFrom('bulk_change')
    .where('owner', '=', owner)
    .where('created_at_ms', '<', beforeMs)
    .execute();
}

/** Gives a restored expense what a file said of it, and its version, which an undo of its import looks at. */
export function restoreFile({ kysely }: Store, row: ExpenseRow) {
  const { owner, id, version, file_task, file_account, file_day, file_amount_minor, file_text } = row;
  const { file_match, file_id_task, restored_version, restored_as } = row;
  return kysely
    .updateTable('expense')
    .set({
      file_task,
      file_account,
      file_day,
      file_amount_minor,
      file_text,
      file_match,
      file_id_task,
      restored_version,
      restored_as,
      version,
    })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .execute();
}

/** Marks expenses, by their numbers, as being at their versions what they were at an earlier one. */
export function markRestored(
  { kysely }: Store,
  { owner, numbers, as }: { owner: number; numbers: readonly number[]; as: number },
) {
  return kysely
    .updateTable('expense')
    .set((eb) => ({ restored_version: eb.ref('version'), restored_as: as }))
    .where('owner', '=', owner)
    .where('number', 'in', [...numbers])
    .execute();
}
