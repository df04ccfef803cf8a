import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@octavo/core';
import { dateTimeOf } from '@octavo/core/text';
import type { Database } from '@octavo/data';
import type { OffsetRequest, Page } from '@octavo/web/rest';
import type { Poll, Question } from './poll.ts';
import { findPoll, listQuestions, type Tables } from './store.ts';

/**
 * Reads polls. Requests that ask for the same in one turn of the event loop share a read, which is sent at the end of the turn. So it sees
 * all votes that were counted before any of them asked, and a poll that many people watch costs few reads.
 */
export class PollReads {
  readonly #database: Database<Tables>;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Promise<unknown>>();

  constructor({ database, clock }: { readonly database: Database<Tables>; readonly clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /** The poll, published or not; undefined if there is none. */
  find(id: number): Promise<Poll | undefined> {
    return this.#share(`poll ${id}`, () => findPoll(this.#database, id));
  }

  /** The poll, if it is published up to `now` and not hidden. */
  async findOpen(id: number, now: string): Promise<Poll | undefined> {
    const poll = await this.find(id);
    return poll && poll.question.pub_date <= now && poll.question.visibility !== 'hidden' ? poll : undefined;
  }

  /** Listed questions that are published now. */
  listOpen(paging: OffsetRequest): Promise<Page<Question>> {
    const { limit, offset } = paging;
    return this.#share(`list ${limit} ${offset}`, () =>
      listQuestions(this.#database, dateTimeOf(this.#clock.now()), paging),
    );
  }

  #share<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.#waiting.get(key) as Promise<T> | undefined;
    if (known) return known;
    const shared = setImmediate().then(() => {
      this.#waiting.delete(key);
      return read();
    });
    this.#waiting.set(key, shared);
    return shared;
  }
}
