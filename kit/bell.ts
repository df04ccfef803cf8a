/** Wakes one loop that waits for work: by a ring, or after a while at the latest. A ring that nobody waits for is kept. */
export class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  /** There may be work. */
  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Resolves at the next ring, after `maxMs`, or when the signal aborts. */
  async wait(maxMs: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, maxMs);
      this.#wake = resolve;
      signal.addEventListener('abort', resolve as () => void, { once: true });
      await promise;
      signal.removeEventListener('abort', resolve as () => void);
      clearTimeout(timer);
      this.#wake = undefined;
    }
    this.#rung = false;
  }
}
