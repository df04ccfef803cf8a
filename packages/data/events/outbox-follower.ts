import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@octavo/core';
import { backoffMs, Notifier } from '@octavo/core/concurrency';
import type { Database } from '../db/index.ts';
import { type Expand, eventsOf } from './outbox.ts';
import { beginReading, readRows } from './outbox-rows.ts';
import type { EventTables, OutboxRow } from './outbox-statements.ts';
import type { EventHandler } from './stream.ts';

export interface OutboxFollowerOptions {
  readonly database: Database<EventTables>;
  readonly log: Log;
  readonly handle: (rows: readonly OutboxRow[], signal: AbortSignal) => Promise<void>;
}

const rowsAtOnce = 256;
/** Polling interval for rows of other processes. Rows of this process are seen immediately. */
const pollMs = 100;
const backoff = { firstMs: 100, maxMs: 5_000 };

/** Hands the events of new rows to a handler, in this process. */
export function followOutbox(
  options: Omit<OutboxFollowerOptions, 'handle'> & { readonly source: string; readonly expand: Expand },
  handler: EventHandler,
): OutboxFollower {
  const { source, expand } = options;
  return new OutboxFollower({
    ...options,
    handle: (rows, signal) =>
      handler(
        rows.flatMap((row) => eventsOf(row, source, expand)),
        signal,
      ),
  });
}

/** Reads the rows that are added to the outbox from now on. Its position is in memory: each process has all rows, and none from before. */
export class OutboxFollower implements AsyncDisposable {
  readonly #options: OutboxFollowerOptions;
  readonly #notifier = new Notifier();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #position: number | undefined;
  /** Rows before the position that were committed when this began. */
  #late: readonly OutboxRow[] = [];

  constructor(options: OutboxFollowerOptions) {
    this.#options = options;
    this.#running = this.#run();
  }

  notify(): void {
    this.#notifier.notify();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; ) {
      try {
        const hasRead = await this.#read(signal);
        failures = 0;
        if (!hasRead) await this.#notifier.wait(pollMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        failures++;
        if (failures === 1)
          this.#options.log.warn({ err: error }, 'events could not be followed; they will be retried');
        await delay(backoffMs(failures, backoff), undefined, { signal }).catch(() => {});
      }
    }
  }

  /** False if there was nothing to read. */
  async #read(signal: AbortSignal): Promise<boolean> {
    const { database, handle } = this.#options;
    if (this.#position === undefined)
      ({ position: this.#position, late: this.#late } = await beginReading(database, signal));
    if (this.#late.length > 0) await handle(this.#late, signal);
    this.#late = [];
    const rows = await readRows(database, { position: this.#position, limit: rowsAtOnce }, signal);
    const last = rows.at(-1);
    if (!last) return false;
    await handle(rows, signal);
    this.#position = last.seq;
    return true;
  }
}
