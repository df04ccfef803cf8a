import { createHmac, hkdfSync } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Counter, type Registry } from 'prom-client';
import { SignedCookie } from '#kit/auth/signed-cookie.ts';
import { Batches } from '#kit/batches.ts';
import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { dateTimeOf } from '#kit/drf/date-time.ts';
import { notFoundError } from '#kit/drf/errors.ts';
import { missingRow } from '#kit/drf/fields.ts';
import { AppError } from '#kit/errors.ts';
import { networkOf } from '#kit/network.ts';
import { alreadyVoted, pollClosed, type Question, standingOf } from './poll.ts';
import { pageRoutes, pathOf, routes } from './routes.ts';
import { castVotes, findQuestion, type Tables, type Vote, type VoteOutcome } from './store.ts';

export interface VotesOptions {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  /** Signs the cookies of votes, and keys the hashes of voters. */
  readonly secret: string;
  readonly metrics: Registry;
}

/** What a visitor sends. */
export interface Ballot {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly question: Question;
  readonly choice: number;
  /** Of the visitor. */
  readonly address: string;
  /** The visitor's session on the pages, which programs do not have. */
  readonly sessionId?: string | undefined;
}

/** Takes votes, and remembers in a cookie of the visitor which choice it was. */
export class Votes {
  readonly #options: VotesOptions;
  readonly #cookie: SignedCookie;
  readonly #voterKey: Buffer;
  /** On PostgreSQL, votes on one choice wait for one another, and on SQLite all do. */
  readonly #batches: Batches<Vote, VoteOutcome>;
  readonly #counter: Counter<'outcome'>;

  constructor(options: VotesOptions) {
    this.#options = options;
    this.#cookie = new SignedCookie({
      name: 'polls_vote',
      secret: options.secret,
      maxAgeSeconds: 365 * 86_400,
    });
    this.#voterKey = Buffer.from(hkdfSync('sha256', options.secret, '', 'polls voter', 32));
    this.#batches = new Batches({ itemsMax: 100, run: (votes) => castVotes(options.database, votes) });
    this.#counter = new Counter({
      name: 'polls_votes_total',
      help: 'Votes by what became of them',
      labelNames: ['outcome'],
      registers: [options.metrics],
    });
  }

  /** The choice that the visitor voted for; undefined if there is no cookie of ours that says so. */
  choiceOf(request: FastifyRequest, question: number): number | undefined {
    const [of, choice] = (this.#cookie.read(request) ?? '').split('.');
    return Number(of) === question ? Number(choice) : undefined;
  }

  /**
   * Counts a vote. Throws `forbidden` for a closed poll and for a second vote where that counts, `validation_failed` for a choice
   * that is none of the question.
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

  async #count({ request, reply, question, choice, ...visitor }: Ballot): Promise<void> {
    const nowMs = this.#options.clock.now();
    const now = dateTimeOf(nowMs);
    const hasVoted = this.choiceOf(request, question.id) !== undefined;
    if (standingOf(question, { hasVoted, now }).isClosed) throw pollClosed();
    if (hasVoted && question.duplicates !== 'none') throw alreadyVoted();
    const voter = this.#voterOf(question, visitor);
    const outcome = await this.#batches.add({ question: question.id, choice, voter, now, nowMs });
    if (outcome === 'duplicate') throw alreadyVoted();
    if (outcome === 'refused') throw await this.#refusal(question, choice, now);
    this.#remember(reply, question.id, choice);
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
  async #refusal({ id }: Question, choice: number, now: string): Promise<AppError> {
    const question = await findQuestion(this.#options.database, id, now);
    if (!question) return notFoundError();
    if (standingOf(question, { hasVoted: false, now }).isClosed) return pollClosed();
    const details = { choice: [missingRow(choice)] };
    return new AppError('validation_failed', "You didn't select a choice.", { details, reason: 'NO_CHOICE' });
  }

  /** Under the addresses of one question only, on the pages and in the API, so that the cookies of many polls do not add up. */
  #remember(reply: FastifyReply, question: number, choice: number): void {
    const paths = [pageRoutes.poll, routes.question].map((route) => pathOf(route, question));
    this.#cookie.write(reply, `${question}.${choice}`, paths);
  }
}
