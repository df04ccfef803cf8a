import { createHmac, hkdfSync } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { AppError, networkOf, notFound } from '@octavo/core';
import { Batches } from '@octavo/core/concurrency';
import { dateTimeOf } from '@octavo/core/text';
import type { Database } from '@octavo/data';
import { count } from '@octavo/web/html';
import { Counter, type Registry } from 'prom-client';
import { alreadyVoted, pollClosed, type Question, stateFor } from '../poll.ts';
import { choicesOf, findQuestion, type Tables, type Vote } from '../store.ts';
import { castVotes, type VoteOutcome } from './store.ts';

export interface VotesOptions {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  /** Keys the hashes of voters. */
  readonly secret: string;
  readonly metrics: Registry;
}

/** A vote that a visitor sends. */
export interface Ballot {
  readonly question: Question;
  /** No duplicates. */
  readonly choices: readonly number[];
  /** True if the visitor has voted on this question before. */
  readonly hasVoted: boolean;
  /** Address of the visitor. */
  readonly address: string;
  /** Session of the visitor on the pages; programs have none. */
  readonly sessionId?: string | undefined;
}

/** Counts votes: each once, and only on a poll that is open to the voter. */
export class Votes {
  readonly #options: VotesOptions;
  readonly #voterKey: Buffer;
  /** Batches of votes: on PostgreSQL, votes on one choice wait for one another, and on SQLite all do. */
  readonly #batches: Batches<Vote, VoteOutcome>;
  readonly #counter: Counter<'outcome'>;

  constructor(options: VotesOptions) {
    this.#options = options;
    this.#voterKey = Buffer.from(hkdfSync('sha256', options.secret, '', 'polls voter', 32));
    this.#batches = new Batches({ itemsMax: 100, run: (votes) => castVotes(options.database, [...votes]) });
    this.#counter = new Counter({
      name: 'polls_votes_total',
      help: 'Votes by outcome',
      labelNames: ['outcome'],
      registers: [options.metrics],
    });
  }

  /**
   * Counts a vote. Throws `forbidden` for a closed poll and for a repeated vote that is not allowed, and {@link ChoicesRefused} for no
   * choice, one of another question, or more than the question takes.
   */
  async cast(ballot: Ballot): Promise<void> {
    try {
      await this.#count(ballot);
      this.#counter.inc({ outcome: 'counted' });
    } catch (error) {
      this.#counter.inc({ outcome: (error instanceof AppError && error.reason?.toLowerCase()) || 'failed' });
      throw error;
    }
  }

  async #count({ question, choices, hasVoted, ...visitor }: Ballot): Promise<void> {
    const nowMs = this.#options.clock.now();
    const now = dateTimeOf(nowMs);
    if (stateFor(question, { hasVoted, now }).isClosed) throw pollClosed();
    if (hasVoted && question.duplicates !== 'none') throw alreadyVoted();
    if (choices.length === 0) throw noChoice();
    if (choices.length > question.max_choices) throw tooManyChoices(question);
    const voter = this.#voterOf(question, visitor);
    const outcome = await this.#batches.add({ question: question.id, choices, voter, now, nowMs });
    if (outcome === 'duplicate') throw alreadyVoted();
    if (outcome === 'refused') throw await this.#refusal(question.id, { choices, now });
  }

  #voterOf(
    { duplicates }: Question,
    { address, sessionId }: Pick<Ballot, 'address' | 'sessionId'>,
  ): string | undefined {
    if (duplicates === 'address') return this.#hash(`address ${networkOf(address)}`);
    const isKnown = duplicates === 'session' && sessionId !== undefined;
    return isKnown ? this.#hash(`session ${sessionId}`) : undefined;
  }

  #hash(voter: string): string {
    return createHmac('sha256', this.#voterKey).update(voter).digest('base64url');
  }

  /** The question may have changed since it was read. */
  async #refusal(id: number, { choices, now }: Pick<Ballot, 'choices'> & { now: string }): Promise<AppError> {
    const { database } = this.#options;
    const question = await findQuestion(database, id, now);
    if (!question) return notFound('question', id);
    if (stateFor(question, { hasVoted: false, now }).isClosed) return pollClosed();
    if (choices.length > question.max_choices) return tooManyChoices(question);
    const known = new Set((await choicesOf(database, id)).map((choice) => choice.id));
    return noChoice(choices.find((choice) => !known.has(choice)) ?? choices[0]);
  }
}

/** Refusal of the choices of a ballot, in words for a page; each edge words it for its own clients. */
export class ChoicesRefused extends AppError {
  /** The choice that the question does not have. */
  readonly unknown: number | undefined;
  /** Number of choices that a ballot may have, if it has more. */
  readonly most: number | undefined;

  constructor(message: string, reason: string, { unknown, most }: { unknown?: number; most?: number }) {
    super('validation_failed', message, { reason });
    this.unknown = unknown;
    this.most = most;
  }
}

function noChoice(unknown?: number): AppError {
  return new ChoicesRefused(
    "You didn't select a choice.",
    'NO_CHOICE',
    unknown === undefined ? {} : { unknown },
  );
}

function tooManyChoices({ max_choices: most }: Question): AppError {
  return new ChoicesRefused(`Choose at most ${count(most, 'answer')}.`, 'TOO_MANY_CHOICES', { most });
}
