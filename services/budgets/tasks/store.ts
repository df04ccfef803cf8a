import { sql } from 'kysely';
import { newestFirst, type PlaceByTime } from '../store/newest-first.ts';
import type { Store, TaskRow } from '../store/tables.ts';

type OneTask = { owner: number; id: string };

/** A task without a run is not there for its owner yet: its file is being uploaded. */
export function insertTask(
  { kysely }: Store,
  row: Pick<TaskRow, 'owner' | 'id' | 'type' | 'description' | 'input' | 'run' | 'created_at_ms'>,
) {
  return kysely
    .insertInto('task')
    .values({ ...row, status: 'pending', progress: 0, attempts: 0, seen_at_ms: row.created_at_ms })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** A task whose upload is not completed. */
export function uploadById({ kysely }: Store, { owner, id }: OneTask) {
  return kysely
    .selectFrom('task')
    .select('id')
    .where('owner', '=', owner)
    .where('id', '=', id)
    .where('run', '=', '')
    .executeTakeFirst();
}

/** Deletes an upload, unless it is a task by now. */
export function deleteUpload({ kysely }: Store, { owner, id }: OneTask) {
  return kysely
    .deleteFrom('task')
    .where('owner', '=', owner)
    .where('id', '=', id)
    .where('run', '=', '')
    .execute();
}

/** Makes an uploaded task ready to run. */
export function readyTask(
  { kysely }: Store,
  given: OneTask & { run: string; input: string; description: string | null; nowMs: number },
) {
  return kysely
    .updateTable('task')
    .set({ run: given.run, input: given.input, description: given.description, seen_at_ms: given.nowMs })
    .where('owner', '=', given.owner)
    .where('id', '=', given.id)
    .where('run', '=', '')
    .returningAll()
    .executeTakeFirst();
}

export function taskById({ kysely }: Store, { owner, id }: OneTask) {
  return kysely
    .selectFrom('task')
    .selectAll()
    .where('owner', '=', owner)
    .where('id', '=', id)
    .where('run', '!=', '')
    .executeTakeFirst();
}

export function tasksPage({ kysely }: Store, place: PlaceByTime) {
  return kysely.selectFrom('task').selectAll().where('run', '!=', '').$call(newestFirst(place)).execute();
}

export function countTasks({ kysely }: Store, owner: number) {
  return kysely
    .selectFrom('task')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', owner)
    .where('run', '!=', '')
    .executeTakeFirst();
}

/** Counts the unfinished tasks of an account. */
export function countOpen({ kysely }: Store, owner: number) {
  return kysely
    .selectFrom('task')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', owner)
    .where('status', 'in', ['pending', 'running'])
    .executeTakeFirst();
}

export function describeTask(
  { kysely }: Store,
  { description, owner, id }: OneTask & { description: string | null },
) {
  return kysely
    .updateTable('task')
    .set({ description })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .execute();
}

// Literals, since with parameters the databases would not use the partial index.
const isOpen = sql<boolean>`status IN ('pending', 'running')`;

/** Counts the unfinished tasks of all accounts. */
export function countAllOpen(session: Store) {
  return countAll(session).where(isOpen).executeTakeFirst();
}

/** Counts the failed tasks of all accounts. */
export function countAllFailed(session: Store) {
  return countAll(session).where('status', '=', 'failed').executeTakeFirst();
}

function countAll({ kysely }: Store) {
  return kysely.selectFrom('task').select((eb) => eb.fn.countAll<number>().as('total'));
}

export function cancelTask({ kysely }: Store, { nowMs, owner, id }: OneTask & { nowMs: number }) {
  return kysely
    .updateTable('task')
    .set({ status: 'canceled', finished_at_ms: nowMs })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .where(isOpen)
    .executeTakeFirst();
}

export function restartTask(
  { kysely }: Store,
  { run, nowMs, owner, id }: OneTask & { run: string; nowMs: number },
) {
  return kysely
    .updateTable('task')
    .set({
      status: 'pending',
      run,
      progress: 0,
      error: null,
      undone: null,
      undone_at_ms: null,
      started_at_ms: null,
      finished_at_ms: null,
      seen_at_ms: nowMs,
    })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .where(sql<boolean>`(undone IS NULL OR undone_at_ms IS NOT NULL)`)
    .where('status', 'in', ['failed', 'canceled'])
    .executeTakeFirst();
}

/** Counts expenses that were taken back, unless the task is open or undone already. */
export function addUndone({ kysely }: Store, { owner, id, undone }: OneTask & { undone: number }) {
  return kysely
    .updateTable('task')
    .set({ undone: sql<number>`coalesce(undone, 0) + ${undone}` })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .where('status', 'in', ['completed', 'failed', 'canceled'])
    .where('undone_at_ms', 'is', null)
    .returning('undone')
    .executeTakeFirst();
}

/** A task that was undone has nothing to go on from, should it run again. */
export function markUndone({ kysely }: Store, { owner, id, nowMs }: OneTask & { nowMs: number }) {
  return kysely
    .updateTable('task')
    .set({
      undone_at_ms: nowMs,
      result: sql<string | null>`CASE WHEN status = 'completed' THEN result END`,
    })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function deleteTaskRow({ kysely }: Store, { owner, id }: OneTask) {
  return kysely.deleteFrom('task').where('owner', '=', owner).where('id', '=', id).execute();
}

type OneRun = OneTask & { run: string; nowMs: number };

/** The task of a job, which starts or goes on; nothing if it was canceled or has another run. */
export function beginRun({ kysely }: Store, { nowMs, owner, id, run }: OneRun) {
  return kysely
    .updateTable('task')
    .set((eb) => ({
      status: 'running',
      attempts: eb('attempts', '+', 1),
      started_at_ms: eb.fn.coalesce('started_at_ms', eb.val(nowMs)),
      seen_at_ms: nowMs,
    }))
    .where('owner', '=', owner)
    .where('id', '=', id)
    .where('run', '=', run)
    .where(isOpen)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Of a run that was not canceled, by its last attempt: one that was paused until another took its place writes no more. `result` is
 * kept where none is given.
 */
export function advanceRun(
  { kysely }: Store,
  given: OneRun & { attempts: number; progress: number; result: string | null },
) {
  return kysely
    .updateTable('task')
    .set((eb) => ({
      progress: given.progress,
      result: eb.fn.coalesce(eb.val(given.result), 'result'),
      seen_at_ms: given.nowMs,
    }))
    .where('owner', '=', given.owner)
    .where('id', '=', given.id)
    .where('run', '=', given.run)
    .where('attempts', '=', given.attempts)
    .where('status', '=', 'running')
    .executeTakeFirst();
}

/** Ends a run. Without a result, that of the last attempt stays, so that another run goes on from there. */
export function endRun(
  { kysely }: Store,
  given: OneRun & {
    status: TaskRow['status'];
    progress: number;
    result: string | null;
    error: string | null;
  },
) {
  return kysely
    .updateTable('task')
    .set((eb) => ({
      status: given.status,
      progress: given.progress,
      result: eb.fn.coalesce(eb.val(given.result), 'result'),
      error: given.error,
      finished_at_ms: given.nowMs,
      seen_at_ms: given.nowMs,
    }))
    .where('owner', '=', given.owner)
    .where('id', '=', given.id)
    .where('run', '=', given.run)
    .where(isOpen)
    .returningAll()
    .executeTakeFirst();
}

/** Tasks without a report for some time, with the ids of their accounts. */
export function forgottenTasks({ kysely }: Store, beforeMs: number) {
  return kysely
    .selectFrom('task')
    .innerJoin('account', 'account.number', 'task.owner')
    .select(['task.owner', 'task.id', 'task.run', 'account.id as userId'])
    .where(sql<boolean>`task.status IN ('pending', 'running')`)
    .where('task.seen_at_ms', '<', beforeMs)
    .where('task.run', '!=', '')
    .limit(100)
    .execute();
}

export function markSeen({ kysely }: Store, { nowMs, owner, id }: OneTask & { nowMs: number }) {
  return kysely
    .updateTable('task')
    .set({ seen_at_ms: nowMs })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .execute();
}

/** Tasks whose upload was never completed. */
export function deleteAbandoned({ kysely }: Store, beforeMs: number) {
  return kysely
    .deleteFrom('task')
    .where(sql<boolean>`status IN ('pending', 'running')`)
    .where('seen_at_ms', '<', beforeMs)
    .where('run', '=', '')
    .execute();
}

type OneFile = { owner: number; taskId: string; name: 'input' | 'output' };

export function insertPart(
  { kysely }: Store,
  { owner, taskId, name, part, bytes }: OneFile & { part: number; bytes: Uint8Array },
) {
  return kysely
    .insertInto('task_file')
    .values({
      owner,
      task_id: taskId,
      name,
      part,
      bytes,
    })
    .execute();
}

export function partOf({ kysely }: Store, { owner, taskId, name, part }: OneFile & { part: number }) {
  return kysely
    .selectFrom('task_file')
    .select('bytes')
    .where('owner', '=', owner)
    .where('task_id', '=', taskId)
    .where('name', '=', name)
    .where('part', '=', part)
    .executeTakeFirst();
}

export function deleteFile({ kysely }: Store, { owner, taskId, name }: OneFile) {
  return kysely
    .deleteFrom('task_file')
    .where('owner', '=', owner)
    .where('task_id', '=', taskId)
    .where('name', '=', name)
    .execute();
}
