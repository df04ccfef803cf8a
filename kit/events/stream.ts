import type { StreamEvent } from './event.ts';

export interface ConsumerOptions {
  /** Under which the position is kept: letters, digits, `_` and `-`. Those of the same name share the events. */
  readonly name: string;
  /** Of other types it is told nothing. */
  readonly types: readonly string[];
  /** The most events that it is given at once. */
  readonly batchMax: number;
}

/**
 * Sees to events in their order. Where it throws, all of them come again, after a while, until it does not. They may also come
 * again after it has succeeded: so doing it twice has the effect of once. The signal aborts when the consumer stops.
 */
export type EventHandler = (events: readonly StreamEvent[], signal: AbortSignal) => Promise<void>;

/** The events of a service, of which consumers get every one, in order, at least once, also those from while they were down. */
export interface EventStream extends AsyncDisposable {
  /** This process has committed events: whoever waits here for some looks at once. */
  notify(): void;
  /** Sees to it that what is in the outbox gets to consumers, and that what is old goes. Some process must. */
  publish(): AsyncDisposable;
  /** Starts to consume, from where this name has got to, at first from the oldest event that is kept. */
  consume(options: ConsumerOptions, handler: EventHandler): AsyncDisposable;
  /** Throws where events cannot be published now. */
  ping(signal?: AbortSignal): Promise<void>;
}
