/** Wakes loops that wait for something to happen. A notification without a waiter is kept for the next wait. */
export class Notifier {
  readonly #waiting = new Set<() => void>();
  #isPending = false;

  /** Wakes all that wait. */
  notify(): void {
    this.#isPending = this.#waiting.size === 0;
    for (const wake of this.#waiting) wake();
  }

  /** Resolves to true at the next notification and when the signal aborts, and to false after `maxMs`. */
  async wait(maxMs = Number.POSITIVE_INFINITY, signal?: AbortSignal): Promise<boolean> {
    if (this.#isPending || signal?.aborted) {
      this.#isPending = false;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const wake = () => resolve(true);
    const timer = maxMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(() => resolve(false), maxMs);
    this.#waiting.add(wake);
    signal?.addEventListener('abort', wake, { once: true });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(wake);
      signal?.removeEventListener('abort', wake);
    }
  }
}
