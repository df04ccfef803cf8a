import { setTimeout as delay } from 'node:timers/promises';

/** Asks an address all the time, one request after another. */
export class Probe {
  worstMs = 0;
  readonly #waits: number[] = [];
  readonly #running: Promise<void>;
  #isStopped = false;

  constructor(address: string) {
    this.#running = this.#run(address);
  }

  async stop(): Promise<number[]> {
    this.#isStopped = true;
    await this.#running;
    return this.#waits;
  }

  async #run(address: string): Promise<void> {
    while (!this.#isStopped) {
      const askedMs = performance.now();
      // A connection that was idle while the server was busy may be closed just now.
      await ask(address).catch(() => ask(address));
      const waited = performance.now() - askedMs;
      this.#waits.push(waited);
      this.worstMs = Math.max(this.worstMs, waited);
      await delay(5);
    }
  }
}

async function ask(address: string): Promise<void> {
  await (await fetch(address)).arrayBuffer();
}
