import { isoTime, newOrderedId, notFound } from '@octavo/core';
import { stringifyExact } from '@octavo/core/text';
import { appendEvents, type Expanded } from '@octavo/data/events';
import { UserEvent } from '@octavo/protocols/budget/v1/events';
import type { Page, PageRequest } from '@octavo/web/rest';
import { decodeCursor, encodeCursor } from '@octavo/web/rest';
import { type AccountTransaction, type Caller, type Context, runCommand } from '../commands.ts';
import { ownedRow } from '../store/owned.ts';
import type { BudgetRow, MemberRow, NotificationRow } from '../store/tables.ts';
import { shownKinds } from './choice.ts';
import {
  type MessageInput,
  type Notification,
  type NotificationType,
  toNotification,
} from './notification.ts';
import {
  countNotifications,
  insertNotification,
  lastSeq,
  markRead,
  markReadUpTo,
  membersOf,
  nextSeq,
  notificationsAfter,
  notificationsPage,
} from './store.ts';

/** A notification to add. */
export interface News {
  readonly type: NotificationType;
  readonly title: string;
  readonly message: string;
  /** The resource, as the API shows it. */
  readonly data: unknown;
  /** The resource, as it is shown to those with whom the budget is shared. */
  readonly dataFor?: (sharing: Sharing) => unknown;
}

interface Sharing {
  readonly role: MemberRow['role'];
  readonly sharedBy: { readonly id: string; readonly username: string | null };
}

/** News for one account. */
interface Told {
  readonly account: number;
  readonly news: News;
  readonly sharedBudget: number | null;
}

/** News of a transaction, and the members of its budgets, by number. */
interface Pending {
  readonly told: Told[];
  readonly members: Map<number, Awaited<ReturnType<typeof membersOf>>>;
}

const pendingOf = new WeakMap<AccountTransaction, Pending>();

/**
 * Notifies the account that acts or, of news about a budget, its owner and all members, and publishes the same as events. It is done at
 * the end of the transaction, account by account in the order of their numbers, so that no two transactions wait for each other.
 */
export async function notify(
  transaction: AccountTransaction,
  news: News,
  budget?: Pick<BudgetRow, 'number' | 'owner' | 'shared'>,
): Promise<void> {
  const { told } = pendingIn(transaction);
  told.push({ account: budget?.owner ?? transaction.actor, news, sharedBudget: null });
  if (budget?.shared === 1) await notifyMembers(transaction, news, budget);
}

/** Like {@link notify} for the members of a budget alone. */
export async function notifyMembers(
  transaction: AccountTransaction,
  news: News,
  { number, owner }: Pick<BudgetRow, 'number' | 'owner'>,
): Promise<void> {
  const { told, members } = pendingIn(transaction);
  const known = members.get(number) ?? (await membersOf(transaction.session, { owner, budget: number }));
  members.set(number, known);
  for (const { account, role, owner_id: id, owner_username: username } of known) {
    const data = news.dataFor?.({ role, sharedBy: { id, username } }) ?? news.data;
    told.push({ account, news: { ...news, data }, sharedBudget: number });
  }
}

function pendingIn(transaction: AccountTransaction): Pending {
  const known = pendingOf.get(transaction);
  if (known) return known;
  const pending: Pending = { told: [], members: new Map() };
  pendingOf.set(transaction, pending);
  transaction.beforeCommit.push(() => tellAll(transaction, pending));
  return pending;
}

async function tellAll(transaction: AccountTransaction, { told }: Pending): Promise<void> {
  const byAccount = Map.groupBy(told, ({ account }) => account);
  for (const account of [...byAccount.keys()].sort((one, other) => one - other))
    for (const each of byAccount.get(account) ?? []) await tell(transaction, each);
}

/** Adds a notification of an account. */
async function tell(
  { session, nowMs }: AccountTransaction,
  { account: owner, news, sharedBudget: shared_budget }: Told,
): Promise<NotificationRow | undefined> {
  const next = await nextSeq.first(session, { owner });
  if (!next) {
    if (shared_budget === null) throw notFound('account', owner);
    // The account of a member was just deleted.
    return undefined;
  }
  const { seq, userId } = next;
  const { type, title, message } = news;
  const data = stringifyExact(news.data);
  const id = newOrderedId();
  const times = { created_at_ms: nowMs, read_at_ms: null };
  const row = { owner, seq, id, type, title, message, data, ...times, shared_budget };
  const occurredAt = isoTime(nowMs);
  const event = UserEvent.encode({ eventId: id, occurredAt, userId, seq, message, data }).finish();
  // In one round trip.
  await Promise.all([
    insertNotification.run(session, row),
    appendEvents(session, { type: `${type}.v1`, data: event, timeMs: nowMs }),
  ]);
  return row;
}

/** Sends a message to oneself. */
export function sendMessage(context: Context, caller: Caller, given: MessageInput): Promise<Notification> {
  const { message, title = 'Message' } = given;
  const news = { type: 'message', title, message, data: { title, message } } as const;
  return runCommand(context, caller, async (transaction) => {
    const told = { account: transaction.actor, news, sharedBudget: null };
    return toNotification((await tell(transaction, told)) as NotificationRow);
  });
}

export interface NotificationFilter extends PageRequest {
  readonly unread?: boolean | undefined;
  /** Kinds to include; all if undefined. */
  readonly types?: readonly NotificationType[] | undefined;
}

/** Notifications, newest first. */
export async function listNotifications(
  { db }: Context,
  { owner }: Caller,
  { unread = false, types, limit, cursor }: NotificationFilter,
): Promise<Page<Notification>> {
  const [beforeSeq = Number.MAX_SAFE_INTEGER] = decodeCursor(cursor, ['integer']) as [number?];
  const rows = await notificationsPage(db, { owner, unread, types, beforeSeq, limit: limit + 1 });
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    items: shown.map(toNotification),
    total: await countNotifications(db, { owner, unread, types }),
    next: last && encodeCursor([last.seq]),
  };
}

/** One notification. Throws `not_found` if there is none, or it is another user's. */
export async function getNotification({ db }: Context, { owner }: Caller, id: string): Promise<Notification> {
  const row = await ownedRow(db, 'notification', { owner, id });
  if (!row) throw notFound('notification', id);
  return toNotification(row);
}

/** Marks one as read, and returns it. Marking it again changes nothing. */
export function readNotification(context: Context, caller: Caller, id: string): Promise<Notification> {
  return runCommand(context, caller, async ({ session, owner, nowMs }) => {
    await markRead(session, { owner, id, nowMs });
    const row = await ownedRow(session, 'notification', { owner, id });
    if (!row) throw notFound('notification', id);
    return toNotification(row);
  });
}

/** Marks all as read, or all up to a number, and returns how many were unread. */
export function readNotifications(
  context: Context,
  caller: Caller,
  upToSeq = Number.MAX_SAFE_INTEGER,
): Promise<{ read: number }> {
  return runCommand(context, caller, async ({ session, owner, nowMs }) => {
    const { numUpdatedRows } = await markReadUpTo(session, { owner, seq: upToSeq, nowMs });
    return { read: Number(numUpdatedRows) };
  });
}

/** The number of the last notification; 0 if there is none. */
export async function lastNotification({ db }: Context, { owner }: Caller): Promise<number> {
  return (await lastSeq(db, owner))?.seq ?? 0;
}

/** Returns the number of unread notifications of the kinds that pages show, and the number of the last one of any kind. */
export async function unreadNotifications(
  { db }: Context,
  { owner }: Caller,
): Promise<{ count: number; lastSeq: number }> {
  return db.read(async (session) => ({
    count: await countNotifications(session, {
      owner,
      unread: true,
      types: await shownKinds(session, owner),
    }),
    lastSeq: (await lastSeq(session, owner))?.seq ?? 0,
  }));
}

/** Notifications after a number, oldest first, that are not older than a time. For those who deliver them in order. */
export async function followNotifications(
  { db }: Context,
  { owner }: Caller,
  range: { afterSeq: number; sinceMs: number; limit: number },
): Promise<Notification[]> {
  const rows: NotificationRow[] = await notificationsAfter(db, { owner, ...range });
  return rows.map(toNotification);
}

/** The event of a row of the outbox: its id is that of the notification, its subject that of the changed entity. */
export function expandEvents(_type: string, data: Uint8Array): Expanded[] {
  const { data: resource, eventId } = UserEvent.decode(data);
  const { id, budgetId } = JSON.parse(resource) as { id?: string; budgetId?: string };
  return [{ id: eventId, subject: id ?? budgetId ?? eventId, data }];
}
