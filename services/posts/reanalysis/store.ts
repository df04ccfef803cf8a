import type { WriteSession } from '@octavo/data';
import type { Store, Tables } from '../database.ts';

export interface Reanalysis {
  readonly id: string;
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled';
  /** The attempt that may write it; each has its own. */
  readonly run: string;
  readonly progress: number;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  /** Number of posts counted; null before. */
  readonly posts: number | null;
  /** True if the statistics were repaired. */
  readonly repaired: number | null;
  /** The last post that was classified. */
  readonly classifiedTo: number;
  readonly classified: number;
  readonly labelsChanged: number;
  readonly error: string | null;
}

/** Progress of a run. The next run continues there. */
export type RunState = Pick<
  Reanalysis,
  'id' | 'run' | 'posts' | 'repaired' | 'classifiedTo' | 'classified' | 'labelsChanged'
>;

type ById = { id: string };
type ByRun = { id: string; run: string; nowMs: number };

const columns = [
  'id',
  'status',
  'run',
  'progress',
  'created_at_ms as createdAtMs',
  'started_at_ms as startedAtMs',
  'finished_at_ms as finishedAtMs',
  'posts',
  'repaired',
  'classified_to as classifiedTo',
  'classified',
  'labels_changed as labelsChanged',
  'error',
] as const;

export function insertReanalysis({ kysely }: Store, id: string, nowMs: number) {
  return kysely
    .insertInto('reanalysis')
    .values({
      id,
      status: 'queued',
      run: '',
      progress: 0,
      created_at_ms: nowMs,
      seen_at_ms: nowMs,
      classified_to: 0,
      classified: 0,
      labels_changed: 0,
    })
    .returning(columns)
    .executeTakeFirst();
}

export function findReanalysis({ kysely }: Store, { id }: ById) {
  return kysely.selectFrom('reanalysis').select(columns).where('id', '=', id).executeTakeFirst();
}

export function latestReanalyses({ kysely }: Store, limit: number) {
  return kysely
    .selectFrom('reanalysis')
    .select(columns)
    .orderBy('created_at_ms', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Gives a reanalysis to a run, unless it has ended or another run has reported since `quietSinceMs`. */
export function beginRun(
  { kysely }: Store,
  { run, nowMs, id, quietSinceMs }: ByRun & { quietSinceMs: number },
) {
  return kysely
    .updateTable('reanalysis')
    .set((e) => ({
      status: 'running',
      run,
      error: null,
      seen_at_ms: nowMs,
      started_at_ms: e.fn.coalesce('started_at_ms', e.val(nowMs)),
    }))
    .where('id', '=', id)
    .where((e) =>
      e.or([
        e('status', '=', 'queued'),
        e.and([e('status', '=', 'running'), e('seen_at_ms', '<=', quietSinceMs)]),
      ]),
    )
    .returning(columns)
    .executeTakeFirst();
}

/** Reports the progress of a run. Changes no row if the run is over: it was canceled, or another run has taken over. */
export function reportProgress(
  { kysely }: Store,
  { progress, nowMs, id, run }: ByRun & { progress: number },
) {
  return kysely
    .updateTable('reanalysis')
    .set({ progress, seen_at_ms: nowMs })
    .where('id', '=', id)
    .where('run', '=', run)
    .where('status', '=', 'running')
    .executeTakeFirst();
}

/** Stores the progress in the same transaction as the work. False if the run is over. */
export async function storeState(session: WriteSession<Tables>, state: RunState): Promise<boolean> {
  const { numUpdatedRows } = await session.kysely
    .updateTable('reanalysis')
    .set({
      posts: state.posts,
      repaired: state.repaired,
      classified_to: state.classifiedTo,
      classified: state.classified,
      labels_changed: state.labelsChanged,
    })
    .where('id', '=', state.id)
    .where('run', '=', state.run)
    .where('status', '=', 'running')
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Gives a run back to the queue when its worker stops. */
export function pauseRun({ kysely }: Store, { nowMs, id, run }: ByRun) {
  return kysely
    .updateTable('reanalysis')
    .set({ status: 'queued', run: '', seen_at_ms: nowMs })
    .where('id', '=', id)
    .where('run', '=', run)
    .where('status', '=', 'running')
    .execute();
}

export function succeed({ kysely }: Store, { nowMs, id, run }: ByRun) {
  return kysely
    .updateTable('reanalysis')
    .set({ status: 'succeeded', progress: 1, seen_at_ms: nowMs, finished_at_ms: nowMs })
    .where('id', '=', id)
    .where('run', '=', run)
    .where('status', '=', 'running')
    .executeTakeFirst();
}

/** Ends a reanalysis that has not ended. */
export function endOpen(
  { kysely }: Store,
  given: { id: string; status: 'failed' | 'canceled'; error: string | null; nowMs: number },
) {
  return kysely
    .updateTable('reanalysis')
    .set({ status: given.status, error: given.error, finished_at_ms: given.nowMs })
    .where('id', '=', given.id)
    .where('status', 'in', ['queued', 'running'])
    .execute();
}

/** Opens a failed reanalysis. */
export function reopen({ kysely }: Store, id: string, nowMs: number) {
  return kysely
    .updateTable('reanalysis')
    .set({ status: 'queued', run: '', finished_at_ms: null, seen_at_ms: nowMs })
    .where('id', '=', id)
    .where('status', '=', 'failed')
    .executeTakeFirst();
}

/** Ends a reanalysis that was opened without success; its error is still there. */
export function failAgain({ kysely }: Store, id: string, nowMs: number) {
  return kysely
    .updateTable('reanalysis')
    .set({ status: 'failed', finished_at_ms: nowMs })
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .execute();
}

/** Open reanalyses without a report since a time: their job may be lost. */
export function findForgotten({ kysely }: Store, sinceMs: number) {
  return kysely
    .selectFrom('reanalysis')
    .select('id')
    .where('status', 'in', ['queued', 'running'])
    .where('seen_at_ms', '<=', sinceMs)
    .execute();
}

export function markSeen({ kysely }: Store, id: string, nowMs: number) {
  return kysely
    .updateTable('reanalysis')
    .set({ seen_at_ms: nowMs })
    .where('id', '=', id)
    .where('status', '=', 'queued')
    .execute();
}
