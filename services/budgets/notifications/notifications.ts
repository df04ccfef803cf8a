import { notFound } from '#kit/errors.ts';
import { appendEvents } from '#kit/events/index.ts';
import { newOrderedId } from '#kit/ids.ts';
import { isoTime } from '#kit/iso-time.ts';
import { UserEvent } from '#proto/budget/v1/events.ts';
import { type Caller, type Core, runCommand, type UnitOfWork } from '../commands.ts';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../paging.ts';
import type { NotificationRow } from '../tables.ts';
import {
  type MessageInput,
  type Notification,
  type NotificationType,
  toNotification,
} from './notification.ts';
import {
  countNotifications,
  countUnread,
  insertNotification,
  lastSeq,
  markRead,
  markReadUpTo,
  nextSeq,
  notificationById,
  notificationsAfter,
  notificationsPage,
  unreadPage,
} from './store.ts';

/** What a user is told. */
export interface News {
  readonly type: NotificationType;
  readonly title: string;
  readonly message: string;
  /** The resource, as the API shows it. */
  readonly data: unknown;
}

/** Notifies the account in the transaction of what happened, and publishes the same as an event. */
export async function notify(unit: UnitOfWork, news: News): Promise<Notification> {
  const { session, owner, nowMs } = unit;
  const next = await nextSeq.first(session, { owner });
  if (!next) throw notFound('account', owner);
  const { seq, userId } = next;
  const { type, title, message } = news;
  const data = JSON.stringify(news.data);
  const id = newOrderedId();
  const row = { owner, seq, id, type, title, message, data, created_at_ms: nowMs };
  await insertNotification.run(session, row);
  const occurredAt = isoTime(nowMs);
  const event = UserEvent.encode({ eventId: id, occurredAt, userId, seq, message, data }).finish();
  await appendEvents(session, { type: `${type}.v1`, data: event, timeMs: nowMs });
  return toNotification({ ...row, read_at_ms: null });
}

/** Sends a message to oneself. */
export function sendMessage(core: Core, caller: Caller, given: MessageInput): Promise<Notification> {
  const { message, title = 'Message' } = given;
  return runCommand(core, caller, (unit) =>
    notify(unit, { type: 'message', title, message, data: { title, message } }),
  );
}

export interface NotificationFilter extends PageRequest {
  readonly unread?: boolean | undefined;
}

/** Notifications, newest first. */
export async function listNotifications(
  { db }: Core,
  { owner }: Caller,
  { unread = false, limit, cursor }: NotificationFilter,
): Promise<Page<Notification>> {
  const [beforeSeq = Number.MAX_SAFE_INTEGER] = decodeCursor(cursor, ['integer']) as [number?];
  const page = unread ? unreadPage : notificationsPage;
  const rows = await page.all(db, { owner, beforeSeq, limit: limit + 1 });
  const counted = await (unread ? countUnread : countNotifications).first(db, { owner });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    items: shown.map(toNotification),
    total: counted?.total ?? 0,
    next: last && encodeCursor([last.seq]),
  };
}

/** One notification. Throws `not_found` if there is none, or it is somebody else's. */
export async function getNotification({ db }: Core, { owner }: Caller, id: string): Promise<Notification> {
  const row = await notificationById.first(db, { owner, id });
  if (!row) throw notFound('notification', id);
  return toNotification(row);
}

/** Marks one as read, and returns it. Marking it again changes nothing. */
export function readNotification(core: Core, caller: Caller, id: string): Promise<Notification> {
  return runCommand(core, caller, async ({ session, owner, nowMs }) => {
    await markRead.run(session, { owner, id, nowMs });
    const row = await notificationById.first(session, { owner, id });
    if (!row) throw notFound('notification', id);
    return toNotification(row);
  });
}

/** Marks all as read, or all up to a number, and returns how many were unread. */
export function readNotifications(
  core: Core,
  caller: Caller,
  upToSeq = Number.MAX_SAFE_INTEGER,
): Promise<{ read: number }> {
  return runCommand(core, caller, async ({ session, owner, nowMs }) => {
    const { changes } = await markReadUpTo.run(session, { owner, seq: upToSeq, nowMs });
    return { read: changes };
  });
}

/** The number of the last notification; 0 if there is none. */
export async function lastNotification({ db }: Core, { owner }: Caller): Promise<number> {
  return (await lastSeq.first(db, { owner }))?.seq ?? 0;
}

/** How many are unread, and the number of the last one. */
export async function unreadNotifications(
  { db }: Core,
  { owner }: Caller,
): Promise<{ count: number; lastSeq: number }> {
  return db.read(async (session) => ({
    count: (await countUnread.first(session, { owner }))?.total ?? 0,
    lastSeq: (await lastSeq.first(session, { owner }))?.seq ?? 0,
  }));
}

/** Notifications after a number, oldest first, that are not older than a time. For those who deliver them in order. */
export async function followNotifications(
  { db }: Core,
  { owner }: Caller,
  range: { afterSeq: number; sinceMs: number; limit: number },
): Promise<Notification[]> {
  const rows: NotificationRow[] = await notificationsAfter.all(db, { owner, ...range });
  return rows.map(toNotification);
}
