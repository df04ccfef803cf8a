import { type Statement, statement, type WriteSession } from '#kit/db/index.ts';
import type { ReanalysisRow, Tables } from './tables.ts';

/** What a run has done for good: the next one goes on there. */
export type RunState = Pick<
  ReanalysisRow,
  'id' | 'run' | 'posts' | 'repaired' | 'classified_to' | 'classified' | 'labels_changed'
>;

type ById = { id: string };

export const insertReanalysis = statement<Tables, { id: string; nowMs: number }, ReanalysisRow>((db, p) =>
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
    .returningAll(),
);

export const findReanalysis = statement<Tables, ById, ReanalysisRow>((db, p) =>
  db.selectFrom('reanalysis').selectAll().where('id', '=', p('id')),
);

export const latestReanalyses = statement<Tables, { limit: number }, ReanalysisRow>((db, p) =>
  db.selectFrom('reanalysis').selectAll().orderBy('created_at_ms', 'desc').orderBy('id').limit(p('limit')),
);

/** Gives a reanalysis to a run, unless it has ended, or another run was heard of after `quietSinceMs`. */
export const beginRun: Statement<
  { id: string; run: string; nowMs: number; quietSinceMs: number },
  ReanalysisRow
> = statement<Tables, { id: string; run: string; nowMs: number; quietSinceMs: number }, ReanalysisRow>(
  (db, p) =>
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
      .returningAll(),
);

/** Says how far a run is. No row is changed where it does not run any more: it was canceled, or another run has it. */
export const noteProgress = statement<Tables, { id: string; run: string; progress: number; nowMs: number }>(
  (db, p) =>
    db
      .updateTable('reanalysis')
      .set({ progress: p('progress'), seen_at_ms: p('nowMs') })
      .where('id', '=', p('id'))
      .where('run', '=', p('run'))
      .where('status', '=', 'running'),
);

/** Notes what was done in the transaction in which it was done. No row is changed where the run is over. */
export async function noteDone(session: WriteSession<Tables>, state: RunState): Promise<boolean> {
  const { changes } = await keep.run(session, state);
  return changes === 1;
}

/** Gives a run back to the queue: its worker stops. */
export const pauseRun = statement<Tables, { id: string; run: string; nowMs: number }>((db, p) =>
  db
    .updateTable('reanalysis')
    .set({ status: 'queued', run: '', seen_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('run', '=', p('run'))
    .where('status', '=', 'running'),
);

export const succeed = statement<Tables, { id: string; run: string; nowMs: number }>((db, p) =>
  db
    .updateTable('reanalysis')
    .set({ status: 'succeeded', progress: 1, seen_at_ms: p('nowMs'), finished_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('run', '=', p('run'))
    .where('status', '=', 'running'),
);

/** Ends one that has not ended. */
export const endOpen = statement<
  Tables,
  { id: string; status: 'failed' | 'canceled'; error: string | null; nowMs: number }
>((db, p) =>
  db
    .updateTable('reanalysis')
    .set({ status: p('status'), error: p('error'), finished_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('status', 'in', ['queued', 'running']),
);

/** Opens one that has failed. */
export const reopen = statement<Tables, { id: string; nowMs: number }>((db, p) =>
  db
    .updateTable('reanalysis')
    .set({ status: 'queued', run: '', finished_at_ms: null, seen_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('status', '=', 'failed'),
);

/** Ends one that was opened in vain, with what went wrong before. */
export const failAgain = statement<Tables, { id: string; nowMs: number }>((db, p) =>
  db
    .updateTable('reanalysis')
    .set({ status: 'failed', finished_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('status', '=', 'queued'),
);

/** Those that nobody was heard of since a time: their job may be lost. */
export const forgotten = statement<Tables, { sinceMs: number }, ById>((db, p) =>
  db
    .selectFrom('reanalysis')
    .select('id')
    .where('status', 'in', ['queued', 'running'])
    .where('seen_at_ms', '<=', p('sinceMs')),
);

export const noteSeen = statement<Tables, { id: string; nowMs: number }>((db, p) =>
  db
    .updateTable('reanalysis')
    .set({ seen_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('status', '=', 'queued'),
);

const keep = statement<Tables, RunState>((db, p) =>
  db
    .updateTable('reanalysis')
    .set({
      posts: p('posts'),
      repaired: p('repaired'),
      classified_to: p('classified_to'),
      classified: p('classified'),
      labels_changed: p('labels_changed'),
    })
    .where('id', '=', p('id'))
    .where('run', '=', p('run'))
    .where('status', '=', 'running'),
);
