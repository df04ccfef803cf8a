import { sql } from 'kysely';
import { type Session, statement, type WriteSession } from '#kit/db/index.ts';

/** The tables of the e-mail queue. */
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

export interface MailWorkerRow {
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

/** An entry as one worker took it once; what that worker does later only counts while nobody else took it. */
export type Claim = Pick<MailRow, 'id' | 'claims'> & { readonly worker: string };

/** Written out, as is the next, since a parameter would keep the databases from using the index of those. */
const isOpen = sql<boolean>`status in ('pending', 'sending')`;

const isNoLink = sql<boolean>`kind <> 'magic-link'`;

export const insertMail = statement<MailTables, NewMailRow>((db, p) =>
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

export const hasRecentMail = statement<
  MailTables,
  { recipient: string; kind: string; sinceMs: number },
  Pick<MailRow, 'id'>
>((db, p) =>
  db
    .selectFrom('email_queue')
    .select('id')
    .where('recipient', '=', p('recipient'))
    .where('kind', '=', p('kind'))
    .where('created_at_ms', '>', p('sinceMs'))
    .where(isNoLink)
    .limit(1),
);

/** When the next entry may be taken. */
export const nextDue = statement<MailTables, Record<never, never>, Pick<MailRow, 'next_try_at_ms'>>((db) =>
  db.selectFrom('email_queue').select('next_try_at_ms').where(isOpen).orderBy('next_try_at_ms').limit(1),
);

/** Takes the entries that are due the longest, in one statement, so that of many who try each gets others. */
export const claimMails = statement<
  MailTables,
  { worker: string; nowMs: number; leaseEndMs: number; count: number },
  MailRow
>((db, p, dialect) => {
  const due = db
    .selectFrom('email_queue')
    .select('id')
    .where(isOpen)
    .where('next_try_at_ms', '<=', p('nowMs'))
    .orderBy('next_try_at_ms')
    .limit(p('count'));
  // As an array it is made once; PostgreSQL might run a mere `in` again for each row, and lock more each time.
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

/** The entries are sent: their bodies are replaced by a note. Gives the ids of those that nobody else has taken meanwhile. */
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

const fail = statement<MailTables, Claim & { lastError: string; note: string; nowMs: number }>((db, p) =>
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

const giveBack = statement<
  MailTables,
  Claim & { nextTryAtMs: number; attempts: number; lastError: string | null }
>((db, p) =>
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

/** The entry is given up: its bodies are replaced by a note. False where somebody else has taken it meanwhile. */
export async function failMail(
  session: WriteSession<MailTables>,
  claim: Claim,
  end: { lastError: string; note: string; nowMs: number },
): Promise<boolean> {
  return (await fail.run(session, { ...claim, ...end })).changes === 1;
}

/** The entry waits again. False where somebody else has taken it meanwhile. */
export async function giveMailBack(
  session: WriteSession<MailTables>,
  claim: Claim,
  next: { nextTryAtMs: number; attempts: number; lastError: string | null },
): Promise<boolean> {
  return (await giveBack.run(session, { ...claim, ...next })).changes === 1;
}

/** Removes a slice of the entries that were finished before; how many. */
export async function deleteFinishedMails(session: Session<MailTables>, beforeMs: number): Promise<number> {
  const { changes } = await sweep.run(session, { beforeMs });
  return changes;
}

const sweep = statement<MailTables, { beforeMs: number }>((db, p) =>
  db
    .deleteFrom('email_queue')
    .where('id', 'in', (eb) =>
      eb.selectFrom('email_queue').select('id').where('finished_at_ms', '<', p('beforeMs')).limit(500),
    ),
);

/** Tells that a worker is alive. */
export const recordHeartbeat = statement<MailTables, { id: string; nowMs: number }>((db, p) =>
  db
    .insertInto('mail_worker')
    .values({ id: p('id'), started_at_ms: p('nowMs'), beat_at_ms: p('nowMs') })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ beat_at_ms: p('nowMs') })),
);

export const deleteWorker = statement<MailTables, { id: string }>((db, p) =>
  db.deleteFrom('mail_worker').where('id', '=', p('id')),
);

export const deleteDeadWorkers = statement<MailTables, { beforeMs: number }>((db, p) =>
  db.deleteFrom('mail_worker').where('beat_at_ms', '<', p('beforeMs')),
);

/** How many workers were heard of since then. */
export const countWorkers = statement<MailTables, { sinceMs: number }, { workers: number }>((db, p) =>
  db
    .selectFrom('mail_worker')
    .select((eb) => eb.fn.countAll<number>().as('workers'))
    .where('beat_at_ms', '>=', p('sinceMs')),
);
