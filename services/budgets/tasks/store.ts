import { sql } from 'kysely';
import { statement } from '#kit/db/index.ts';
import type { Tables, TaskRow } from '../tables.ts';

type OneTask = { owner: number; id: string };

/** A task without a run is not there for its owner yet: its file is being uploaded. */
export const insertTask = statement<
  Tables,
  Pick<TaskRow, 'owner' | 'id' | 'type' | 'description' | 'input' | 'run' | 'created_at_ms'>
>()((db, p) =>
  db
    .insertInto('task')
    .values({
      owner: p('owner'),
      id: p('id'),
      type: p('type'),
      description: p('description'),
      status: 'pending',
      progress: 0,
      input: p('input'),
      attempts: 0,
      run: p('run'),
      created_at_ms: p('created_at_ms'),
      seen_at_ms: p('created_at_ms'),
    })
    .returningAll(),
);

/** A task whose upload is not completed. */
export const uploadById = statement<Tables, OneTask>()((db, p) =>
  db
    .selectFrom('task')
    .select('id')
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id'))
    .where('run', '=', ''),
);

/** Makes an uploaded task ready to run. */
export const readyTask = statement<
  Tables,
  OneTask & { run: string; input: string; description: string | null; nowMs: number }
>()((db, p) =>
  db
    .updateTable('task')
    .set({ run: p('run'), input: p('input'), description: p('description'), seen_at_ms: p('nowMs') })
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id'))
    .where('run', '=', '')
    .returningAll(),
);

export const taskById = statement<Tables, OneTask>()((db, p) =>
  db
    .selectFrom('task')
    .selectAll()
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id'))
    .where('run', '!=', ''),
);

export const tasksPage = statement<
  Tables,
  { owner: number; beforeMs: number; beforeId: string; limit: number }
>()((db, p) =>
  db
    .selectFrom('task')
    .selectAll()
    .where('owner', '=', p('owner'))
    .where('run', '!=', '')
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at_ms', 'id'), '<', tuple(p('beforeMs'), p('beforeId')) as never),
    )
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(p('limit')),
);

export const countTasks = statement<Tables, { owner: number }>()((db, p) =>
  db
    .selectFrom('task')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', p('owner'))
    .where('run', '!=', ''),
);

/** How many tasks of an account are not finished. */
export const countOpen = statement<Tables, { owner: number }>()((db, p) =>
  db
    .selectFrom('task')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('owner', '=', p('owner'))
    .where('status', 'in', ['pending', 'running']),
);

export const describeTask = statement<Tables, OneTask & { description: string | null }>()((db, p) =>
  db
    .updateTable('task')
    .set({ description: p('description') })
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id')),
);

/** How many tasks of all accounts are not finished. */
export const countAllOpen = statement<Tables>()((db) =>
  db
    .selectFrom('task')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where(sql<boolean>`status IN ('pending', 'running')`),
);

// Literals, since with parameters the databases would not use the partial index.
const isOpen = sql<boolean>`status IN ('pending', 'running')`;

export const cancelTask = statement<Tables, OneTask & { nowMs: number }>()((db, p) =>
  db
    .updateTable('task')
    .set({ status: 'canceled', finished_at_ms: p('nowMs') })
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id'))
    .where(isOpen),
);

export const restartTask = statement<Tables, OneTask & { run: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('task')
    .set({
      status: 'pending',
      run: p('run'),
      progress: 0,
      result: null,
      error: null,
      started_at_ms: null,
      finished_at_ms: null,
      seen_at_ms: p('nowMs'),
    })
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id'))
    .where('status', 'in', ['failed', 'canceled']),
);

export const deleteTaskRow = statement<Tables, OneTask>()((db, p) =>
  db.deleteFrom('task').where('owner', '=', p('owner')).where('id', '=', p('id')),
);

type OneRun = OneTask & { run: string; nowMs: number };

/** The task of a job, which starts or goes on; nothing if it was canceled or has another run. */
export const beginRun = statement<Tables, OneRun>()((db, p) =>
  db
    .updateTable('task')
    .set((eb) => ({
      status: 'running',
      attempts: eb('attempts', '+', 1),
      started_at_ms: eb.fn.coalesce('started_at_ms', p('nowMs')),
      seen_at_ms: p('nowMs'),
    }))
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id'))
    .where('run', '=', p('run'))
    .where(isOpen)
    .returningAll(),
);

/** Of a run that was not canceled. `result` is kept where none is given. */
export const advanceRun = statement<Tables, OneRun & { progress: number; result: string | null }>()((db, p) =>
  db
    .updateTable('task')
    .set((eb) => ({
      progress: p('progress'),
      result: eb.fn.coalesce(p('result'), 'result'),
      seen_at_ms: p('nowMs'),
    }))
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id'))
    .where('run', '=', p('run'))
    .where('status', '=', 'running'),
);

export const endRun = statement<
  Tables,
  OneRun & { status: TaskRow['status']; progress: number; result: string | null; error: string | null }
>()((db, p) =>
  db
    .updateTable('task')
    .set({
      status: p('status'),
      progress: p('progress'),
      result: p('result'),
      error: p('error'),
      finished_at_ms: p('nowMs'),
      seen_at_ms: p('nowMs'),
    })
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id'))
    .where('run', '=', p('run'))
    .where(isOpen)
    .returningAll(),
);

/** Tasks that nobody has reported on for some time, with the ids of their accounts. */
export const forgottenTasks = statement<Tables, { beforeMs: number }>()((db, p) =>
  db
    .selectFrom('task')
    .innerJoin('account', 'account.number', 'task.owner')
    .select(['task.owner', 'task.id', 'task.run', 'account.id as userId'])
    .where(sql<boolean>`task.status IN ('pending', 'running')`)
    .where('task.seen_at_ms', '<', p('beforeMs'))
    .where('task.run', '!=', '')
    .limit(100),
);

export const markSeen = statement<Tables, OneTask & { nowMs: number }>()((db, p) =>
  db
    .updateTable('task')
    .set({ seen_at_ms: p('nowMs') })
    .where('owner', '=', p('owner'))
    .where('id', '=', p('id')),
);

/** Tasks whose upload was never completed. */
export const deleteAbandoned = statement<Tables, { beforeMs: number }>()((db, p) =>
  db
    .deleteFrom('task')
    .where(sql<boolean>`status IN ('pending', 'running')`)
    .where('seen_at_ms', '<', p('beforeMs'))
    .where('run', '=', ''),
);

type OneFile = { owner: number; taskId: string; name: 'input' | 'output' };

export const insertPart = statement<Tables, OneFile & { part: number; bytes: Uint8Array }>()((db, p) =>
  db.insertInto('task_file').values({
    owner: p('owner'),
    task_id: p('taskId'),
    name: p('name'),
    part: p('part'),
    bytes: p('bytes'),
  }),
);

export const partOf = statement<Tables, OneFile & { part: number }>()((db, p) =>
  db
    .selectFrom('task_file')
    .select('bytes')
    .where('owner', '=', p('owner'))
    .where('task_id', '=', p('taskId'))
    .where('name', '=', p('name'))
    .where('part', '=', p('part')),
);

export const deleteFile = statement<Tables, OneFile>()((db, p) =>
  db
    .deleteFrom('task_file')
    .where('owner', '=', p('owner'))
    .where('task_id', '=', p('taskId'))
    .where('name', '=', p('name')),
);
