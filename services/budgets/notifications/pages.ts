import { numberText, type RawJson } from '@octavo/core/text';
import { badge, type Content, count, empty, html, linkButton, table, time } from '@octavo/web/html';
import type { PageRoutes } from '@octavo/web/pages';
import { sendEvents } from '@octavo/web/server';
import type { FastifyReply } from 'fastify';
import { followFrom, type NotificationHub, stoppable } from '../feed/index.ts';
import { pageRoutes } from '../routes.ts';
import { verifyToSeeInvitations } from '../sharing/index.ts';
import { type PageParts, type PageSession, parameter, type Visitor } from '../site/page-context.ts';
import { cursorPager, hrefWith, money, monthName } from '../site/views.ts';
import { shownKinds } from './choice.ts';
import { kindOf, type Notification, type NotificationType } from './notification.ts';
import { listNotifications, readNotifications } from './notifications.ts';
import { addChoicePages } from './pages-choice.ts';
import { nameInTitle, thresholdText } from './threshold-text.ts';

const pageSize = 50;
/** Longest time that a stream may be silent, so that proxies keep it open. */
const silentMs = 15_000;

export interface NotificationPagesParts extends PageParts {
  readonly hub: NotificationHub;
  /** Ends streams when the service stops. */
  readonly stopping: AbortSignal;
}

export function addNotificationPages(routes: PageRoutes<PageSession>, parts: NotificationPagesParts): void {
  const { context, visitors: access } = parts;
  routes.get(pageRoutes.notifications, { access }, (visitor) => showList(visitor, parts));
  routes.post(pageRoutes.readNotifications, { access }, async ({ visit, caller }) => {
    const upTo = /^\d{1,15}$/.exec(visit.field('upTo'))?.[0];
    await readNotifications(context, caller, upTo === undefined ? undefined : Number(upTo));
    return visit.redirect(pageRoutes.notifications);
  });
  addChoicePages(routes, parts);
  routes.get(pageRoutes.notificationStream, { access }, (visitor) => stream(visitor, parts));
}

async function showList(visitor: Visitor, { context }: PageParts): Promise<string> {
  const { visit, caller, csrfField } = visitor;
  const cursor = parameter(visit, 'cursor') || undefined;
  const filter = viewIn(parameter(visit, 'show'));
  const unread = filter === 'unread';
  const types = filter === 'all' ? undefined : await shownKinds(context.db, caller.owner);
  const page = await listNotifications(context, caller, { limit: pageSize, cursor, unread, types });
  const newest = page.items[0];
  const readAll =
    newest &&
    html`<form method="post" action="${pageRoutes.readNotifications}">${csrfField}<input type="hidden" name="upTo" value="${newest.seq}"><button class="secondary">Mark all as read</button></form>`;
  const other = filter
    ? linkButton(pageRoutes.notifications, 'Show all that you chose', 'quiet')
    : linkButton(hrefWith(pageRoutes.notifications, { show: 'unread' }), 'Unread only', 'quiet');
  const verify = await verifyToSeeInvitations(context, visitor, pageRoutes.notifications);
  return visitor.render({
    title: 'Notifications',
    lead: count(page.total, unread ? 'unread notification' : 'notification'),
    actions: html`${other}${linkButton(pageRoutes.notificationChoice, 'Choose notifications', 'quiet')}${cursor === undefined && readAll}`,
    modules: ['live.js'],
    main: html`${verify}<div data-live-region="notifications">${
      page.items.length === 0
        ? empty({
            icon: 'bell',
            title: unread ? 'No unread notifications' : 'No notifications yet',
            text: 'You are notified when a budget reaches a threshold, when a task finishes, and about other events that you choose.',
          })
        : html`${notificationTable(page.items)}${cursorPager(pageRoutes.notifications, { show: filter }, { next: page.next, hasCursor: cursor !== undefined })}`
    }</div>${filter !== 'all' && html`<p class="muted">Other changes are recorded too: <a href="${hrefWith(pageRoutes.notifications, { show: 'all' })}">show every event</a>.</p>`}`,
  });
}

function viewIn(show: string): '' | 'unread' | 'all' {
  return show === 'unread' || show === 'all' ? show : '';
}

function notificationTable(rows: readonly Notification[]) {
  return table<Notification>({
    caption: 'Notifications, newest first',
    rows,
    columns: [
      {
        header: 'Notification',
        kind: 'main',
        cell: (row) => {
          const { title, message } = shownText(row);
          return html`${title}<div>${message}</div>`;
        },
      },
      {
        header: 'State',
        kind: 'plain',
        cell: ({ readAt, type }) => html`${markOf(type)} ${readAt === null && badge('info', 'new')}`,
      },
      { header: 'Time', kind: 'plain', cell: ({ createdAt }) => time(createdAt) },
    ],
  });
}

/** Texts of a notification, with amounts as the reader of the page writes them. */
function shownText({ type, title, message, data }: Notification): Pick<Notification, 'title' | 'message'> {
  const name = nameInTitle(title);
  if (type !== 'budget.threshold' || name === undefined) return { title, message };
  const { period, spentMinor, availableMinor, currency } = data as ThresholdData;
  if (spentMinor === undefined || availableMinor === undefined) return { title, message };
  const sums = { spent: minorOf(spentMinor), available: minorOf(availableMinor) };
  const formats = { money: (minor: bigint) => money(minor, currency), period: monthOrPeriod };
  return thresholdText({ name, period, ...sums }, formats);
}

interface ThresholdData {
  readonly period: string;
  readonly currency: string;
  /** Absent in notifications of older versions. */
  readonly spentMinor?: number | RawJson;
  readonly availableMinor?: number | RawJson;
}

function minorOf(value: number | RawJson): bigint {
  return BigInt(numberText(value));
}

function monthOrPeriod(period: string): string {
  return /^\d{4}-\d\d$/.test(period) ? monthName(period) : period;
}

/** Notifications as server-sent events, from the one that the page shows. */
function stream(
  { visit, caller }: Visitor,
  { context, hub, stopping }: NotificationPagesParts,
): Promise<FastifyReply> {
  const after = /^\d{1,15}$/.exec(parameter(visit, 'after'))?.[0];
  const afterSeq = after === undefined ? undefined : Number(after);
  const told = stoppable((signal) =>
    followFrom({ context, hub }, caller, { afterSeq, signal: AbortSignal.any([signal, stopping]) }),
  );
  return sendEvents(
    visit.reply,
    briefly(told, () => shownKinds(context.db, caller.owner)),
  );
}

/**
 * Yields each notification for the pages; `undefined` at first, and after a while without any. Pages show what changed also for one that
 * is quiet, without telling of it.
 */
async function* briefly(
  told: AsyncIterableIterator<Notification>,
  shown: () => Promise<readonly NotificationType[]>,
) {
  let next = told.next();
  try {
    yield undefined;
    for (;;) {
      const { promise: silence, resolve } = Promise.withResolvers<'silent'>();
      const timer = setTimeout(() => resolve('silent'), silentMs);
      const result = await Promise.race([next, silence]);
      clearTimeout(timer);
      if (result === 'silent') {
        yield undefined;
        continue;
      }
      if (result.done) return;
      const { seq, type } = result.value;
      next = told.next();
      yield (await shown()).includes(type) ? { seq, ...shownText(result.value) } : { seq, isQuiet: true };
    }
  } finally {
    await told.return?.();
  }
}

function markOf(type: NotificationType): Content {
  const { mark } = kindOf(type);
  return mark && badge('warn', mark);
}
