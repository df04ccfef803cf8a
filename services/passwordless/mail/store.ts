import { sql } from 'kysely';
import { type Session, statement, type WriteSession } from '#kit/db/index.ts';

export interface MailTables {
  email_queue: MailRow;
  mail_worker: MailWorkerRow;
}

export type MailStatus = 'pending' | 'sending' | 'sent' | 'failed';

export interface MailRow {
  id: string;
  kind: string;
  recipient: string;
  subject: string;
  text_body: string;
  html_body: string;
  status: MailStatus;
  next_try_at_ms: number;
  expires_at_ms: number;
  attempts: number;
  claims: number;
  worker: string | null;
  last_error: string | null;
  created_at_ms: number;
  finished_at_ms: number | null;
}

interface MailWorkerRow {
  id: string;
  started_at_ms: number;
  beat_at_ms: number;
}

interface NewMailRow {
  id: string;
  kind: string;
  recipient: string;
  subject: string;
  textBody: string;
  htmlBody: string;
  nowMs: number;
  expiresAtMs: number;
}

/** An entry as one worker claimed it. Its later updates apply only if no other worker has claimed the entry since. */
export type Claim = Pick<MailRow, 'id' | 'claims'> & { readonly worker: string };

/** Literals, since with a parameter the databases would not use the partial index. */
const isOpen = sql<boolean>`status in ('pending', 'sending')`;

const isNoLink = sql<boolean>`kind <> 'magic-link'`;

export const insertMail = statement<MailTables, NewMailRow>()((db, p) =>
  db.insertInto('email_queue').values({
    id: p('id'),
    kind: p('kind'),
    recipient: p('recipient'),
    subject: p('subject'),
    text_body: p('textBody'),
    html_body: p('htmlBody'),
    status: 'pending',
    next_try_at_ms: p('nowMs'),
    expires_at_ms: p('expiresAtMs'),
    attempts: 0,
    claims: 0,
    created_at_ms: p('nowMs'),
  }),
);

export const hasRecentMail = statement<MailTables, { recipient: string; kind: string; sinceMs: number }>()(
  (db, p) =>
    db
      .selectFrom('email_queue')
      .select('id')
      .where('recipient', '=', p('recipient'))
      .where('kind', '=', p('kind'))
      .where('created_at_ms', '>', p('sinceMs'))
      .where(isNoLink)
      .limit(1),
);

/** When the next entry is due. */
export const nextDue = statement<MailTables>()((db) =>
  db.selectFrom('email_queue').select('next_try_at_ms').where(isOpen).orderBy('next_try_at_ms').limit(1),
);

/** Claims the entries that have been due the longest. It is one statement, so that each of several workers gets different ones. */
export const claimMails = statement<
  MailTables,
  { worker: string; nowMs: number; leaseEndMs: number; count: number }
>()((db, p, dialect) => {
  const due = db
    .selectFrom('email_queue')
    .select('id')
    .where(isOpen)
    .where('next_try_at_ms', '<=', p('nowMs'))
    .orderBy('next_try_at_ms')
    .limit(p('count'));
  // The array is evaluated once. PostgreSQL could run an `in` again for each row, and lock more rows each time.
  const isDue =
    dialect === 'postgres'
      ? sql<boolean>`id = any(array(${due.forUpdate().skipLocked()}))`
      : sql<boolean>`id in (${due})`;
  return db
    .updateTable('email_queue')
    .set((eb) => ({
      status: 'sending',
      worker: p('worker'),
      claims: eb('claims', '+', 1),
      attempts: eb('attempts', '+', 1),
      next_try_at_ms: p('leaseEndMs'),
    }))
    .where(isDue)
    .returningAll();
});

/** Marks entries as sent and replaces their bodies by a note. Returns the ids of those that no other worker has claimed since. */
export async function finishSent(
  session: WriteSession<MailTables>,
  claims: readonly Claim[],
  { note, nowMs }: { note: string; nowMs: number },
): Promise<string[]> {
  if (claims.length === 0) return [];
  const rows = await session.kysely
    .updateTable('email_queue')
    .set({ status: 'sent', text_body: note, html_body: note, last_error: null, finished_at_ms: nowMs })
    .where(sql<boolean>`status = 'sending'`)
    .where((eb) =>
      eb.or(claims.map(({ id, worker, claims: count }) => eb.and({ id, worker, claims: count }))),
    )
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

const fail = statement<MailTables, Claim & { lastError: string; note: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('email_queue')
    .set({
      status: 'failed',
      text_body: p('note'),
      html_body: p('note'),
      last_error: p('lastError'),
      finished_at_ms: p('nowMs'),
    })
    .where('id', '=', p('id'))
    .where('worker', '=', p('worker'))
    .where('claims', '=', p('claims'))
    .where('status', '=', 'sending'),
);

const release = statement<
  MailTables,
  Claim & { nextTryAtMs: number; attempts: number; lastError: string | null }
>()((db, p) =>
  db
    .updateTable('email_queue')
    .set({
      status: 'pending',
      worker: null,
      next_try_at_ms: p('nextTryAtMs'),
      attempts: p('attempts'),
      last_error: p('lastError'),
    })
    .where('id', '=', p('id'))
    .where('worker', '=', p('worker'))
    .where('claims', '=', p('claims'))
    .where('status', '=', 'sending'),
);

/** Marks an entry as failed and replaces its bodies by a note. Returns false if another worker has claimed it since. */
export async function failMail(
  session: WriteSession<MailTables>,
  claim: Claim,
  end: { lastError: string; note: string; nowMs: number },
): Promise<boolean> {
  return (await fail.run(session, { ...claim, ...end })).changes === 1;
}

/** Makes an entry pending again. Returns false if another worker has claimed it since. */
export async function releaseMail(
  session: WriteSession<MailTables>,
  claim: Claim,
  next: { nextTryAtMs: number; attempts: number; lastError: string | null },
): Promise<boolean> {
  return (await release.run(session, { ...claim, ...next })).changes === 1;
}

/** Deletes at most 500 entries that finished before then, and returns how many. */
export async function deleteFinishedMails(session: Session<MailTables>, beforeMs: number): Promise<number> {
  const { changes } = await deleteFinished.run(session, { beforeMs });
  return changes;
}

const deleteFinished = statement<MailTables, { beforeMs: number }>()((db, p) =>
  db
    .deleteFrom('email_queue')
    .where('id', 'in', (eb) =>
      eb.selectFrom('email_queue').select('id').where('finished_at_ms', '<', p('beforeMs')).limit(500),
    ),
);

/** Records that a worker is alive. */
export const recordHeartbeat = statement<MailTables, { id: string; nowMs: number }>()((db, p) =>
  db
    .insertInto('mail_worker')
    .values({ id: p('id'), started_at_ms: p('nowMs'), beat_at_ms: p('nowMs') })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ beat_at_ms: p('nowMs') })),
);

export const deleteWorker = statement<MailTables, { id: string }>()((db, p) =>
  db.deleteFrom('mail_worker').where('id', '=', p('id')),
);

export const deleteDeadWorkers = statement<MailTables, { beforeMs: number }>()((db, p) =>
  db.deleteFrom('mail_worker').where('beat_at_ms', '<', p('beforeMs')),
);

/** Counts the workers with a heartbeat since then. */
export const countWorkers = statement<MailTables, { sinceMs: number }>()((db, p) =>
  db
    .selectFrom('mail_worker')
    .select((eb) => eb.fn.countAll<number>().as('workers'))
    .where('beat_at_ms', '>=', p('sinceMs')),
);
