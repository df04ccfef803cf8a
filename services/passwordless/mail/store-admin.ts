import type { Session } from '@octavo/data';
import { sql } from 'kysely';
import type { MailRow, MailStatus, MailTables } from './store.ts';

type Listed = Omit<MailRow, 'text_body' | 'html_body'>;

const columns = [
  'id',
  'kind',
  'recipient',
  'subject',
  'status',
  'next_try_at_ms',
  'expires_at_ms',
  'attempts',
  'claims',
  'worker',
  'last_error',
  'created_at_ms',
  'finished_at_ms',
] as const;

/** Entries without their bodies, newest first. */
export function listMails(
  session: Session<MailTables>,
  { status, limit }: { status?: MailStatus | undefined; limit: number },
): Promise<Listed[]> {
  const all = session.kysely
    .selectFrom('email_queue')
    .select(columns)
    .orderBy('created_at_ms', 'desc')
    .limit(limit);
  return (status === undefined ? all : all.where('status', '=', status)).execute();
}

/** Counts the unfinished entries, and returns the creation time of the oldest. */
export function openMails({ kysely }: Session<MailTables>) {
  return kysely
    .selectFrom('email_queue')
    .select((eb) => [eb.fn.countAll<number>().as('entries'), eb.fn.min('created_at_ms').as('oldest_ms')])
    .where(sql<boolean>`status in ('pending', 'sending')`)
    .executeTakeFirst();
}

/** Makes all pending entries due now, or one, and resets their tries. Returns how many. */
export async function retryMails(
  session: Session<MailTables>,
  { id, nowMs }: { id?: string | undefined; nowMs: number },
): Promise<number> {
  const all = session.kysely
    .updateTable('email_queue')
    .set({ next_try_at_ms: nowMs, attempts: 0 })
    .where('status', '=', 'pending')
    .where('expires_at_ms', '>', nowMs);
  const { numUpdatedRows } = await (id === undefined
    ? all
    : all.where('id', '=', id)
  ).executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

/** Deletes entries with these states, and returns how many. */
export async function purgeMails(
  session: Session<MailTables>,
  statuses: readonly Exclude<MailStatus, 'sending'>[],
): Promise<number> {
  const { numDeletedRows } = await session.kysely
    .deleteFrom('email_queue')
    .where('status', 'in', statuses)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

export function findMail(session: Session<MailTables>, id: string): Promise<Listed | undefined> {
  return session.kysely.selectFrom('email_queue').select(columns).where('id', '=', id).executeTakeFirst();
}
