import type { Clock, Log } from '@octavo/core';
import type { Registry } from 'prom-client';
import type { Database } from '../db/index.ts';
import type { NatsLink } from '../nats/link.ts';
import { eventMetrics } from './metrics.ts';
import type { NatsEventsOptions } from './nats.ts';
import type { Expand } from './outbox.ts';
import type { EventTables } from './outbox-statements.ts';
import type { EventStream } from './stream.ts';
import { TableEvents } from './table.ts';

export { payloadType, type StreamEvent } from './event.ts';
export { appendEvents, type EventBatch, type Expand, type Expanded } from './outbox.ts';
export type { EventTables } from './outbox-statements.ts';
export type { ConsumerOptions, EventHandler, EventStream } from './stream.ts';

export interface EventStreamOptions {
  /** The database with the outbox. */
  readonly database: Database<EventTables>;
  readonly clock: Clock;
  /** Longest time that a process that no longer responds can block others. */
  readonly leaseMs: number;
  /** Retention of events for consumers that are down. */
  readonly keptMs: number;
  /** The `source` of all events, such as `/octavo/posts`. */
  readonly source: string;
  readonly expand: Expand;
  readonly log: Log;
  readonly metrics?: Registry;
}

/** Opens a stream in the tables `event_outbox` and `event_reader` of the service's own database. Its migrations create them (README.md). */
export function openTableEvents({
  metrics,
  ...options
}: EventStreamOptions & { sweepMs?: number }): EventStream {
  return new TableEvents({ ...options, metrics: eventMetrics(metrics) });
}

/** Options of a stream in NATS. */
type NatsStreamOptions = Pick<NatsEventsOptions, 'name' | 'keepsDots' | 'plainIds'>;

/** Opens a stream in NATS JetStream, created if missing. The tables hold events that are not published yet. */
export async function openNatsEvents(
  link: NatsLink,
  { metrics, ...options }: EventStreamOptions & NatsStreamOptions,
): Promise<EventStream> {
  const { NatsEvents } = await import('./nats.ts');
  return new NatsEvents({ ...options, link, metrics: eventMetrics(metrics) });
}
