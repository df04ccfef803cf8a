import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { lastId } from './store-search/index-store.ts';
import type { Tables } from './tables.ts';

/** More than a model classifies meanwhile: it would fall behind anyway, and slow down what comes in. */
const perSecondMax = 5_000;
const waitMsMax = 3_000;
const lookEveryMs = 100;
/** Over a shorter time posts are not counted, nor since a look that is so long ago. */
const spanMs = { min: 25, max: 1_000 };

interface Look {
  readonly lastId: number;
  readonly atMs: number;
}

/** How fast posts come in, into whichever process, as their ids tell. */
export class Intake {
  readonly #database: Database<Tables>;
  readonly #clock: Clock;
  #last: Look | undefined;

  constructor({ database, clock }: { database: Database<Tables>; clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /**
   * Resolves once what came in at `sinceMs` may be seen to without slowing down what comes in now: at once as a rule, and
   * after three seconds however many come in.
   */
  async ebb(sinceMs: number, signal: AbortSignal): Promise<void> {
    const endMs = sinceMs + waitMsMax;
    while (this.#clock.now() < endMs && (await this.#perSecond(signal)) > perSecondMax) {
      await delay(lookEveryMs, undefined, { signal });
    }
  }

  async #perSecond(signal: AbortSignal): Promise<number> {
    let before = this.#last;
    if (before === undefined || performance.now() - before.atMs > spanMs.max) before = await this.#look();
    const restMs = before.atMs + spanMs.min - performance.now();
    if (restMs > 0) await delay(restMs, undefined, { signal });
    const now = await this.#look();
    return ((now.lastId - before.lastId) * 1_000) / (now.atMs - before.atMs);
  }

  async #look(): Promise<Look> {
    this.#last = { lastId: await lastId(this.#database), atMs: performance.now() };
    return this.#last;
  }
}
