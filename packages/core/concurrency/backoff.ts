/** Delays before further attempts. */
export interface Backoff {
  /** The wait before the second attempt. */
  readonly firstMs: number;
  /** The wait doubles with each attempt up to this. */
  readonly maxMs: number;
}

export const usualBackoff: Backoff = { firstMs: 1_000, maxMs: 60_000 };

/**
 * The wait after this many failed attempts. It doubles each time and is reduced by up to half at random, so that tasks that
 * failed together do not retry together.
 */
export function backoffMs(attempts: number, { firstMs, maxMs }: Backoff, random = Math.random): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(attempts - 1, 30));
  return Math.round(fullMs * (0.5 + random() / 2));
}
