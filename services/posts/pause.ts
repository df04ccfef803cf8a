import { setImmediate as nextTurn } from 'node:timers/promises';

const sliceMs = 4;

/** A function to call between the steps of long work: it gives way to others once the steps have taken their slice of time. */
export function slices(): () => Promise<void> | undefined {
  let startedMs = performance.now();
  return () => {
    if (performance.now() - startedMs < sliceMs) return undefined;
    return nextTurn().then(() => {
      startedMs = performance.now();
    });
  };
}
