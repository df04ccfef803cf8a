import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

const tickMs = 100;
const stallMs = 250;
const settleMs = 50;

/**
 * Notices when the process goes on after it stood still for a quarter of a second: stopped, suspended with its machine, or busy.
 * Gives a hook that makes calls of that moment wait for 50 ms. Their callers may have given up in the meantime, which the server
 * learns only after it has read their requests; their handlers are then not run.
 */
export function waitAfterStalls(scope: Pick<FastifyInstance, 'addHook'>): () => Promise<void> {
  let lastMs = Date.now();
  let settledMs = 0;
  const look = (): void => {
    const nowMs = Date.now();
    if (nowMs - lastMs > tickMs + stallMs) settledMs = nowMs + settleMs;
    lastMs = nowMs;
  };
  const timer = setInterval(look, tickMs).unref();
  scope.addHook('onClose', async () => clearInterval(timer));
  return async () => {
    look();
    const leftMs = settledMs - Date.now();
    if (leftMs > 0) await delay(leftMs);
  };
}
