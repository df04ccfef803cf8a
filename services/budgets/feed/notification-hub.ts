import type { EventStream } from '@octavo/data/events';
import { UserEvent } from '@octavo/protocols/budget/v1/events';
import type { SessionWatch } from '../authentication/index.ts';

/** A notification as it was committed, with the kind of event, such as `expense.created`. */
export interface LiveEvent extends UserEvent {
  readonly event: string;
}

type Listener = (event: LiveEvent) => void;

/** Hands every committed event to those who listen for its user in this process, in order. */
export class NotificationHub implements AsyncDisposable {
  /** Tells those who listen that their session has ended. */
  readonly sessions: SessionWatch;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #following: AsyncDisposable;

  constructor(events: EventStream, sessions: SessionWatch) {
    this.sessions = sessions;
    this.#following = events.follow(async (some) => {
      for (const { type, data } of some) this.#tell(type, data);
    });
  }

  /** Listens until the returned function is called. */
  listen(userId: string, listener: Listener): () => void {
    const listeners = this.#listeners.getOrInsertComputed(userId, () => new Set());
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(userId);
    };
  }

  /** Number of listeners. */
  get size(): number {
    return this.#listeners.values().reduce((all, { size }) => all + size, 0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#following[Symbol.asyncDispose]());
  }

  #tell(type: string, data: Uint8Array): void {
    const event = UserEvent.decode(data);
    const listeners = this.#listeners.get(event.userId);
    if (!listeners) return;
    const told = { ...event, event: type.replace(/\.v\d+$/, '') };
    for (const listener of listeners) listener(told);
  }
}
