import type { Clock } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { Tables } from '../../tables.ts';
import type { TurnKey } from '../store.ts';
import { addPart } from '../store-parts.ts';
import type { TurnEvent } from '../turn.ts';

/** Time in which events are gathered before they are written. */
const gatherMs = 100;

/** Writes the events of a running turn to the database while another process watches it. */
export class TurnPublisher implements Disposable {
  readonly #database: Database<Tables>;
  readonly #clock: Clock;
  readonly #turn: TurnKey & { readonly run: string };
  readonly #events: TurnEvent[] = [];
  #published = 0;
  #watchedUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;

  constructor(
    { database, clock }: { readonly database: Database<Tables>; readonly clock: Clock },
    turn: TurnKey & { readonly run: string },
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#turn = turn;
  }

  add(event: TurnEvent): void {
    this.#events.push(event);
    this.#schedule();
  }

  /** Publishes until then, beginning with what has happened so far. */
  watchedUntil(untilMs: number): void {
    this.#watchedUntilMs = untilMs;
    this.#schedule();
  }

  [Symbol.dispose](): void {
    this.#hasEnded = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#hasEnded || this.#timer || this.#published === this.#events.length) return;
    if (this.#watchedUntilMs <= this.#clock.now()) return;
    this.#timer = setTimeout(() => void this.#publish(), gatherMs).unref();
  }

  async #publish(): Promise<void> {
    const [first, events] = [this.#published, this.#events.slice(this.#published)];
    try {
      await addPart(this.#database, this.#turn, { run: this.#turn.run, first, events });
      this.#published += events.length;
    } catch {
      // They are tried again with the next ones. Watchers get all events at the end.
    }
    this.#timer = undefined;
    this.#schedule();
  }
}
