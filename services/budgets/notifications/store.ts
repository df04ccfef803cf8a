import { statement } from '@octavo/data';
import { sql } from 'kysely';
import { shownName } from '../store/shown-name.ts';
import type { NotificationRow, Store, Tables } from '../store/tables.ts';

/** The next number of an account. It locks the account's row until the transaction ends, so numbers have no holes. */
export const nextSeq = statement<Tables, { owner: number }>()((db, p) =>
  db
    .updateTable('account')
    .set((eb) => ({ notification_seq: eb('notification_seq', '+', 1) }))
    .where('number', '=', p('owner'))
    .returning(['notification_seq as seq', 'id as userId']),
);

/** The number of the last notification of an account. */
export function lastSeq({ kysely }: Store, owner: number) {
  return kysely
    .selectFrom('account')
    .select('notification_seq as seq')
    .where('number', '=', owner)
    .executeTakeFirst();
}

export const insertNotification = statement<Tables, Omit<NotificationRow, 'read_at_ms'>>()((db, p) =>
  db.insertInto('notification').values({
    owner: p('owner'),
    seq: p('seq'),
    id: p('id'),
    type: p('type'),
    title: p('title'),
    message: p('message'),
    data: p('data'),
    created_at_ms: p('created_at_ms'),
    shared_budget: p('shared_budget'),
  }),
);

/** The members of a budget, and its owner as they see it. */
export function membersOf({ kysely }: Store, { owner, budget }: { owner: number; budget: number }) {
  return kysely
    .selectFrom('budget_member as m')
    .innerJoin('account as a', 'a.number', 'm.owner')
    .select(['m.account', 'm.role', 'a.id as owner_id', shownName('a').as('owner_username')])
    .where('m.owner', '=', owner)
    .where('m.budget', '=', budget)
    .execute();
}

/** Deletes the notifications of an account about a budget that was shared with it. */
export function forgetShared({ kysely }: Store, { owner, budget }: { owner: number; budget: number }) {
  return kysely
    .deleteFrom('notification')
    .where('owner', '=', owner)
    .where('shared_budget', '=', budget)
    .execute();
}

// A literal, since with a parameter the databases would not use the partial index.
const isUnread = sql<boolean>`read_at_ms IS NULL`;

interface Selection {
  readonly owner: number;
  /** True for those that were not read. */
  readonly unread: boolean;
  /** Kinds to include; all if undefined. */
  readonly types?: readonly string[] | undefined;
}

function notificationsOf({ kysely }: Store, { owner, unread, types }: Selection) {
  let notifications = kysely.selectFrom('notification').where('owner', '=', owner);
  if (unread) notifications = notifications.where(isUnread);
  return types ? notifications.where('type', 'in', [...types]) : notifications;
}

/** A page from before a number, newest first. */
export function notificationsPage(
  store: Store,
  { beforeSeq, limit, ...selection }: Selection & { beforeSeq: number; limit: number },
) {
  return notificationsOf(store, selection)
    .selectAll()
    .where('seq', '<', beforeSeq)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
}

export async function countNotifications(store: Store, selection: Selection): Promise<number> {
  const counted = notificationsOf(store, selection).select((eb) => eb.fn.countAll<number>().as('total'));
  return (await counted.executeTakeFirstOrThrow()).total;
}

/** Notifications after a number, oldest first, to be delivered in order. */
export function notificationsAfter(
  { kysely }: Store,
  given: { owner: number; afterSeq: number; sinceMs: number; limit: number },
) {
  return kysely
    .selectFrom('notification')
    .selectAll()
    .where('owner', '=', given.owner)
    .where('seq', '>', given.afterSeq)
    .where('created_at_ms', '>=', given.sinceMs)
    .orderBy('seq')
    .limit(given.limit)
    .execute();
}

/** The first time counts. */
export function markRead(
  { kysely }: Store,
  { owner, id, nowMs }: { owner: number; id: string; nowMs: number },
) {
  return kysely
    .updateTable('notification')
    .set({ read_at_ms: nowMs })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .where(isUnread)
    .execute();
}

export function markReadUpTo(
  { kysely }: Store,
  { owner, seq, nowMs }: { owner: number; seq: number; nowMs: number },
) {
  return kysely
    .updateTable('notification')
    .set({ read_at_ms: nowMs })
    .where('owner', '=', owner)
    .where('seq', '<=', seq)
    .where(isUnread)
    .executeTakeFirst();
}

export function choiceOf({ kysely }: Store, owner: number) {
  return kysely
    .selectFrom('notification_choice')
    .select('shown')
    .where('owner', '=', owner)
    .executeTakeFirst();
}

export function putChoice({ kysely }: Store, row: { owner: number; shown: string }) {
  return kysely
    .insertInto('notification_choice')
    .values(row)
    .onConflict((conflict) => conflict.column('owner').doUpdateSet({ shown: row.shown }))
    .execute();
}
