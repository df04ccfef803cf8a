import type { Clock, Log } from '@octavo/core';
import type { Database } from '../db/index.ts';
import type { EventMetrics } from './metrics.ts';
import { type Expand, eventsOf } from './outbox.ts';
import { OutboxConsumer } from './outbox-consumer.ts';
import { followOutbox, type OutboxFollower } from './outbox-follower.ts';
import type { EventTables } from './outbox-statements.ts';
import { startSweep } from './outbox-sweep.ts';
import type { ConsumerOptions, EventHandler, EventStream } from './stream.ts';

export interface TableEventsOptions {
  readonly database: Database<EventTables>;
  readonly clock: Clock;
  readonly log: Log;
  readonly leaseMs: number;
  /** Retention of events. */
  readonly keptMs: number;
  /** Interval at which older events are deleted; every minute by default. */
  readonly sweepMs?: number;
  readonly source: string;
  readonly expand: Expand;
  readonly metrics: EventMetrics;
}

/** A stream whose consumers read the outbox directly. */
export class TableEvents implements EventStream {
  readonly #options: TableEventsOptions;
  readonly #consumers = new Set<OutboxConsumer | OutboxFollower>();

  constructor(options: TableEventsOptions) {
    this.#options = options;
  }

  notify(): void {
    for (const consumer of this.#consumers) consumer.notify();
  }

  publish(): AsyncDisposable {
    return startSweep(this.#options);
  }

  consume({ name, types, batchMax }: ConsumerOptions, handler: EventHandler): AsyncDisposable {
    const { source, expand, metrics, clock } = this.#options;
    metrics.declare(name);
    const consumer = new OutboxConsumer({
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
    return this.#add(consumer);
  }

  follow(handler: EventHandler): AsyncDisposable {
    return this.#add(followOutbox(this.#options, handler));
  }

  ping(): Promise<void> {
    return this.#options.database.ping();
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #add(consumer: OutboxConsumer | OutboxFollower): AsyncDisposable {
    this.#consumers.add(consumer);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#consumers.delete(consumer);
        await consumer[Symbol.asyncDispose]();
      },
    };
  }
}
