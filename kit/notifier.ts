/** Wakes one loop that waits for work. A notification that arrives while nobody waits is kept for the next wait. */
export class Notifier {
  #isPending = false;
  #wake: (() => void) | undefined;

  /** Wakes the loop: there may be work. */
  notify(): void {
    this.#isPending = true;
    this.#wake?.();
  }

  /** Resolves at the next notification, after `maxMs`, or when the signal aborts. */
  async wait(maxMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#isPending && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, maxMs);
      this.#wake = resolve;
      signal.addEventListener('abort', resolve as () => void, { once: true });
      await promise;
      signal.removeEventListener('abort', resolve as () => void);
      clearTimeout(timer);
      this.#wake = undefined;
    }
    this.#isPending = false;
  }
}
