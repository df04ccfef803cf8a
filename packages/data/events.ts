/** Events in order, from the database or NATS. */
export type { StreamEvent } from './events/event.ts';
export { openNatsEvents, openTableEvents } from './events/index.ts';
export { appendEvents, type Expanded } from './events/outbox.ts';
export type { EventTables } from './events/outbox-statements.ts';
export type { EventStream } from './events/stream.ts';
