import { AppError, newId, newOrderedId, notFound } from '@octavo/core';
import type { Session } from '@octavo/data';
import type { JobQueue } from '@octavo/data/jobs';
import type { Page, PageRequest } from '@octavo/web/rest';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../commands.ts';
import { pageByTime, placeByTime } from '../edges/paging.ts';
import type { Tables, TaskRow } from '../store/tables.ts';
import {
  cancelTask,
  countAllFailed,
  countAllOpen,
  countOpen,
  countTasks,
  deleteTaskRow,
  deleteUpload,
  describeTask,
  insertPart,
  insertTask,
  readyTask,
  restartTask,
  taskById,
  tasksPage,
  uploadById,
} from './store.ts';
import { type Task, type TaskInput, type TaskKinds, type TaskPatch, type TaskType, toTask } from './task.ts';

/** Dependencies of the tasks. */
export interface Tasks {
  readonly context: Context;
  readonly queue: JobQueue;
  readonly kinds: TaskKinds;
}

/** The kind of the jobs that run tasks. */
export const taskJobKind = 'task';

/** Tasks of an account that may be open at once. */
const openMax = 20;

/** Queues a task. Clients poll its status, or are notified. */
export async function createTask(tasks: Tasks, caller: Caller, given: TaskInput): Promise<Task> {
  const { context, kinds } = tasks;
  const { input, file } = await kinds[given.type].prepare(context, caller, given);
  const task = await runCommand(context, caller, async (transaction) => {
    const { session, owner } = transaction;
    const row = await addTask(transaction, {
      type: given.type,
      description: given.description ?? null,
      input,
    });
    if (file) await insertPart(session, { owner, taskId: row.id, name: 'input', part: 0, bytes: file });
    return toTask(row);
  });
  // With an idempotency key, the result may be that of an earlier request which needed no task.
  if (task.status !== undefined) await enqueueTask(tasks, caller, task.id);
  return task;
}

/** A task whose file is uploaded next. It shows, and runs, when {@link completeUpload} was called. */
export function beginUpload(context: Context, caller: Caller, type: TaskType): Promise<string> {
  return runCommand(context, { ...caller, idempotency: undefined }, async (transaction) => {
    await refuseTooMany(transaction);
    const { session, owner, nowMs } = transaction;
    const row = { owner, id: newOrderedId(), type, description: null, input: '{}', run: '' };
    await insertTask(session, { ...row, created_at_ms: nowMs });
    return row.id;
  });
}

/** Completes an upload. With an idempotency key that was used before, the result is the earlier task. */
export async function completeUpload(
  tasks: Tasks,
  caller: Caller,
  id: string,
  { input, description }: { input: unknown; description: string | null },
): Promise<Task> {
  const { context } = tasks;
  const task = await runCommand(context, caller, async ({ session, owner, nowMs }) => {
    const change = { run: newId(), input: JSON.stringify(input), description, nowMs };
    const row = await readyTask(session, { owner, id, ...change });
    if (!row) throw notFound('task', id);
    return toTask(row);
  });
  if (task.id !== id) await abandonUpload(context, caller, id);
  await enqueueTask(tasks, caller, task.id);
  return task;
}

/** Throws `not_found` unless there is such an upload that is not completed. */
export async function requireUpload({ db }: Context, { owner }: Caller, id: string): Promise<void> {
  if (!(await uploadById(db, { owner, id }))) throw notFound('upload', id);
}

/** An upload that was completed stays, even if its client was not told. */
export async function abandonUpload({ db }: Context, { owner }: Caller, id: string): Promise<void> {
  await deleteUpload(db, { owner, id });
}

export async function getTask({ db }: Context, { owner }: Caller, id: string): Promise<Task> {
  return toTask(await requireTask(db, owner, id));
}

/** Tasks, newest first. */
export async function listTasks(
  { db }: Context,
  { owner }: Caller,
  request: PageRequest,
): Promise<Page<Task>> {
  const rows = await tasksPage(db, { owner, ...placeByTime(request) });
  const total = (await countTasks(db, owner))?.total ?? 0;
  return pageByTime(rows, { request, total, view: toTask });
}

/** Changes the description, or cancels. Throws `conflict` for a task that is finished. */
export function updateTask(context: Context, caller: Caller, id: string, given: TaskPatch): Promise<Task> {
  return runCommand(context, caller, async ({ session, owner, nowMs }) => {
    const before = await requireTask(session, owner, id);
    const { description, status } = given;
    if (description !== undefined) await describeTask(session, { owner, id, description });
    if (status !== undefined && before.status !== 'canceled') {
      const { numUpdatedRows } = await cancelTask(session, { owner, id, nowMs });
      if (numUpdatedRows === 0n) throw new AppError('conflict', `This task is ${before.status}.`);
    }
    return toTask(await requireTask(session, owner, id));
  });
}

/** Throws `conflict` for a task that is not finished. */
export function deleteTask(
  context: Context,
  caller: Caller,
  id: string,
): Promise<{ message: string; id: string }> {
  return runCommand(context, caller, async ({ session, owner }) => {
    const { status } = await requireTask(session, owner, id);
    if (status === 'pending' || status === 'running')
      throw new AppError('conflict', `This task is ${status}. Cancel it first.`);
    await deleteTaskRow(session, { owner, id });
    return { message: 'Task deleted', id };
  });
}

/** Runs a task again that failed or was canceled. Throws `conflict` for any other. */
export async function retryTask(tasks: Tasks, caller: Caller, id: string): Promise<Task> {
  const { context } = tasks;
  const task = await runCommand(context, caller, async (transaction) => {
    const { session, owner, nowMs } = transaction;
    const { status, undone, undone_at_ms } = await requireTask(session, owner, id);
    if (undone !== null && undone_at_ms === null)
      throw new AppError('conflict', 'This task is being undone. Undo it once more first.');
    await refuseTooMany(transaction);
    const { numUpdatedRows } = await restartTask(session, { owner, id, run: newId(), nowMs });
    if (numUpdatedRows === 0n)
      throw new AppError('conflict', `This task is ${status}. Only failed and canceled ones can run again.`);
    return toTask(await requireTask(session, owner, id));
  });
  await enqueueTask(tasks, caller, id);
  return task;
}

/** Counts the unfinished tasks of all accounts, for metrics. */
export async function countOpenTasks(session: Session<Tables>): Promise<number> {
  return (await countAllOpen(session))?.total ?? 0;
}

/** The number of failed tasks of all accounts. */
export async function countFailedTasks(session: Session<Tables>): Promise<number> {
  return (await countAllFailed(session))?.total ?? 0;
}

/** Adds the job of a task. Should that fail, a sweep adds it later. */
async function enqueueTask({ context, queue }: Tasks, caller: Caller, id: string): Promise<void> {
  const { owner, userId } = caller;
  const row = await taskById(context.db, { owner, id });
  if (row?.status !== 'pending') return;
  await queue.add([jobOf({ owner, userId, id, run: row.run })]);
}

/** The job of one run of a task. */
export function jobOf({ run, ...task }: { owner: number; userId: string; id: string; run: string }) {
  return { id: run, kind: taskJobKind, payload: Buffer.from(JSON.stringify(task)) };
}

export async function requireTask(session: Session<Tables>, owner: number, id: string): Promise<TaskRow> {
  const row = await taskById(session, { owner, id });
  if (!row) throw notFound('task', id);
  return row;
}

/** The stored input of a task of an account. Throws `not_found`. */
export async function taskInput<T>(
  session: Session<Tables>,
  { owner, id }: { owner: number; id: string },
): Promise<T> {
  return JSON.parse((await requireTask(session, owner, id)).input) as T;
}

async function addTask(
  transaction: AccountTransaction,
  { type, description, input }: { type: TaskType; description: string | null; input: unknown },
): Promise<TaskRow> {
  await refuseTooMany(transaction);
  const { session, owner, nowMs } = transaction;
  const row = { owner, id: newOrderedId(), type, description, input: JSON.stringify(input), run: newId() };
  return insertTask(session, { ...row, created_at_ms: nowMs });
}

async function refuseTooMany({ session, owner }: AccountTransaction): Promise<void> {
  const open = await countOpen(session, owner);
  if ((open?.total ?? 0) < openMax) return;
  throw new AppError('rate_limited', `You have ${openMax} tasks that are not finished. Try again later.`, {
    retryAfterSeconds: 30,
  });
}
