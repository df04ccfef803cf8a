import type { Session, WriteSession } from '@octavo/data';
import { type Insertable, sql } from 'kysely';

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

/** An entry as one worker claimed it. Its later updates apply only if no other worker has claimed the entry since. */
export type Claim = Pick<MailRow, 'id' | 'claims'> & { readonly worker: string };

/** Literals, since with a parameter the databases would not use the partial index. */
const isOpen = sql<boolean>`status in ('pending', 'sending')`;

const isNoLink = sql<boolean>`kind <> 'magic-link'`;

export function insertMail(
  { kysely }: Session<MailTables>,
  row: Omit<Insertable<MailTables['email_queue']>, 'status' | 'attempts' | 'claims' | 'created_at_ms'>,
) {
  return kysely
    .insertInto('email_queue')
    .values({ ...row, status: 'pending', attempts: 0, claims: 0, created_at_ms: row.next_try_at_ms })
    .execute();
}

export function hasRecentMail(
  { kysely }: Session<MailTables>,
  { recipient, kind, sinceMs }: { recipient: string; kind: string; sinceMs: number },
) {
  return kysely
    .selectFrom('email_queue')
    .select('id')
    .where('recipient', '=', recipient)
    .where('kind', '=', kind)
    .where('created_at_ms', '>', sinceMs)
    .where(isNoLink)
    .limit(1)
    .executeTakeFirst();
}

/** Time at which the next entry is due. */
export function nextDue({ kysely }: Session<MailTables>) {
  return kysely
    .selectFrom('email_queue')
    .select('next_try_at_ms')
    .where(isOpen)
    .orderBy('next_try_at_ms')
    .limit(1)
    .executeTakeFirst();
}

/** Claims the entry that has been due the longest. It is one statement, so that each of several workers gets another one. */
export function claimMail(
  { kysely, dialect }: Session<MailTables>,
  given: { worker: string; nowMs: number; leaseEndMs: number },
) {
  const due = kysely
    .selectFrom('email_queue')
    .select('id')
    .where(isOpen)
    .where('next_try_at_ms', '<=', given.nowMs)
    .orderBy('next_try_at_ms')
    .limit(1);
  return kysely
    .updateTable('email_queue')
    .set((eb) => ({
      status: 'sending',
      worker: given.worker,
      claims: eb('claims', '+', 1),
      attempts: eb('attempts', '+', 1),
      next_try_at_ms: given.leaseEndMs,
    }))
    .where('id', '=', dialect === 'postgres' ? due.forUpdate().skipLocked() : due)
    .returningAll()
    .executeTakeFirst();
}

/** Renews the leases of entries that a worker has claimed, but of none that another one has claimed since. */
export async function renewMails(
  { kysely }: WriteSession<MailTables>,
  { worker, ids, leaseEndMs }: { worker: string; ids: readonly string[]; leaseEndMs: number },
): Promise<void> {
  await kysely
    .updateTable('email_queue')
    .set({ next_try_at_ms: leaseEndMs })
    .where('status', '=', 'sending')
    .where('worker', '=', worker)
    .where('id', 'in', ids)
    .execute();
}

/** Marks an entry as sent and replaces its bodies by a note. Returns false if another worker has claimed it since. */
export async function finishSent(
  { kysely }: WriteSession<MailTables>,
  claim: Claim,
  { note, nowMs }: { note: string; nowMs: number },
): Promise<boolean> {
  const { numUpdatedRows } = await kysely
    .updateTable('email_queue')
    .set({ status: 'sent', text_body: note, html_body: note, last_error: null, finished_at_ms: nowMs })
    .where('status', '=', 'sending')
    .where((eb) => eb.and({ id: claim.id, worker: claim.worker, claims: claim.claims }))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

function fail(
  { kysely }: Session<MailTables>,
  given: Claim & { lastError: string; note: string; nowMs: number },
) {
  return kysely
    .updateTable('email_queue')
    .set({
      status: 'failed',
      text_body: given.note,
      html_body: given.note,
      last_error: given.lastError,
      finished_at_ms: given.nowMs,
    })
    .where('id', '=', given.id)
    .where('worker', '=', given.worker)
    .where('claims', '=', given.claims)
    .where('status', '=', 'sending')
    .executeTakeFirst();
}

function release(
  { kysely }: Session<MailTables>,
  given: Claim & { nextTryAtMs: number; attempts: number; lastError: string | null },
) {
  return kysely
    .updateTable('email_queue')
    .set({
      status: 'pending',
      worker: null,
      next_try_at_ms: given.nextTryAtMs,
      attempts: given.attempts,
      last_error: given.lastError,
    })
    .where('id', '=', given.id)
    .where('worker', '=', given.worker)
    .where('claims', '=', given.claims)
    .where('status', '=', 'sending')
    .executeTakeFirst();
}

/** Marks an entry as failed and replaces its bodies by a note. Returns false if another worker has claimed it since. */
export async function failMail(
  session: WriteSession<MailTables>,
  claim: Claim,
  end: { lastError: string; note: string; nowMs: number },
): Promise<boolean> {
  return (await fail(session, { ...claim, ...end })).numUpdatedRows === 1n;
}

/** Makes an entry pending again. Returns false if another worker has claimed it since. */
export async function releaseMail(
  session: WriteSession<MailTables>,
  claim: Claim,
  next: { nextTryAtMs: number; attempts: number; lastError: string | null },
): Promise<boolean> {
  return (await release(session, { ...claim, ...next })).numUpdatedRows === 1n;
}

/** Deletes at most 500 entries that finished before then, and returns how many. */
export async function deleteFinishedMails(session: Session<MailTables>, beforeMs: number): Promise<number> {
  const { numDeletedRows } = await session.kysely
    .deleteFrom('email_queue')
    .where('id', 'in', (eb) =>
      eb.selectFrom('email_queue').select('id').where('finished_at_ms', '<', beforeMs).limit(500),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Records that a worker is alive. */
export function recordHeartbeat({ kysely }: Session<MailTables>, id: string, nowMs: number) {
  return kysely
    .insertInto('mail_worker')
    .values({ id, started_at_ms: nowMs, beat_at_ms: nowMs })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ beat_at_ms: nowMs }))
    .execute();
}

export function deleteWorker({ kysely }: Session<MailTables>, id: string) {
  return kysely.deleteFrom('mail_worker').where('id', '=', id).execute();
}

export function deleteDeadWorkers({ kysely }: Session<MailTables>, beforeMs: number) {
  return kysely.deleteFrom('mail_worker').where('beat_at_ms', '<', beforeMs).execute();
}

/** Counts the workers with a heartbeat since then. */
export function countWorkers({ kysely }: Session<MailTables>, sinceMs: number) {
  return kysely
    .selectFrom('mail_worker')
    .select((eb) => eb.fn.countAll<number>().as('workers'))
    .where('beat_at_ms', '>=', sinceMs)
    .executeTakeFirst();
}
