import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { Tables } from '../database.ts';
import { lastPostId } from '../statistics/index.ts';

/** Rate above what the model classifies: it would fall behind anyway, and slow down the writes. */
const perSecondMax = 5_000;
const waitMsMax = 3_000;
const pollMs = 100;
/** A rate is measured over at least `min`, and from a sample that is at most `max` old. */
const sampleMs = { min: 25, max: 1_000 };

interface Sample {
  readonly lastId: number;
  readonly atMs: number;
}

/** Holds back the classification of new posts while many are created, by any process. */
export class Backpressure {
  readonly #database: Database<Tables>;
  readonly #clock: Clock;
  #last: Sample | undefined;

  constructor({ database, clock }: { database: Database<Tables>; clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Resolves when few posts are created, and three seconds after `sinceMs` at the latest. */
  async wait(sinceMs: number, signal: AbortSignal): Promise<void> {
    const endMs = sinceMs + waitMsMax;
    while (this.#clock.now() < endMs && (await this.#perSecond(signal)) > perSecondMax) {
      await delay(pollMs, undefined, { signal });
    }
  }

  async #perSecond(signal: AbortSignal): Promise<number> {
    let before = this.#last;
    if (before === undefined || performance.now() - before.atMs > sampleMs.max) before = await this.#sample();
    const restMs = before.atMs + sampleMs.min - performance.now();
    if (restMs > 0) await delay(restMs, undefined, { signal });
    const now = await this.#sample();
    return ((now.lastId - before.lastId) * 1_000) / (now.atMs - before.atMs);
  }

  async #sample(): Promise<Sample> {
    this.#last = { lastId: await lastPostId(this.#database), atMs: performance.now() };
    return this.#last;
  }
}
