/** Wakes all who wait for something to happen. */
export class WakeUps {
  readonly #waiting = new Set<() => void>();

  wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves to false if nothing happened for that long; also when the signal aborts. */
  async wait(maxMs: number, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const wake = () => resolve(true);
    const timer = setTimeout(() => resolve(false), maxMs).unref();
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
    if (signal.aborted) wake();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(wake);
      signal.removeEventListener('abort', wake);
    }
  }
}
