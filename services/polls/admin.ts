import type { Accounts } from '#kit/accounts/index.ts';
import {
  type AccountSession,
  type Admin,
  accountModels,
  choice,
  createAdmin,
  dateTime,
  flag,
  integer,
  reference,
  staffAccounts,
  tableModel,
  text,
} from '#kit/admin/index.ts';
import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { tokenModel } from '#kit/drf/authtoken/admin.ts';
import { dateTimeOf } from '#kit/drf/date-time.ts';
import { AppError } from '#kit/errors.ts';
import { badge } from '#kit/html/blocks.ts';
import { time } from '#kit/html/format.ts';
import { closeProblem, duplicatesWords, type Question, resultsWords, textMax } from './poll.ts';
import { pageRoutes, pathOf } from './routes.ts';
import { closeQuestions, type Tables, voteTotal } from './store.ts';

export interface AdminParts {
  readonly accounts: Accounts;
  readonly database: Database<Tables>;
  readonly clock: Clock;
}

/** The admin at `/admin/`: questions with their choices, tokens, users and groups. */
export function createPollsAdmin({ accounts, database, clock }: AdminParts): Admin<AccountSession> {
  const models = [questionModel(clock), choiceModel, tokenModel];
  return createAdmin({
    title: 'Polls admin',
    models: [...models, ...accountModels(accounts, models)],
    accounts: staffAccounts(accounts),
    ...{ database, clock },
  });
}

const questionModel = (clock: Clock) =>
  tableModel<Tables>({
    path: 'polls/question',
    label: 'question',
    table: 'question',
    title: 'question_text',
    fields: {
      question_text: text({ label: 'Question', charactersMax: textMax }),
      pub_date: dateTime({
        label: 'Published',
        isText: true,
        initial: dateTimeOf,
        help: 'Until then, only staff see it.',
      }),
      closes_at: dateTime({
        label: 'Closes',
        isText: true,
        isOptional: true,
        help: 'Then it takes no more votes. Without it, results that show when the poll closes stay hidden.',
      }),
      results: choice(Object.entries(resultsWords), { label: 'Show the results' }),
      duplicates: choice(Object.entries(duplicatesWords), { label: 'People may vote' }),
    },
    sections: [{ title: 'Rules', fields: ['results', 'duplicates'] }],
    columns: [
      'question_text',
      'pub_date',
      {
        label: 'Closes',
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
    filters: ['pub_date', 'results', 'duplicates'],
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
    links: ({ id }) => [{ href: pathOf(pageRoutes.results, Number(id)), label: 'View on site' }],
  });

const choiceModel = tableModel<Tables>({
  path: 'polls/choice',
  label: 'choice',
  table: 'choice',
  title: 'choice_text',
  fields: {
    question: reference('polls/question', { label: 'Question' }),
    choice_text: text({ label: 'Choice', charactersMax: textMax }),
    is_correct: flag({ label: 'Correct' }),
    votes: integer({ label: 'Votes', readOnly: true, initial: 0 }),
  },
  columns: ['choice_text', 'question', 'is_correct', 'votes'],
  search: ['choice_text', 'question'],
  filters: ['question', 'is_correct'],
  uniqueErrors: { question: { field: 'is_correct', message: 'Question already has a correct choice.' } },
});
