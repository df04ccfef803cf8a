import { setImmediate as nextTurn } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';

const sliceMs = 4;
/** Steps are so short that reading the clock after each would cost more. */
const stepsPerCheck = 8;

/**
 * A function to call between the steps of long work. It lets other work run once the steps have taken their slice of time. In a worker
 * thread no other work waits, so it does nothing.
 */
export function slices(): () => Promise<void> | undefined {
  if (!isMainThread) return () => undefined;
  let startedMs = performance.now();
  let steps = 0;
  return () => {
    if (++steps % stepsPerCheck !== 0) return undefined;
    if (performance.now() - startedMs < sliceMs) return undefined;
    return nextTurn().then(() => {
      startedMs = performance.now();
    });
  };
}
