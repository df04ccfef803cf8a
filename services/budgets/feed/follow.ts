import { authenticateSession, type SignedIn } from '../authentication/index.ts';
import type { Core } from '../commands.ts';
import { followNotifications, lastNotification, type Notification } from '../notifications/index.ts';
import type { Hub } from './hub.ts';

const pageSize = 200;

/** How long notifications can be had again. */
export const keptMs = 24 * 3_600_000;

/**
 * The caller's notifications after a number, or from now on: each once and in order. It reads them from the database page by page, as
 * fast as they are taken, and waits when there are no more. Ends when the signal aborts or the session has ended, and tells nothing then.
 */
export async function* followFrom(
  { core, hub }: { readonly core: Core; readonly hub: Hub },
  caller: SignedIn,
  { afterSeq, signal }: { readonly afterSeq: number | undefined; readonly signal: AbortSignal },
): AsyncGenerator<Notification> {
  let wake: () => void = () => {};
  let isOver = false;
  let newest = 0;
  const stopListening = hub.listen(caller.userId, ({ seq }) => {
    newest = Math.max(newest, seq);
    wake();
  });
  const end = () => {
    isOver = true;
    wake();
  };
  const stopWatching = hub.sessions.watch(caller, end);
  signal.addEventListener('abort', end);
  try {
    let position = afterSeq ?? (await lastNotification(core, caller));
    while (!signal.aborted && !isOver) {
      const sinceMs = core.clock.now() - keptMs;
      const page = await followNotifications(core, caller, { afterSeq: position, sinceMs, limit: pageSize });
      if (page.length > 0 && !(await authenticateSession(core, caller.sessionId))) return;
      for (const notification of page) {
        if (signal.aborted || isOver) return;
        yield notification;
        position = notification.seq;
      }
      if (page.length > 0 || newest > position) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await promise;
    }
  } finally {
    stopListening();
    stopWatching();
    signal.removeEventListener('abort', end);
  }
}
