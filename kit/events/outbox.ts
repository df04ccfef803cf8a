import type { WriteSession } from '../db/index.ts';
import type { StreamEvent } from './event.ts';
import { type EventTables, insertRow, type OutboxRow } from './outbox-statements.ts';

/** Events of one type as a transaction writes them: one row, however many they are. */
export interface EventBatch {
  readonly type: string;
  /** What {@link Expand} makes the events of. */
  readonly data: Uint8Array;
  readonly timeMs: number;
  /** The span that caused all of them. */
  readonly traceparent?: string | undefined;
}

/** One of the events of a batch. */
export interface Expanded {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Its own span, where the batch has several. */
  readonly traceparent?: string | undefined;
}

/** The events of a batch in their order; always the same ones, since a batch may be read again. */
export type Expand = (type: string, data: Uint8Array) => readonly Expanded[];

/**
 * Notes what a transaction does, in that transaction: it is published if, and only if, that commits, and in the order of
 * commits. Those who append wait for each other until they have committed.
 */
export async function appendEvents<DB extends EventTables>(
  session: WriteSession<DB>,
  { type, data, timeMs, traceparent }: EventBatch,
): Promise<void> {
  // Numbers are given out in the order of commits only where nobody else can take one in between.
  await session.lock('events');
  await insertRow.run(session, { type, data, timeMs, traceparent: traceparent ?? null });
}

/** The events of a row. */
export function eventsOf(row: OutboxRow, source: string, expand: Expand): StreamEvent[] {
  const { seq, type, time_ms: timeMs, traceparent } = row;
  return expand(type, row.data).map((expanded, index) => ({
    // With the time, because a database that is begun anew counts from 1 again.
    id: `${timeMs.toString(36)}-${seq}-${index}`,
    source,
    type,
    timeMs,
    ...expanded,
    traceparent: expanded.traceparent ?? traceparent ?? undefined,
  }));
}
