import { setTimeout as delay } from 'node:timers/promises';

/** Longer than any wait on a machine that is busy with other tests. */
const patienceMs = 60_000;
const lookEveryMs = 20;

/**
 * Looks until the result is true, an object, or another value that counts as true, and returns it. Throws after a minute, or as many times
 * as long as `patience` says, for work of the lowest priority.
 */
export async function until<T>(
  look: () => T | Promise<T>,
  patience = 1,
): Promise<Exclude<T, false | undefined>> {
  const endMs = performance.now() + patienceMs * patience;
  for (;;) {
    const seen = await look();
    if (seen) return seen as Exclude<T, false | undefined>;
    if (performance.now() > endMs)
      throw new Error(`it did not happen within ${(patienceMs * patience) / 1_000} s: ${look}`);
    await delay(lookEveryMs);
  }
}

/**
 * Runs some work and returns its result. Throws if it takes longer than a minute: for what must end by a deadline of our own, not by one of a
 * library, such as the five minutes of undici.
 */
export async function promptly<T>(work: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const result = await work();
  const tookMs = performance.now() - startMs;
  if (tookMs > patienceMs) throw new Error(`it took ${Math.round(tookMs / 1_000)} s: ${work}`);
  return result;
}

/** Repeats a check until it does not throw, and returns its result. Throws the last error after a minute. */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    await delay(lookEveryMs);
  }
}
