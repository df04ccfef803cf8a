import type { Clock } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { Poll } from '../poll.ts';
import type { Tables } from '../store.ts';
import { voteEnds, votesBySpan } from './store-votes.ts';

/** Votes in equal spans of time, the first one from `startMs`. */
export interface VotesOverTime {
  readonly startMs: number;
  readonly spanMs: number;
  readonly votes: readonly number[];
}

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
const spansMs = [1, 5, 15, 60, 6 * 60]
  .map((minutes) => minutes * minuteMs)
  .concat([1, 7, 28, 364].map((days) => days * dayMs));
const columnsMax = 40;
const keptMs = 10_000;
const pollsMax = 500;

/** Counts votes by time. A count is kept for ten seconds, because a poll that many people look at may have millions of votes. */
export class VoteTimes {
  readonly #database: Database<Tables>;
  readonly #clock: Clock;
  readonly #kept = new Map<
    number,
    { readonly untilMs: number; readonly counted: Promise<VotesOverTime | undefined> }
  >();

  constructor({ database, clock }: { readonly database: Database<Tables>; readonly clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /** The votes of a poll; undefined if there are none. */
  of({ question, choices }: Poll): Promise<VotesOverTime | undefined> {
    const now = this.#clock.now();
    const known = this.#kept.get(question.id);
    if (known && known.untilMs > now) return known.counted;
    const touched = choices.reduce((sum, { votes }) => sum + votes, 0);
    const counted = countByTime(this.#database, { choices: choices.map(({ id }) => id), touched });
    this.#kept.delete(question.id);
    this.#kept.set(question.id, { untilMs: now + keptMs, counted });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > pollsMax && oldest !== undefined) this.#kept.delete(oldest);
    counted.catch(() => this.#kept.delete(question.id));
    return counted;
  }
}

async function countByTime(
  database: Database<Tables>,
  { choices, touched }: { choices: readonly number[]; touched: number },
): Promise<VotesOverTime | undefined> {
  const ends = choices.length === 0 ? [] : await voteEnds(database, choices);
  if (ends.length === 0) return undefined;
  const [first, last] = [Math.min(...ends), Math.max(...ends)];
  const spanMs = spanOf(first, last);
  const start = Math.floor(first / spanMs);
  const rows = await votesBySpan(database, { choices, spanMs, touched });
  const bySpan = new Map(rows.map(({ span, votes }) => [span, votes]));
  const length = Math.floor(last / spanMs) - start + 1;
  const votes = Array.from({ length }, (_, index) => bySpan.get(start + index) ?? 0);
  return { startMs: start * spanMs, spanMs, votes };
}

/** The shortest span of which at most 40 reach from one time to another, in milliseconds. */
function spanOf(firstMs: number, lastMs: number): number {
  const longest = spansMs.at(-1) as number;
  const spansIn = (ms: number) => Math.floor(lastMs / ms) - Math.floor(firstMs / ms) + 1;
  return spansMs.find((ms) => spansIn(ms) <= columnsMax) ?? longest;
}
