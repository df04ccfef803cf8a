import type { Clock } from '../clock.ts';
import type { Database } from '../db/index.ts';
import type { Log } from '../log.ts';
import type { EventMetrics } from './metrics.ts';
import { type Expand, eventsOf } from './outbox.ts';
import { OutboxReader } from './outbox-reader.ts';
import { dropRows, type EventTables, firstRow } from './outbox-statements.ts';
import type { ConsumerOptions, EventHandler, EventStream } from './stream.ts';

export interface TableEventsOptions<DB extends EventTables> {
  readonly database: Database<DB>;
  readonly clock: Clock;
  readonly log: Log;
  readonly leaseMs: number;
  /** How long events are kept. */
  readonly keptMs: number;
  /** How often those that are older are dropped; once a minute by default. */
  readonly sweepMs?: number;
  readonly source: string;
  readonly expand: Expand;
  readonly metrics: EventMetrics;
}

const usualSweepMs = 60_000;
const rowsAtOnce = 1_000;

/** Consumers read the outbox itself. */
export class TableEvents<DB extends EventTables> implements EventStream {
  readonly #options: TableEventsOptions<DB>;
  readonly #readers = new Set<OutboxReader<DB>>();

  constructor(options: TableEventsOptions<DB>) {
    this.#options = options;
  }

  notify(): void {
    for (const reader of this.#readers) reader.notify();
  }

  publish(): AsyncDisposable {
    const { sweepMs = usualSweepMs } = this.#options;
    const timer = setInterval(() => void this.#sweep(), sweepMs).unref();
    return { [Symbol.asyncDispose]: async () => clearInterval(timer) };
  }

  consume({ name, types, batchMax }: ConsumerOptions, handler: EventHandler): AsyncDisposable {
    const { source, expand, metrics, clock } = this.#options;
    const reader = new OutboxReader({
      ...this.#options,
      name,
      handle: async (rows, signal) => {
        const wanted = rows.filter(({ type }) => types.includes(type));
        const events = wanted.flatMap((row) => eventsOf(row, source, expand));
        for (let start = 0; start < events.length; start += batchMax) {
          signal.throwIfAborted();
          const batch = events.slice(start, start + batchMax);
          await handler(batch, signal);
          metrics.consumed(name, batch, clock.now());
        }
      },
    });
    this.#readers.add(reader);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#readers.delete(reader);
        await reader[Symbol.asyncDispose]();
      },
    };
  }

  ping(): Promise<void> {
    return this.#options.database.ping();
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #sweep(): Promise<void> {
    const { database, clock, keptMs, log } = this.#options;
    const beforeMs = clock.now() - keptMs;
    try {
      for (;;) {
        const first = await firstRow.first(database, {});
        if (!first || first.time_ms >= beforeMs) return;
        // Each write is short, because others wait for it.
        await dropRows.run(database, { position: first.seq + rowsAtOnce - 1, beforeMs });
      }
    } catch (error) {
      log.warn({ err: error }, 'old events stay');
    }
  }
}
