import { setImmediate } from 'node:timers/promises';
import type { Database } from '#kit/db/index.ts';
import type { Poll } from './poll.ts';
import { findPoll, type Tables } from './store.ts';

/**
 * Reads polls. Requests that ask for the same poll in one turn of the event loop share a read, which is sent at the end of the turn. So it
 * sees all votes that were counted before any of them asked, and a poll that many people watch costs few reads.
 */
export class PollReads {
  readonly #database: Database<Tables>;
  readonly #waiting = new Map<number, Promise<Poll | undefined>>();

  constructor(database: Database<Tables>) {
    this.#database = database;
  }

  /** The poll, published or not; undefined if there is none. */
  find(id: number): Promise<Poll | undefined> {
    const known = this.#waiting.get(id);
    if (known) return known;
    const read = this.#atEndOfTurn(id);
    this.#waiting.set(id, read);
    return read;
  }

  /** The poll, if it is published up to `now` and not hidden. */
  async findOpen(id: number, now: string): Promise<Poll | undefined> {
    const poll = await this.find(id);
    return poll && poll.question.pub_date <= now && poll.question.visibility !== 'hidden' ? poll : undefined;
  }

  async #atEndOfTurn(id: number): Promise<Poll | undefined> {
    await setImmediate();
    this.#waiting.delete(id);
    return findPoll(this.#database, id);
  }
}
