import { statement } from '#kit/db/index.ts';
import type { MailTables } from './mail-tables.ts';

/** Tells that a worker is alive. */
export const beat = statement<MailTables, { id: string; nowMs: number }>((db, p) =>
  db
    .insertInto('mail_worker')
    .values({ id: p('id'), started_at_ms: p('nowMs'), beat_at_ms: p('nowMs') })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ beat_at_ms: p('nowMs') })),
);

export const forgetWorker = statement<MailTables, { id: string }>((db, p) =>
  db.deleteFrom('mail_worker').where('id', '=', p('id')),
);

export const forgetDeadWorkers = statement<MailTables, { beforeMs: number }>((db, p) =>
  db.deleteFrom('mail_worker').where('beat_at_ms', '<', p('beforeMs')),
);

/** How many workers were heard of since then. */
export const countWorkers = statement<MailTables, { sinceMs: number }, { workers: number }>((db, p) =>
  db
    .selectFrom('mail_worker')
    .select((eb) => eb.fn.countAll<number>().as('workers'))
    .where('beat_at_ms', '>=', p('sinceMs')),
);
