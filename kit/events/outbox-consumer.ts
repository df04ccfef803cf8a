import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import type { Database, Session } from '../db/index.ts';
import { newId } from '../ids.ts';
import type { Log } from '../log.ts';
import { Notifier } from '../notifier.ts';
import type { EventMetrics, Waiting } from './metrics.ts';
import {
  addReader,
  countRows,
  type EventTables,
  findPosition,
  leaveReader,
  moveReader,
  type OutboxRow,
  renewReader,
  rowsAfter,
  takeReader,
} from './outbox-statements.ts';

export interface OutboxConsumerOptions<DB extends EventTables> {
  readonly database: Database<DB>;
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
/** How often to look for rows of other processes. Rows of this process are seen immediately. */
const pollMs = 250;
const renewals = 3;
const backoff = { firstMs: 100, maxMs: 10_000 };

/**
 * Reads the outbox row by row, in one process at a time. The process that finds rows takes a lease on the name; when the lease ends,
 * another process continues at its position. As long as there is nothing to read, nothing is written.
 */
export class OutboxConsumer<DB extends EventTables> implements AsyncDisposable {
  readonly #options: OutboxConsumerOptions<DB>;
  readonly #holder = newId();
  readonly #notifier = new Notifier();
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  readonly #unwatch: () => void;
  #isKnown = false;
  #failures = 0;

  constructor(options: OutboxConsumerOptions<DB>) {
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
    await leaveReader.run(database, { name, holder: this.#holder }).catch(() => {});
  }

  async #waiting(): Promise<Waiting> {
    const { database, name } = this.#options;
    const { count = 0, oldest_ms: oldestMs = null } = (await countRows.first(database, { name })) ?? {};
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
    if (!this.#isKnown) await addReader.run(database, { name });
    this.#isKnown = true;
    if (!(await findPosition.first(database, { name }))?.waiting) return false;
    const nowMs = clock.now();
    const lease = { name, holder: this.#holder, untilMs: nowMs + leaseMs };
    let position = (await this.#save((session) => takeReader.first(session, { ...lease, nowMs })))?.position;
    while (position !== undefined && !signal.aborted) {
      const rows = await rowsAfter.all(database, { position, limit: rowsAtOnce });
      const last = rows.at(-1);
      if (!last) return true;
      await this.#renewing(() => handle(rows, signal));
      const untilMs = clock.now() + leaseMs;
      const moved = { ...lease, position: last.seq, untilMs };
      const { changes } = await this.#save((session) => moveReader.run(session, moved));
      if (changes === 0) return false;
      position = last.seq;
    }
    return false;
  }

  /** Saves the position without waiting for the disk. If it is lost with the power, rows come again, which handlers allow for anyway. */
  #save<T>(work: (session: Session<DB>) => Promise<T>): Promise<T> {
    return this.#options.database.write(work, { mayBeLost: true });
  }

  async #renewing(work: () => Promise<void>): Promise<void> {
    const { name, clock, leaseMs } = this.#options;
    const renew = async () => {
      const untilMs = clock.now() + leaseMs;
      const renewed = { name, holder: this.#holder, untilMs };
      await this.#save((session) => renewReader.run(session, renewed)).catch(() => {});
    };
    const timer = setInterval(() => void renew(), leaseMs / renewals);
    try {
      await work();
    } finally {
      clearInterval(timer);
    }
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
