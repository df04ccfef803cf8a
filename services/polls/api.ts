import type { FastifyRequest } from 'fastify';
import type { Accounts } from '#kit/accounts/index.ts';
import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { addTokenRoute, createTokenAccess, mayView, type TokenAccess } from '#kit/drf/authtoken/index.ts';
import { dateTimeOf } from '#kit/drf/date-time.ts';
import { fieldErrors, notFoundError } from '#kit/drf/errors.ts';
import { boolean, choice, dateTime, nullable, optional, primaryKey, text } from '#kit/drf/fields.ts';
import { readId } from '#kit/drf/ids.ts';
import { parameter } from '#kit/drf/paging.ts';
import { addResource, type ResourceParts } from '#kit/drf/resource.ts';
import { bodyTypes, useDrf } from '#kit/drf/scope.ts';
import { serializer } from '#kit/drf/serializer.ts';
import { clientAddress } from '#kit/http/client-address.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { Type } from '#kit/schema.ts';
import {
  type Choice,
  closeProblem,
  duplicatesModes,
  isRight,
  type Question,
  resultsModes,
  standingOf,
  textMax,
  toCounts,
} from './poll.ts';
import { routes } from './routes.ts';
import {
  choicesOf,
  choiceWrites,
  endOfTime,
  findChoice,
  findQuestion,
  listChoices,
  listQuestions,
  questionWrites,
  type Tables,
} from './store.ts';
import type { Votes } from './votes.ts';

export interface ApiOptions {
  readonly database: Database<Tables>;
  readonly accounts: Accounts;
  readonly votes: Votes;
  readonly clock: Clock;
}

/** The models of permissions, as in the admin. */
const models = { question: 'polls/question', choice: 'polls/choice' };

interface Parts extends ResourceParts<Tables>, ApiOptions {
  readonly access: TokenAccess;
  /** When a question must be published for whoever sends the request to see it. */
  untilOf(request: FastifyRequest): string;
}

/** Adds every endpoint of the API. */
export function addApi(app: HttpApp, options: ApiOptions): void {
  app.register(async (scope) => {
    const drf = useDrf(scope);
    const access = createTokenAccess(scope, options);
    const untilOf = (request: FastifyRequest) =>
      mayView(request, models.question) ? endOfTime : dateTimeOf(options.clock.now());
    const parts = { ...options, app: scope, drf, access, untilOf };
    addQuestions(parts);
    addChoices(parts);
    addVote(parts);
    addTokenRoute(scope, drf, { path: routes.token, tokens: options });
  });
}

const ChoiceShown = Type.Object({
  id: Type.Integer(),
  question: Type.Integer(),
  choice_text: Type.String({ examples: ['Autumn'] }),
  is_correct: Type.Optional(Type.Boolean({ description: 'Only for staff who may view choices' })),
  votes: Type.Optional(Type.Integer({ description: 'Only for staff who may view choices' })),
});

function addQuestions(parts: Parts): void {
  const { database, access, untilOf } = parts;
  addResource(parts, {
    name: 'question',
    collection: routes.questions,
    item: routes.question,
    access: { read: access.open, ...access.to(models.question) },
    fields: {
      question_text: text({ maxLength: textMax, examples: ['Which season do you like best?'] }),
      pub_date: dateTime({ description: 'Before it, only staff who may view questions see it' }),
      closes_at: optional(nullable(dateTime({ description: 'After it, the poll takes no votes' }))),
      results: optional(choice(resultsModes, { description: 'When visitors see the results' })),
      duplicates: optional(choice(duplicatesModes, { description: 'What may vote only once' })),
    },
    list: (request, paging) => listQuestions(database, untilOf(request), paging),
    find: (id, request) => findQuestion(database, id, untilOf(request)),
    insert: async (session, values) => checkClose(await questionWrites.insert(session, values), values),
    async update(session, id, change) {
      const question = await questionWrites.update(session, id, change);
      return question && checkClose(question, change);
    },
    delete: questionWrites.delete,
  });
}

/** Throws for times that a change has made wrong. */
function checkClose(question: Question, change: Partial<Question>): Question {
  const isTimed = change.pub_date !== undefined || change.closes_at !== undefined;
  const problem = isTimed ? closeProblem(question) : undefined;
  if (problem) throw fieldErrors({ closes_at: [problem] });
  return question;
}

function addChoices(parts: Parts): void {
  const { database, access, untilOf } = parts;
  const questionExists = async (id: number) => (await findQuestion(database, id, endOfTime)) !== undefined;
  addResource(parts, {
    name: 'choice',
    collection: routes.choices,
    item: routes.choice,
    access: { read: access.open, ...access.to(models.choice) },
    filters: { question: Type.Optional(Type.Integer({ description: 'Only the choices of this question' })) },
    fields: {
      question: primaryKey(questionExists),
      choice_text: text({ maxLength: textMax, examples: ['Autumn'] }),
      is_correct: optional(
        boolean({ description: 'At most one choice of a question is correct', default: false }),
      ),
    },
    shown: ChoiceShown,
    show: ({ is_correct, votes, ...open }: Choice, request) =>
      mayView(request, models.choice) ? { ...open, is_correct: is_correct === 1, votes } : open,
    async list(request, paging) {
      const given = parameter(request.query, 'question');
      const question = given === undefined ? undefined : await readId('question', given);
      return listChoices(database, { until: untilOf(request), question }, paging);
    },
    find: (id, request) => findChoice(database, id, untilOf(request)),
    insert: (session, values) => choiceWrites.insert(session, toRow(values)),
    update: (session, id, change) => choiceWrites.update(session, id, toRow(change)),
    delete: choiceWrites.delete,
    uniqueErrors: { question: { is_correct: ['Question already has a correct choice.'] } },
    isLate: (change) => change.is_correct === true,
  });
}

/** A choice as it is stored. */
function toRow<T extends { readonly is_correct?: boolean }>({ is_correct, ...row }: T) {
  return { ...row, ...(is_correct !== undefined && { is_correct: Number(is_correct) }) };
}

const Outcome = Type.Object(
  {
    question: Type.Integer(),
    choice: Type.Integer(),
    correct: Type.Union([Type.Boolean(), Type.Null()]),
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

function addVote({ app, drf, access, database, votes, clock }: Parts): void {
  const ballot = serializer({ choice: primaryKey(async () => true) }, { title: 'VoteRequest' });
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
        params: Type.Object({ id: Type.Integer() }),
        consumes: bodyTypes,
        body: ballot.schema,
        response: { 200: Outcome },
      },
      config: { errors: ['not_found', 'forbidden'] },
    },
    async (request, reply) => {
      const now = dateTimeOf(clock.now());
      const question = await findQuestion(database, request.params.id, now);
      if (!question) throw notFoundError();
      const { choice } = await ballot.parse(request.body);
      await votes.cast({ request, reply, question, choice, address: clientAddress(request) });
      const { showsResults, showsCorrect } = standingOf(question, { hasVoted: true, now });
      const choices = await choicesOf(database, question.id);
      return {
        question: question.id,
        choice,
        correct: showsCorrect ? isRight(choices, choice) : null,
        results: showsResults ? resultsOf(choices) : [],
      };
    },
  );
}

function resultsOf(choices: readonly Choice[]) {
  const { choices: counts } = toCounts(choices);
  return counts.map((each, index) => ({ ...each, choice_text: choices[index]?.choice_text ?? '' }));
}
