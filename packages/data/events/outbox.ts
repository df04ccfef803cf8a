import type { WriteSession } from '../db/index.ts';
import type { StreamEvent } from './event.ts';
import { outboxLock } from './outbox-rows.ts';
import { type EventTables, insertRow, type OutboxRow } from './outbox-statements.ts';

/** Events of one type that a transaction writes as one row. */
export interface EventBatch {
  readonly type: string;
  /** {@link Expand} turns it into events. */
  readonly data: Uint8Array;
  readonly timeMs: number;
  /** The span that caused all of them. */
  readonly traceparent?: string | undefined;
}

/** One of the events of a batch. */
export interface Expanded {
  /** Id, unique among all events of the source; made of the row if absent. */
  readonly id?: string;
  readonly subject: string;
  readonly data: Uint8Array;
  /** Trace context of the event, if the batch has several. */
  readonly traceparent?: string | undefined;
}

/** The events of a batch, in order. The result must always be the same, because a batch may be read again. */
export type Expand = (type: string, data: Uint8Array) => readonly Expanded[];

/**
 * Appends events in the transaction that causes them: they are published if and only if it commits, after all that had committed when
 * they were appended. So a transaction first makes its changes, which wait for others of the same rows, and then appends.
 */
export async function appendEvents(
  session: WriteSession<EventTables>,
  { type, data, timeMs, traceparent }: EventBatch,
): Promise<void> {
  await session.share(outboxLock);
  await insertRow.run(session, { type, data, time_ms: timeMs, traceparent: traceparent ?? null });
}

/** The events of a row. */
export function eventsOf(row: OutboxRow, source: string, expand: Expand): StreamEvent[] {
  const { seq, type, time_ms: timeMs, traceparent } = row;
  return expand(type, row.data).map((expanded, index) => ({
    // With the time, because a new database counts from 1 again.
    id: `${timeMs.toString(36)}-${seq}-${index}`,
    source,
    type,
    timeMs,
    ...expanded,
    traceparent: expanded.traceparent ?? traceparent ?? undefined,
  }));
}
