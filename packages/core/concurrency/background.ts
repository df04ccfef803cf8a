import { setImmediate } from 'node:timers/promises';
import type { Log } from '../base/log.ts';

/** Work that is done after the response to a request, whose time would otherwise tell whether the address is known. */
export class Background implements AsyncDisposable {
  readonly #log: Log;
  readonly #pending = new Set<Promise<void>>();

  constructor(log: Log) {
    this.#log = log;
  }

  run(what: string, work: () => Promise<void>): void {
    const running = this.#run(what, work).finally(() => this.#pending.delete(running));
    this.#pending.add(running);
  }

  /** Waits until all work is done. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pending);
  }

  async #run(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await setImmediate();
      await work();
    } catch (error) {
      this.#log.error({ err: error }, `${what} failed after the response`);
    }
  }
}
