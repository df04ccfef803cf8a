import { statement, type WriteSession } from '#kit/db/index.ts';
import type { Tables } from '../database.ts';

export interface Reanalysis {
  readonly id: string;
  readonly status: 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled';
  /** The attempt that may write it; each has its own. */
  readonly run: string;
  readonly progress: number;
  readonly createdAtMs: number;
  readonly startedAtMs: number | null;
  readonly finishedAtMs: number | null;
  /** How many posts were counted; null before. */
  readonly posts: number | null;
  /** Whether the statistics were repaired. */
  readonly repaired: number | null;
  /** The last post that was classified. */
  readonly classifiedTo: number;
  readonly classified: number;
  readonly labelsChanged: number;
  readonly error: string | null;
}

/** What a run has completed. The next run continues there. */
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

export const insertReanalysis = statement<Tables, { id: string; nowMs: number }>()((db, p) =>
  db
    .insertInto('reanalysis')
    .values({
      id: p('id'),
      status: 'queued',
      run: '',
      progress: 0,
      created_at_ms: p('nowMs'),
      seen_at_ms: p('nowMs'),
      classified_to: 0,
      classified: 0,
      labels_changed: 0,
    })
    .returning(columns),
);

export const findReanalysis = statement<Tables, ById>()((db, p) =>
  db.selectFrom('reanalysis').select(columns).where('id', '=', p('id')),
);

export const latestReanalyses = statement<Tables, { limit: number }>()((db, p) =>
  db
    .selectFrom('reanalysis')
    .select(columns)
    .orderBy('created_at_ms', 'desc')
    .orderBy('id')
    .limit(p('limit')),
);

/** Gives a reanalysis to a run, unless it has ended or another run has reported since `quietSinceMs`. */
export const beginRun = statement<Tables, ByRun & { quietSinceMs: number }>()((db, p) =>
  db
    .updateTable('reanalysis')
    .set((e) => ({
      status: 'running',
      run: p('run'),
      error: null,
      seen_at_ms: p('nowMs'),
      started_at_ms: e.fn.coalesce('started_at_ms', p('nowMs')),
    }))
    .where('id', '=', p('id'))
    .where((e) =>
      e.or([
        e('status', '=', 'queued'),
        e.and([e('status', '=', 'running'), e('seen_at_ms', '<=', p('quietSinceMs'))]),
      ]),
    )
    .returning(columns),
);

/** Reports the progress of a run. Changes no row if the run is over: it was canceled, or another run has taken over. */
export const reportProgress = statement<Tables, ByRun & { progress: number }>()((db, p) =>
  db
    .updateTable('reanalysis')
    .set({ progress: p('progress'), seen_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('run', '=', p('run'))
    .where('status', '=', 'running'),
);

/** Stores what was completed, in the transaction that completed it. False if the run is over. */
export async function storeState(session: WriteSession<Tables>, state: RunState): Promise<boolean> {
  const { changes } = await updateState.run(session, state);
  return changes === 1;
}

/** Gives a run back to the queue when its worker stops. */
export const pauseRun = statement<Tables, ByRun>()((db, p) =>
  db
    .updateTable('reanalysis')
    .set({ status: 'queued', run: '', seen_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('run', '=', p('run'))
    .where('status', '=', 'running'),
);

export const succeed = statement<Tables, ByRun>()((db, p) =>
  db
    .updateTable('reanalysis')
    .set({ status: 'succeeded', progress: 1, seen_at_ms: p('nowMs'), finished_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('run', '=', p('run'))
    .where('status', '=', 'running'),
);

/** Ends a reanalysis that has not ended. */
export const endOpen = statement<
  Tables,
  { id: string; status: 'failed' | 'canceled'; error: string | null; nowMs: number }
>()((db, p) =>
  db
    .updateTable('reanalysis')
    .set({ status: p('status'), error: p('error'), finished_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('status', 'in', ['queued', 'running']),
);

/** Opens a failed reanalysis. */
export const reopen = statement<Tables, { id: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('reanalysis')
    .set({ status: 'queued', run: '', finished_at_ms: null, seen_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('status', '=', 'failed'),
);

/** Ends a reanalysis that was opened without success; its error is still there. */
export const failAgain = statement<Tables, { id: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('reanalysis')
    .set({ status: 'failed', finished_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('status', '=', 'queued'),
);

/** Open reanalyses that nobody has reported on since a time: their job may be lost. */
export const findForgotten = statement<Tables, { sinceMs: number }>()((db, p) =>
  db
    .selectFrom('reanalysis')
    .select('id')
    .where('status', 'in', ['queued', 'running'])
    .where('seen_at_ms', '<=', p('sinceMs')),
);

export const markSeen = statement<Tables, { id: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('reanalysis')
    .set({ seen_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('status', '=', 'queued'),
);

const updateState = statement<Tables, RunState>()((db, p) =>
  db
    .updateTable('reanalysis')
    .set({
      posts: p('posts'),
      repaired: p('repaired'),
      classified_to: p('classifiedTo'),
      classified: p('classified'),
      labels_changed: p('labelsChanged'),
    })
    .where('id', '=', p('id'))
    .where('run', '=', p('run'))
    .where('status', '=', 'running'),
);
