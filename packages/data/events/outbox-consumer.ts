import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, Log } from '@octavo/core';
import { newId } from '@octavo/core';
import { backoffMs, Notifier, runEvery } from '@octavo/core/concurrency';
import type { Database, Session } from '../db/index.ts';
import type { EventMetrics, Waiting } from './metrics.ts';
import { readRows } from './outbox-rows.ts';
import {
  addReader,
  countRows,
  type EventTables,
  findPosition,
  leaveReader,
  moveReader,
  type OutboxRow,
  renewReader,
  takeReader,
} from './outbox-statements.ts';

export interface OutboxConsumerOptions {
  readonly database: Database<EventTables>;
  readonly clock: Clock;
  readonly log: Log;
  readonly leaseMs: number;
  readonly metrics: EventMetrics;
  /** The name under which its position is stored. */
  readonly name: string;
  /** Handles rows, in order. If it throws, they come again. */
  readonly handle: (rows: readonly OutboxRow[], signal: AbortSignal) => Promise<void>;
}

const rowsAtOnce = 64;
/** Polling interval for rows of other processes. Rows of this process are seen immediately. */
const pollMs = 250;
const renewals = 3;
const backoff = { firstMs: 100, maxMs: 10_000 };

/**
 * Reads the outbox row by row, in one process at a time. The process that finds rows takes a lease on the name; when the lease ends,
 * another process continues at its position. As long as there is nothing to read, nothing is written.
 */
export class OutboxConsumer implements AsyncDisposable {
  readonly #options: OutboxConsumerOptions;
  readonly #holder = newId();
  readonly #notifier = new Notifier();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #unwatch: () => void;
  #isKnown = false;
  #failures = 0;

  constructor(options: OutboxConsumerOptions) {
    this.#options = options;
    this.#running = this.#run();
    this.#unwatch = options.metrics.watch(options.name, () => this.#waiting());
  }

  notify(): void {
    this.#notifier.notify();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#unwatch();
    this.#stop.abort();
    await this.#running;
    const { database, name } = this.#options;
    await leaveReader(database, { name, holder: this.#holder }).catch(() => {});
  }

  async #waiting(): Promise<Waiting> {
    const { database, name } = this.#options;
    const { count = 0, oldest_ms: oldestMs = null } = (await countRows(database, name)) ?? {};
    return { count, oldestMs };
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const hasRead = await this.#read(signal);
        this.#failures = 0;
        if (!hasRead) await this.#notifier.wait(pollMs, signal);
      } catch (error) {
        await this.#failed(error, signal);
      }
    }
  }

  /** False where there is nothing to read here and now. */
  async #read(signal: AbortSignal): Promise<boolean> {
    const { database, name, clock, leaseMs, handle } = this.#options;
    if (!this.#isKnown) await addReader(database, name);
    this.#isKnown = true;
    if (!(await findPosition(database, name))?.waiting) return false;
    const nowMs = clock.now();
    const lease = { name, holder: this.#holder, untilMs: nowMs + leaseMs };
    let position = (await this.#save((session) => takeReader(session, { ...lease, nowMs })))?.position;
    while (position !== undefined && !signal.aborted) {
      const after = { position, limit: rowsAtOnce };
      const last = await this.#renewing(async () => {
        const rows = await readRows(database, after, signal);
        if (rows.length > 0) await handle(rows, signal);
        return rows.at(-1);
      });
      if (!last) return true;
      const untilMs = clock.now() + leaseMs;
      const moved = { ...lease, position: last.seq, untilMs };
      const { numUpdatedRows } = await this.#save((session) => moveReader(session, moved));
      if (numUpdatedRows === 0n) return false;
      position = last.seq;
    }
    return false;
  }

  /** Saves the position without waiting for the disk. If it is lost with the power, rows come again, which handlers allow for anyway. */
  #save<T>(work: (session: Session<EventTables>) => Promise<T>): Promise<T> {
    return this.#options.database.write(work, { mayBeLost: true });
  }

  async #renewing<T>(work: () => Promise<T>): Promise<T> {
    const { name, clock, leaseMs } = this.#options;
    const renew = async () => {
      const untilMs = clock.now() + leaseMs;
      const renewed = { name, holder: this.#holder, untilMs };
      await this.#save((session) => renewReader(session, renewed)).catch(() => {});
    };
    using _renewing = runEvery(leaseMs / renewals, renew);
    return await work();
  }

  async #failed(error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#failures++;
    const waitMs = backoffMs(this.#failures, backoff);
    const { log, name } = this.#options;
    log[this.#failures === 1 ? 'warn' : 'debug'](
      { err: error, reader: name, waitMs },
      'events could not be handled; they will be retried',
    );
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
}
