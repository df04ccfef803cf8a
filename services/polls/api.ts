import type { AccountSession, RowHistory } from '@octavo/admin';
import type { Clock } from '@octavo/core';
import { Type } from '@octavo/core';
import { dateTimeOf } from '@octavo/core/text';
import type { Database } from '@octavo/data';
import {
  addDrfResource,
  addTokenRoute,
  createTokenAccess,
  mayView,
  type PageTokens,
  parameter,
  type ResourceParts,
  readId,
  recordedWrites,
  serializerFields,
  type TokenAccess,
  useDrf,
} from '@octavo/drf';
import { fieldErrors, primaryKey } from '@octavo/drf/dialect';
import type { Accounts } from '@octavo/people/accounts';
import type { OidcSignIn } from '@octavo/people/sign-in';
import type { HttpApp } from '@octavo/web/server';
import type { FastifyRequest } from 'fastify';
import {
  type Choice,
  choiceFields,
  closeProblem,
  moveProblem,
  type Question,
  questionFields,
} from './poll.ts';
import { routes } from './routes.ts';
import { everything, findChoice, findQuestion, listChoices, listQuestions, type Tables } from './store.ts';
import { addVoteApi, type VoteApiOptions } from './votes/api.ts';

export interface ApiOptions extends VoteApiOptions {
  readonly database: Database<Tables>;
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly history: RowHistory;
  readonly oidc: OidcSignIn<AccountSession> | undefined;
  readonly pageTokens: PageTokens;
}

/** The models of permissions, as in the admin. */
const models = { question: 'polls/question', choice: 'polls/choice' };

interface Parts extends ResourceParts<Tables>, ApiOptions {
  readonly access: TokenAccess;
  /** Latest publication time of questions that the caller may see. */
  publishedBefore(request: FastifyRequest): string;
}

/** Adds every endpoint of the API. */
export function addApi(app: HttpApp, options: ApiOptions): void {
  app.register(async (scope) => {
    const drf = useDrf(scope);
    const access = createTokenAccess(scope, options);
    const publishedBefore = (request: FastifyRequest) =>
      mayView(request, models.question) ? everything : dateTimeOf(options.clock.now());
    const parts = { ...options, app: scope, drf, access, publishedBefore };
    addQuestions(parts);
    addChoices(parts);
    addVoteApi(parts);
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
  const { database, polls, access, publishedBefore } = parts;
  const writes = recordedWrites<Tables, 'question'>('question', { ...parts, path: models.question });
  addDrfResource(parts, {
    name: 'question',
    table: 'question',
    collection: routes.questions,
    item: routes.question,
    access: { read: access.open, ...access.to(models.question) },
    fields: serializerFields(questionFields),
    list: (request, paging) =>
      mayView(request, models.question)
        ? listQuestions(database, everything, paging)
        : polls.listOpen(paging),
    find: (id, request) => findQuestion(database, id, publishedBefore(request)),
    insert: async (session, values, request) =>
      checkClose(await writes.insert(session, values, request), values),
    async update(session, id, change, request) {
      const question = await writes.update(session, id, { row: change, request });
      return question && checkClose(question, change);
    },
    delete: writes.delete,
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
  const { database, access, publishedBefore } = parts;
  const writes = recordedWrites<Tables, 'choice'>('choice', { ...parts, path: models.choice });
  const questionExists = async (id: number) => (await findQuestion(database, id, everything)) !== undefined;
  addDrfResource(parts, {
    name: 'choice',
    table: 'choice',
    collection: routes.choices,
    item: routes.choice,
    access: { read: access.open, ...access.to(models.choice) },
    filters: { question: Type.Optional(Type.Integer({ description: 'Only the choices of this question' })) },
    fields: { question: primaryKey(questionExists), ...serializerFields(choiceFields) },
    shown: ChoiceShown,
    show: ({ is_correct, votes, ...open }: Choice, request) =>
      mayView(request, models.choice) ? { ...open, is_correct: is_correct === 1, votes } : open,
    async list(request, paging) {
      const given = parameter(request.query, 'question');
      const question = given === undefined ? undefined : await readId('question', given);
      return listChoices(database, { publishedBefore: publishedBefore(request), question }, paging);
    },
    find: (id, request) => findChoice(database, id, publishedBefore(request)),
    insert: (session, values, request) => writes.insert(session, toRow(values), request),
    update: (session, id, change, request) =>
      writes.update(session, id, {
        row: toRow(change),
        request,
        check(before) {
          const problem = moveProblem(before, change.question);
          if (problem) throw fieldErrors({ question: [problem] });
        },
      }),
    delete: writes.delete,
    uniqueErrors: { question: { is_correct: ['Question already has a correct choice.'] } },
    isLate: (change) => change.is_correct === true,
  });
}

/** A choice as it is stored. */
function toRow<T extends { readonly is_correct?: boolean }>({ is_correct, ...row }: T) {
  return { ...row, ...(is_correct !== undefined && { is_correct: Number(is_correct) }) };
}
