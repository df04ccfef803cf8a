import type { AccountSession } from '@octavo/admin';
import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import { dateTimeOf } from '@octavo/core/text';
import type { Database } from '@octavo/data';
import type { Visit } from '@octavo/web/pages';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Poll, type PollState, stateFor } from './poll.ts';
import type { PollReads } from './poll-reads.ts';
import type { Tables } from './store.ts';
import type { VoteCookie } from './votes/vote-cookie.ts';

/** A visit of the pages; staff may be signed in. */
export type PageVisit = Visit<AccountSession>;

export interface PollLookup {
  readonly database: Database<Tables>;
  readonly polls: PollReads;
  readonly voteCookie: VoteCookie;
  readonly clock: Clock;
}

/** A poll as one visitor sees it. */
export interface PollView extends Poll {
  readonly state: PollState;
  /** The choices that the visitor voted for; empty if there was no vote. */
  readonly chosen: readonly number[];
  /** The choices that were sent with a vote that was not counted. */
  readonly picked?: readonly number[];
  /** Reason why a vote was not counted. */
  readonly problem?: string;
}

/** A request with its reply. */
interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * The poll of a request's path. Throws `not_found` if there is none, or not yet. Search engines are told to leave out those that are on
 * no list.
 */
export async function viewOf(
  { request, reply }: Exchange,
  { polls, voteCookie, clock }: PollLookup,
): Promise<PollView> {
  const { id = '' } = request.params as { id?: string };
  const now = dateTimeOf(clock.now());
  const poll = /^\d{1,15}$/.test(id) ? await polls.findOpen(Number(id), now) : undefined;
  if (!poll) throw new AppError('not_found', 'There is no poll at this address.');
  const { question, choices } = poll;
  if (question.visibility !== 'listed') reply.header('x-robots-tag', 'noindex');
  const chosen = voteCookie.rememberedChoices(request, question.id);
  const state = stateFor(question, { hasVoted: chosen.length > 0, now });
  return { question, choices, chosen, state };
}
