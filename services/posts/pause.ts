import { setImmediate as nextTurn } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';

const sliceMs = 4;
/** Steps are so short that the clock need not be looked at after each. */
const stepsPerLook = 8;

/**
 * A function to call between the steps of long work: it gives way to others once the steps have taken their slice of time. On a thread of
 * its own the work holds up nobody.
 */
export function slices(): () => Promise<void> | undefined {
  if (!isMainThread) return () => undefined;
  let startedMs = performance.now();
  let steps = 0;
  return () => {
    if (++steps % stepsPerLook !== 0) return undefined;
    if (performance.now() - startedMs < sliceMs) return undefined;
    return nextTurn().then(() => {
      startedMs = performance.now();
    });
  };
}
