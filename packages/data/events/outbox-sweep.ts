import type { Clock, Log } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { Database } from '../db/index.ts';
import { dropRows, type EventTables, findPosition, firstRow } from './outbox-statements.ts';

export interface SweepOptions {
  readonly database: Database<EventTables>;
  readonly clock: Clock;
  readonly log: Log;
  /** Retention of rows. */
  readonly keptMs: number;
  /** Interval at which older rows are deleted; every minute by default. */
  readonly sweepMs?: number | undefined;
  /** Rows that this reader has not handled are kept, however old they are. */
  readonly reader?: string;
}

const defaultSweepMs = 60_000;
const rowsAtOnce = 1_000;

/** Deletes old rows of the outbox regularly, until it is disposed of. */
export function startSweep(options: SweepOptions): AsyncDisposable {
  const { sweepMs = defaultSweepMs, log } = options;
  return runEvery(sweepMs, () => sweepOutbox(options), { log, failure: 'old events could not be deleted' });
}

async function sweepOutbox(options: SweepOptions): Promise<void> {
  const { database, clock, keptMs, reader } = options;
  const beforeMs = clock.now() - keptMs;
  for (;;) {
    const first = await firstRow(database);
    if (!first || first.time_ms >= beforeMs) return;
    const handled = reader === undefined ? undefined : await findPosition(database, reader);
    const last = reader === undefined ? Number.POSITIVE_INFINITY : (handled?.position ?? 0);
    if (first.seq > last) return;
    // Each write is short, because other writers wait for it.
    await dropRows(database, Math.min(last, first.seq + rowsAtOnce - 1), beforeMs);
  }
}
