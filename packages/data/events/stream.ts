import type { StreamEvent } from './event.ts';

export interface ConsumerOptions {
  /** The name under which the position is stored: letters, digits, `_` and `-`. Consumers with the same name share the events. */
  readonly name: string;
  /** Events of other types are skipped. */
  readonly types: readonly string[];
  /** The most events to handle at once. */
  readonly batchMax: number;
}

/**
 * Handles events in order. If it throws, all of them come again after a delay, until it succeeds. They may also come again after it
 * has succeeded, so it must be idempotent. The signal aborts when the consumer stops.
 */
export type EventHandler = (events: readonly StreamEvent[], signal: AbortSignal) => Promise<void>;

/** The events of a service. Consumers get every event, in order, at least once, including those from while they were down. */
export interface EventStream extends AsyncDisposable {
  /** Tells consumers in this process that events were committed. */
  notify(): void;
  /** Publishes the outbox to consumers and deletes old events. At least one process must do it. */
  publish(): AsyncDisposable;
  /** Starts a consumer at the position of its name; a new name starts at the oldest stored event. */
  consume(options: ConsumerOptions, handler: EventHandler): AsyncDisposable;
  /**
   * Hands all events from now on to this process, in order, as soon as they are committed. Nothing is stored: every process that
   * follows has all of them, and what happens while it is down is lost to it. If the handler throws, the events come again.
   */
  follow(handler: EventHandler): AsyncDisposable;
  /** Throws if events cannot be published now. */
  ping(signal?: AbortSignal): Promise<void>;
}
