import type { Clock } from '@octavo/core';
import { AppError, Type } from '@octavo/core';
import { dateTimeOf } from '@octavo/core/text';
import { afterWrite } from '@octavo/data';
import type { TokenAccess } from '@octavo/drf';
import { bodyTypes, type DrfScope, serializer } from '@octavo/drf';
import {
  fieldErrors,
  longList,
  missingRow,
  notFoundError,
  primaryKey,
  primaryKeys,
} from '@octavo/drf/dialect';
import { isFromElsewhere } from '@octavo/web/pages';
import type { HttpApp } from '@octavo/web/server';
import { clientAddress, FormFields } from '@octavo/web/server';
import { choicesMax, isRight, type Poll, stateFor, takesSeveral, toCounts } from '../poll.ts';
import type { PollReads } from '../poll-reads.ts';
import { routes } from '../routes.ts';
import type { VoteCookie } from './vote-cookie.ts';
import { ChoicesRefused, type Votes } from './votes.ts';

export interface VoteApiOptions {
  readonly polls: PollReads;
  readonly votes: Votes;
  readonly voteCookie: VoteCookie;
  readonly clock: Clock;
}

interface Parts extends VoteApiOptions {
  readonly app: HttpApp;
  readonly drf: DrfScope;
  readonly access: TokenAccess;
}

const oneChoice = serializer({ choice: primaryKey(async () => true) });
const severalChoices = serializer({ choices: primaryKeys({ maxItems: choicesMax }) });

const VoteRequest = {
  title: 'VoteRequest',
  type: 'object',
  properties: {
    choice: { type: 'integer', minimum: 1, description: 'The choice to vote for' },
    choices: {
      type: 'array',
      items: { type: 'integer', minimum: 1 },
      minItems: 1,
      maxItems: choicesMax,
      description: 'Instead of `choice`: several, up to `max_choices` of the question',
    },
  },
};

const Outcome = Type.Object(
  {
    question: Type.Integer(),
    choice: Type.Integer({ description: 'The first of several' }),
    choices: Type.Optional(
      Type.Array(Type.Integer(), { description: 'All choices, if the question takes several' }),
    ),
    correct: Type.Union([Type.Boolean(), Type.Null()], {
      description: 'True if the correct choice was picked, and no other',
    }),
    voters: Type.Optional(
      Type.Integer({
        description:
          'If the question takes several choices: number of people who voted, which percentages refer to. Absent while the results are hidden',
      }),
    ),
    results: Type.Array(
      Type.Object(
        {
          choice: Type.Integer(),
          choice_text: Type.String(),
          votes: Type.Integer(),
          percent: Type.Number({ examples: [41.7] }),
        },
        { title: 'ChoiceResult' },
      ),
      { description: 'Empty while the results are hidden' },
    ),
  },
  { title: 'VoteOutcome' },
);

/** Adds the endpoint that votes. */
export function addVoteApi({ app, drf, access, polls, votes, voteCookie, clock }: Parts): void {
  drf.describe(routes.voteOnQuestion, {
    name: 'Vote',
    description: 'Votes on a question.',
    access: access.open,
  });
  app.post(
    routes.voteOnQuestion,
    {
      access: access.open,
      schema: {
        tags: ['votes'],
        summary: 'Vote on a question',
        description:
          'Takes the id of a `choice`, or the ids of several `choices` where the question has `max_choices` above 1. Returns whether the answer is correct and, if they may be seen, the results. 403 if the poll is closed, or if this visitor has voted and may not vote again.',
        params: Type.Object({ id: Type.Integer() }),
        consumes: bodyTypes,
        body: VoteRequest,
        response: { 200: Outcome },
      },
      config: { errors: ['not_found', 'forbidden'] },
    },
    async (request, reply) => {
      // It would spend the vote of the browser's owner, who is on another page.
      if (isFromElsewhere(request))
        throw new AppError('forbidden', 'Votes from pages of other sites are not counted.');
      const now = dateTimeOf(clock.now());
      const before = await polls.findOpen(request.params.id, now);
      if (!before) throw notFoundError();
      const { question } = before;
      const ballot = await readBallot(request.body);
      const hasVoted = voteCookie.rememberedChoices(request, question.id).length > 0;
      const { choices, field } = ballot;
      const vote = { question, choices, hasVoted, address: clientAddress(request) };
      await votes.cast(vote).catch((error) => throwFor(field, error));
      voteCookie.remember(reply, question.id, choices);
      const { showsResults, showsCorrect } = stateFor(question, { hasVoted: true, now });
      const poll = (await afterWrite(() => polls.find(question.id))) ?? before;
      return {
        question: question.id,
        choice: choices[0] as number,
        ...(takesSeveral(question) && { choices: [...choices] }),
        correct: showsCorrect ? isRight(poll.choices, choices) : null,
        ...(showsResults ? resultsOf(poll) : { results: [] }),
      };
    },
  );
}

async function readBallot(body: unknown) {
  const given = body instanceof FormFields ? body.values : body;
  const names = typeof given === 'object' && given !== null ? Object.keys(given) : [];
  if (!names.includes('choices')) {
    const { choice } = await oneChoice.parse(body);
    return { choices: [choice], field: 'choice' } as const;
  }
  if (names.includes('choice')) throw fieldErrors({ choices: ['Send choice or choices, not both.'] });
  const { choices } = await severalChoices.parse(body);
  return { choices, field: 'choices' } as const;
}

function resultsOf({ question, choices }: Poll) {
  const { total, choices: counts } = toCounts(question, choices);
  const results = counts.map((each, index) => ({ ...each, choice_text: choices[index]?.choice_text ?? '' }));
  return { ...(takesSeveral(question) && { voters: total }), results };
}

/** Throws an error of a vote, as the framework words it for the field that named the choices. */
function throwFor(field: 'choice' | 'choices', error: unknown): never {
  if (!(error instanceof ChoicesRefused)) throw error;
  const { most, unknown } = error;
  if (most !== undefined) throw fieldErrors({ choices: [longList(most)] });
  throw fieldErrors({ [field]: [unknown === undefined ? 'This field is required.' : missingRow(unknown)] });
}
