import type { Clock } from '../clock.ts';
import type { Database } from '../db/index.ts';
import type { Log } from '../log.ts';
import { dropRows, type EventTables, findPosition, firstRow } from './outbox-statements.ts';

export interface SweepOptions<DB extends EventTables> {
  readonly database: Database<DB>;
  readonly clock: Clock;
  readonly log: Log;
  /** How long to keep rows. */
  readonly keptMs: number;
  /** How often to delete older ones; every minute by default. */
  readonly sweepMs?: number | undefined;
  /** Rows that this reader has not handled are kept, however old they are. */
  readonly reader?: string;
}

const defaultSweepMs = 60_000;
const rowsAtOnce = 1_000;

/** Deletes old rows of the outbox regularly, until it is disposed of. */
export function startSweep<DB extends EventTables>(options: SweepOptions<DB>): AsyncDisposable {
  const { sweepMs = defaultSweepMs, log } = options;
  const sweep = () =>
    sweepOutbox(options).catch((err) => log.warn({ err }, 'old events could not be deleted'));
  const timer = setInterval(() => void sweep(), sweepMs).unref();
  return { [Symbol.asyncDispose]: async () => clearInterval(timer) };
}

async function sweepOutbox<DB extends EventTables>(options: SweepOptions<DB>): Promise<void> {
  const { database, clock, keptMs, reader } = options;
  const beforeMs = clock.now() - keptMs;
  for (;;) {
    const first = await firstRow.first(database, {});
    if (!first || first.time_ms >= beforeMs) return;
    const handled = reader === undefined ? undefined : await findPosition.first(database, { name: reader });
    const last = reader === undefined ? Number.POSITIVE_INFINITY : (handled?.position ?? 0);
    if (first.seq > last) return;
    // Each write is short, because other writers wait for it.
    await dropRows.run(database, { position: Math.min(last, first.seq + rowsAtOnce - 1), beforeMs });
  }
}
