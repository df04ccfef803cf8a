import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import { stringifyExact } from '@octavo/core/text';
import { type Job, PermanentJobError } from '@octavo/data/jobs';
import { runCommand } from '../commands.ts';
import { notify } from '../notifications/index.ts';
import type { Store, TaskRow } from '../store/tables.ts';
import {
  advanceRun,
  beginRun,
  deleteAbandoned,
  deleteFile,
  endRun,
  forgottenTasks,
  markSeen,
} from './store.ts';
import { toTask } from './task.ts';
import { jobOf, type Tasks, taskJobKind } from './tasks.ts';

/** A minute or two of attempts: neither an outage of the database nor a few ends of its worker may fail a task. */
const attemptsMax = 8;
const concurrency = 2;
const uploadMs = 3_600_000;

/** A run of a task, as its job names it. */
interface Run {
  readonly owner: number;
  readonly userId: string;
  readonly id: string;
  readonly run: string;
}

/** Runs the tasks of the queue. Disposing stops them; they go on later. */
export function workOnTasks(tasks: Tasks, log: Log): AsyncDisposable {
  const onDead = async (job: Job) => {
    await end(tasks, runOf(job), { status: 'failed', error: 'Something went wrong on our side.' });
  };
  return tasks.queue.work({ kind: taskJobKind, concurrency, attemptsMax, onDead }, async (job, signal) => {
    const run = runOf(job);
    try {
      await runTask(tasks, run, signal);
    } catch (error) {
      // The worker stops; the task goes on elsewhere.
      if (signal.aborted || !(error instanceof AppError) || error.code === 'unavailable') throw error;
      log.info({ err: error, taskId: run.id }, 'task failed');
      await end(tasks, run, { status: 'failed', error: error.message });
      throw new PermanentJobError(error.message, { cause: error });
    }
  });
}

/** Queues tasks again whose job was lost, and deletes those whose upload was cut off. */
export async function sweepTasks({ context, queue }: Tasks, leaseMs: number): Promise<void> {
  const nowMs = context.clock.now();
  for (const task of await forgottenTasks(context.db, nowMs - 4 * leaseMs)) {
    await markSeen(context.db, { owner: task.owner, id: task.id, nowMs });
    await queue.add([jobOf(task)]);
  }
  await deleteAbandoned(context.db, nowMs - uploadMs);
}

async function runTask(tasks: Tasks, run: Run, workerSignal: AbortSignal): Promise<void> {
  const { context, kinds } = tasks;
  const { owner, userId, id } = run;
  const row = await beginRun(context.db, { owner, id, run: run.run, nowMs: context.clock.now() });
  if (!row) return;
  const canceled = new AbortController();
  const signal = AbortSignal.any([workerSignal, canceled.signal]);
  const advance = async (progress: number, partial?: unknown, session: Store = context.db) => {
    const result = partial === undefined ? null : JSON.stringify(partial);
    const place = { owner, id, run: run.run, attempts: row.attempts, nowMs: context.clock.now() };
    const { numUpdatedRows } = await advanceRun(session, { ...place, progress: clamp(progress), result });
    if (numUpdatedRows === 0n) canceled.abort(new AppError('canceled', 'the task was canceled'));
    signal.throwIfAborted();
  };
  try {
    const result = await kinds[row.type].run({
      context,
      caller: { owner, userId },
      taskId: id,
      signal,
      advance,
      input: JSON.parse(row.input),
      partial: row.result === null ? undefined : JSON.parse(row.result),
    });
    await end(tasks, run, { status: 'completed', result });
  } catch (error) {
    if (!canceled.signal.aborted) throw error;
  }
}

interface End {
  readonly status: 'completed' | 'failed';
  readonly result?: unknown;
  readonly error?: string;
}

/** Stores the outcome and notifies the owner, unless the task has been canceled. */
async function end({ context }: Tasks, { owner, userId, id, run }: Run, { status, result, error }: End) {
  await runCommand(context, { owner, userId }, async (transaction) => {
    const { session, nowMs } = transaction;
    const row = (await endRun(session, {
      owner,
      id,
      run,
      nowMs,
      status,
      progress: 100,
      result: result === undefined ? null : stringifyExact(result),
      error: error ?? null,
    })) as TaskRow | undefined;
    if (!row) return;
    // A failed one can run again, so it keeps its file.
    if (status === 'completed') await deleteFile(session, { owner, taskId: id, name: 'input' });
    await notify(transaction, {
      type: 'task.finished',
      title: `Task ${status}`,
      message: `The task ${row.description ?? row.type} ${status === 'completed' ? 'is completed' : `failed: ${error}`}.`,
      data: toTask(row),
    });
  });
}

function runOf({ id: run, payload }: Job): Run {
  return { ...JSON.parse(Buffer.from(payload).toString('utf8')), run };
}

function clamp(progress: number): number {
  return Math.max(0, Math.min(99, Math.floor(progress)));
}
