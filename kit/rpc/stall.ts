import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const tickMs = 100;
const stallMs = 250;

/** How long calls wait that their callers are hardly, and probably, no longer waiting for. */
const settleMs = { usual: 50, overdue: 300 };

/**
 * Notices when the process goes on after it stood still for a quarter of a second: stopped, suspended with its machine, or busy.
 * Gives a hook that makes calls of that moment wait. Their callers may have given up in the meantime, which the server learns only
 * after it has read their requests; their handlers are then not run. A call whose time is shorter than the process stood still
 * was probably given up, and waits longer.
 */
export function waitAfterStalls(
  scope: Pick<FastifyInstance, 'addHook'>,
): (request: Pick<FastifyRequest, 'headers'>) => Promise<void> {
  let lastMs = Date.now();
  let stalledMs = 0;
  let resumedMs = 0;
  const look = (): void => {
    const nowMs = Date.now();
    const lateMs = nowMs - lastMs - tickMs;
    if (lateMs > stallMs) {
      stalledMs = lateMs + tickMs;
      resumedMs = nowMs;
    }
    lastMs = nowMs;
  };
  const timer = setInterval(look, tickMs).unref();
  scope.addHook('onClose', async () => clearInterval(timer));
  return async ({ headers }) => {
    look();
    const isOverdue = Number(headers['connect-timeout-ms']) <= stalledMs;
    const leftMs = resumedMs + (isOverdue ? settleMs.overdue : settleMs.usual) - Date.now();
    if (leftMs > 0) await delay(leftMs);
  };
}
