import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '@octavo/core';
import { type AccountTransaction, type Caller, runCommand } from '../commands.ts';
import { notify } from '../notifications/index.ts';
import { addUndone, markUndone } from './store.ts';
import { type TaskUndo, toTask, type UndoResult } from './task.ts';
import { requireTask, type Tasks } from './tasks.ts';

/**
 * Takes back what a task has made, in slices so that others need not wait for all of it. If that is interrupted, it goes on when it is asked
 * for again. Throws `conflict` for a task that is open, was undone before, or made nothing that can be taken back.
 */
export async function undoTask(tasks: Tasks, caller: Caller, id: string): Promise<UndoResult> {
  const { context, kinds } = tasks;
  const { type } = await requireTask(context.db, caller.owner, id);
  const { undo } = kinds[type];
  if (!undo) throw new AppError('conflict', 'Only imports and changes of many expenses can be undone.');
  const slice = { ...caller, idempotency: undefined };
  while (await runCommand(context, slice, (transaction) => undoSome(transaction, undo, id), { alone: true }))
    await nextTurn();
  return runCommand(context, caller, (transaction) => endUndo(transaction, undo, id));
}

/** False if nothing is left to undo, also since another request has done it all. */
async function undoSome(transaction: AccountTransaction, undo: TaskUndo, id: string): Promise<boolean> {
  const { session, actor: owner } = transaction;
  const { undone_at_ms } = await requireOpenForUndo(transaction, id);
  if (undone_at_ms !== null) return false;
  const undone = await undo.some(transaction, id);
  await addUndone(session, { owner, id, undone });
  return undone > 0;
}

async function endUndo(transaction: AccountTransaction, undo: TaskUndo, id: string): Promise<UndoResult> {
  const { session, actor: owner, nowMs } = transaction;
  const { undone_at_ms, undone } = await requireOpenForUndo(transaction, id);
  if (undone_at_ms !== null) throw new AppError('conflict', 'This task was undone already.');
  const ended = await undo.end(transaction, id);
  const row = await markUndone(session, { owner, id, nowMs });
  await notify(transaction, {
    type: 'task.finished',
    title: 'Task undone',
    message: `The task ${row.description ?? row.type} was undone.`,
    data: toTask(row),
  });
  return { undone: undone ?? 0, ...ended };
}

async function requireOpenForUndo({ session, actor }: AccountTransaction, id: string) {
  const row = await requireTask(session, actor, id);
  if (row.status === 'pending' || row.status === 'running')
    throw new AppError('conflict', `This task is ${row.status}. Cancel it first.`);
  return row;
}
