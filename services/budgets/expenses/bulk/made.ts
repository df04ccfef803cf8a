import type { AccountTransaction } from '../../commands.ts';
import type { MadeResult } from '../../tasks/index.ts';
import { findChange, keepChange, tokenOfMade } from './store.ts';

/** Budgets and rules that were made with a change of many expenses, as they were made. */
export interface Made {
  readonly budgets: readonly { readonly id: string; readonly version: number }[];
  readonly rules: readonly { readonly id: string }[];
}

/** Facts about a change of many expenses, kept with it. */
export interface ChangeAbout {
  readonly changed: number;
  readonly deed: 'changed' | 'deleted';
  /** Name of the budget or category that the expenses got. */
  readonly to?: string | undefined;
  readonly made?: Made | undefined;
}

/** Keeps budgets and rules that were made for a task, for its undo. */
export function keepMade(
  { session, actor: owner, nowMs }: AccountTransaction,
  taskId: string,
  made: Made,
): Promise<unknown> {
  const token = tokenOfMade(taskId);
  return keepChange(session, {
    owner,
    token,
    rows_before: JSON.stringify(made),
    created_at_ms: nowMs,
    about: null,
  });
}

/** Budgets and rules that were made for a task, if any. */
export async function madeFor(
  { session, actor }: AccountTransaction,
  taskId: string,
): Promise<Made | undefined> {
  const found = await findChange(session, { owner: actor, token: tokenOfMade(taskId), sinceMs: 0 });
  return found && JSON.parse(found.rows_before);
}

/** Deletes what a change has made, unless it is in use or was changed since. */
export type TakeBackMade = (transaction: AccountTransaction, made: Made) => Promise<MadeResult>;
