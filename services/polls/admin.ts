import {
  type AccountSession,
  type Admin,
  accountModels,
  adminFields,
  createAdmin,
  dateTime,
  integer,
  type Model,
  type ObjectLink,
  reference,
  staffAccounts,
  tableModel,
  text,
  type Values,
} from '@octavo/admin';
import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import { dateTimeOf } from '@octavo/core/text';
import type { Database } from '@octavo/data';
import type { TokenTables } from '@octavo/drf';
import type { Accounts } from '@octavo/people/accounts';
import type { OidcSignIn } from '@octavo/people/sign-in';
import { badge, time } from '@octavo/web/html';
import {
  type Choice,
  choiceFields,
  closeProblem,
  moveProblem,
  type Question,
  questionFields,
} from './poll.ts';
import { pageRoutes, pathOf } from './routes.ts';
import { closeQuestions, type Tables, voteTotal } from './store.ts';

export interface AdminParts {
  readonly accounts: Accounts;
  readonly database: Database<Tables>;
  readonly clock: Clock;
  /** Models of {@link pollModels}. */
  readonly models: readonly Model[];
  readonly oidc: OidcSignIn<AccountSession> | undefined;
}

/** Models that staff edit, and whose changes have a history. */
export function pollModels(clock: Clock): readonly Model[] {
  return [questionModel(clock), choiceModel(clock)];
}

/** The admin at `/admin/`: questions with their choices, tokens, users and groups. */
export function createPollsAdmin({
  accounts,
  database,
  clock,
  oidc,
  ...parts
}: AdminParts): Admin<AccountSession> {
  const models = [...parts.models, tokenModel];
  return createAdmin({
    title: 'Polls admin',
    models: [...models, ...accountModels(accounts, models)],
    accounts: staffAccounts(accounts, undefined, oidc),
    database,
    clock,
    tables: { vote: 'vote', voter: null },
  });
}

const questionModel = (clock: Clock) =>
  tableModel<Tables>({
    path: 'polls/question',
    icon: 'chart',
    label: 'question',
    table: 'question',
    title: 'question_text',
    fields: adminFields(questionFields, { pub_date: { initial: dateTimeOf } }),
    sections: [{ title: 'Rules', fields: ['results', 'duplicates', 'max_choices', 'visibility'] }],
    columns: [
      'question_text',
      'pub_date',
      {
        label: 'Closes',
        kind: 'fit',
        show: ({ closes_at, results }) =>
          closes_at
            ? time(String(closes_at))
            : results === 'after_close' && badge('warn', 'never: results stay hidden'),
        sortBy: 'closes_at',
      },
      {
        label: 'Votes',
        name: 'votes',
        kind: 'number',
        expression: voteTotal,
        show: ({ votes }) => Number(votes).toLocaleString('en'),
        sortBy: 'votes',
      },
    ],
    search: ['question_text'],
    filters: ['pub_date', 'results', 'duplicates', 'visibility'],
    dates: 'pub_date',
    order: ['-pub_date'],
    inlines: [{ model: 'polls/choice', parent: 'question' }],
    async beforeSave(_session, { before, after }) {
      const isOld = before?.pub_date === after.pub_date && before?.closes_at === after.closes_at;
      const problem = isOld ? undefined : closeProblem(after as Pick<Question, 'pub_date' | 'closes_at'>);
      if (problem) throw new AppError('validation_failed', problem, { fields: { closes_at: problem } });
      return undefined;
    },
    actions: {
      close: {
        label: 'Close now',
        confirms: true,
        async run(session, ids) {
          await closeQuestions(session, ids.map(Number), dateTimeOf(clock.now()));
        },
      },
      reopen: { label: 'Open again', set: { closes_at: null } },
    },
    links: (question) => linksToSite(question, clock),
  });

/** The results of a question. Before its publication and while it is hidden, its pages are 404 for everybody. */
function linksToSite({ id, pub_date, visibility }: Values, clock: Clock): readonly ObjectLink[] {
  const isShown = String(pub_date) <= dateTimeOf(clock.now()) && visibility !== 'hidden';
  return isShown ? [{ href: pathOf(pageRoutes.results, Number(id)), label: 'View on site' }] : [];
}

const choiceModel = (clock: Clock) =>
  tableModel<Tables>({
    path: 'polls/choice',
    icon: 'check',
    label: 'choice',
    table: 'choice',
    title: 'choice_text',
    fields: {
      question: reference('polls/question', { label: 'Question' }),
      ...adminFields(choiceFields),
      votes: integer({ label: 'Votes', readOnly: true, initial: 0 }),
    },
    columns: ['choice_text', 'question', 'is_correct', 'votes'],
    search: ['choice_text', 'question'],
    filters: ['question', 'is_correct'],
    async links({ question = null }, read) {
      const found = await read('polls/question', question);
      const edit = { href: `/admin/polls/question/${question}/change/`, label: 'The question' };
      return [...(found ? linksToSite(found, clock) : []), edit];
    },
    async beforeSave(_session, { before, after }) {
      const problem = before && moveProblem(before as unknown as Choice, Number(after.question));
      if (problem) throw new AppError('validation_failed', problem, { fields: { question: problem } });
      return undefined;
    },
    uniqueErrors: { question: { field: 'is_correct', message: 'Question already has a correct choice.' } },
  });

/** The model `auth/token` of an admin: tokens are listed, and deleting one revokes it. */
const tokenModel: Model = tableModel<TokenTables>({
  path: 'auth/token',
  icon: 'lock',
  label: 'token',
  table: 'auth_token',
  title: 'hint',
  description: 'API tokens, listed by their first characters. Deleting a token revokes it.',
  fields: {
    hint: text({ label: 'Token', readOnly: true }),
    user: reference('auth/user', { label: 'User', column: 'user_id', readOnly: true }),
    created: dateTime({ label: 'Created', column: 'created_at_ms', readOnly: true }),
    last_used: dateTime({ label: 'Last used', column: 'last_used_at_ms', readOnly: true }),
  },
  columns: [
    { label: 'Token', show: ({ hint }) => `${hint}…`, sortBy: 'hint' },
    'user',
    'created',
    'last_used',
  ],
  search: ['hint', 'user'],
  filters: ['user'],
  dates: 'created',
  order: ['-last_used'],
  can: { add: false, change: false },
});
