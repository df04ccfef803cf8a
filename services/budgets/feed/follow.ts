import { Notifier } from '@octavo/core/concurrency';
import { authenticateSession, type SignedIn } from '../authentication/index.ts';
import type { Context } from '../commands.ts';
import { followNotifications, lastNotification, type Notification } from '../notifications/index.ts';
import type { NotificationHub } from './notification-hub.ts';

const pageSize = 200;

/** Retention of notifications. */
export const keptMs = 24 * 3_600_000;

/**
 * The caller's notifications after a number, or from now on: each once and in order. It reads them from the database page by page, as
 * fast as they are taken, and waits when there are no more. Ends when the signal aborts or the session has ended, and tells nothing then.
 */
export async function* followFrom(
  { context, hub }: { readonly context: Context; readonly hub: NotificationHub },
  caller: SignedIn,
  { afterSeq, signal }: { readonly afterSeq: number | undefined; readonly signal: AbortSignal },
): AsyncGenerator<Notification> {
  const news = new Notifier();
  let isOver = false;
  let newest = 0;
  const stopListening = hub.listen(caller.userId, ({ seq }) => {
    newest = Math.max(newest, seq);
    news.notify();
  });
  const end = () => {
    isOver = true;
    news.notify();
  };
  const stopWatching = hub.sessions.watch(caller, end);
  signal.addEventListener('abort', end);
  try {
    let position = afterSeq ?? (await lastNotification(context, caller));
    while (!signal.aborted && !isOver) {
      const sinceMs = context.clock.now() - keptMs;
      const page = await followNotifications(context, caller, {
        afterSeq: position,
        sinceMs,
        limit: pageSize,
      });
      if (page.length > 0 && !(await authenticateSession(context, caller.sessionId))) return;
      for (const notification of page) {
        if (signal.aborted || isOver) return;
        yield notification;
        position = notification.seq;
      }
      if (page.length > 0 || newest > position) continue;
      await news.wait();
    }
  } finally {
    stopListening();
    stopWatching();
    signal.removeEventListener('abort', end);
  }
}

/**
 * An iterator that can be ended while it waits for its next value, which a generator alone cannot: `return` aborts the signal that the
 * generator was started with.
 */
export function stoppable<T>(start: (signal: AbortSignal) => AsyncGenerator<T>): AsyncIterableIterator<T> {
  const stopping = new AbortController();
  const values = start(stopping.signal);
  return {
    next: () => values.next(),
    return() {
      stopping.abort();
      return values.return(undefined);
    },
    throw(error: unknown) {
      stopping.abort();
      return values.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
