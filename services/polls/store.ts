import type { AdminTables } from '@octavo/admin';
import {
  type Database,
  type HealthTables,
  keyShare,
  type Mark,
  type Session,
  statement,
  type WriteSession,
} from '@octavo/data';
import type { LimitTables } from '@octavo/data/limits';
import type { TokenTables } from '@octavo/drf';
import { tableWrites, totalOf } from '@octavo/drf';
import type { OidcTables } from '@octavo/people/sign-in';
import type { OffsetRequest, Page } from '@octavo/web/rest';
import { type Generated, type Kysely, sql } from 'kysely';
import { type Choice, type Counts, type Poll, pageSize, type Question, toCounts } from './poll.ts';

export interface Tables extends TokenTables, AdminTables, OidcTables, LimitTables, HealthTables {
  question: Stored<
    StoredQuestion,
    | 'closes_at'
    | 'results'
    | 'duplicates'
    | 'max_choices'
    | 'extra_votes'
    | 'visibility'
    | 'owner'
    | 'manage_hash'
  >;
  choice: Stored<Choice, 'is_correct' | 'votes'>;
  vote: { id: Generated<number>; choice: number; created_at_ms: number };
  voter: { question: number; key: string };
}

interface StoredQuestion extends Question {
  /** SHA-256 of the token with which the question was made on a page. */
  readonly manage_hash: string | null;
}

type Stored<Row, Default> = {
  [K in keyof Row]: K extends Default | 'id' ? Generated<Row[K]> : Row[K];
};

type Store = Session<Tables>;

export const questionWrites = tableWrites<Tables, 'question'>('question');
export const choiceWrites = tableWrites<Tables, 'choice'>('choice');

/** A time after every publication, for readers who see all questions. */
export const everything = '9999-12-31T23:59:59.999999Z';

const publishedQuestions = statement<Tables, { publishedBefore: string } & OffsetRequest>()((db, p) => {
  const published = db
    .selectFrom('question')
    .selectAll()
    .where('pub_date', '<=', p('publishedBefore'))
    .where(sql<boolean>`(visibility = 'listed' or ${p('publishedBefore')} = ${sql.lit(everything)})`);
  return published.orderBy('id').limit(p('limit')).offset(p('offset'));
});

// All without those to come or on no list, which are few: counting all rows of an index is faster than searching each.
const questionCount = statement<Tables, { publishedBefore: string }>()(
  (_db, p) => sql<{ total: number }>`select (select count(*) from question)
    - (select count(*) from question where pub_date > ${p('publishedBefore')})
    - (select count(*) from question where visibility <> 'listed' and pub_date <= ${p('publishedBefore')}
       and ${p('publishedBefore')} <> ${sql.lit(everything)}) as total`,
);

async function choiceCount({ kysely }: Store, publishedBefore: string) {
  const { rows } = await sql<{ total: number }>`select (select count(*) from choice)
    - (select count(*) from question join choice on choice.question = question.id
       where pub_date > ${publishedBefore}
       or (visibility <> 'listed' and ${publishedBefore} <> ${sql.lit(everything)})) as total`.execute(
    kysely,
  );
  return rows[0];
}

/** Listed questions that are published up to `publishedBefore`, by ascending id. */
export async function listQuestions(
  store: Store,
  publishedBefore: string,
  paging: OffsetRequest,
): Promise<Page<Question>> {
  const items = await publishedQuestions.all(store, { publishedBefore, ...paging });
  return {
    items,
    total: await totalOf(items, paging, () => questionCount.first(store, { publishedBefore })),
  };
}

const openQuestion = statement<Tables, { id: number; publishedBefore: string }>()((db, p) =>
  db
    .selectFrom('question')
    .selectAll()
    .where('id', '=', p('id'))
    .where('pub_date', '<=', p('publishedBefore'))
    .where(sql<boolean>`(visibility <> 'hidden' or ${p('publishedBefore')} = ${sql.lit(everything)})`),
);

/** The question, if it is published up to `publishedBefore` and not hidden. */
export function findQuestion(
  store: Store,
  id: number,
  publishedBefore: string,
): Promise<Question | undefined> {
  return openQuestion.first(store, { id, publishedBefore });
}

/** Questions that can be opened; readers who see all questions also see hidden ones. */
function shownTo(publishedBefore: string): readonly Question['visibility'][] {
  return publishedBefore === everything ? ['listed', 'link', 'hidden'] : ['listed', 'link'];
}

function newestQuestions(
  { kysely }: Store,
  { publishedBefore, limit, offset }: { publishedBefore: string } & OffsetRequest,
) {
  // Those before the page are read from an index, without their rows.
  const published = kysely
    .selectFrom('question')
    .select('id')
    .where('pub_date', '<=', publishedBefore)
    .where('visibility', '=', 'listed');
  const ids = published.orderBy('pub_date', 'desc').orderBy('id', 'desc').limit(limit).offset(offset);
  const page = kysely.selectFrom('question').selectAll().where('id', 'in', ids);
  return page.orderBy('pub_date', 'desc').orderBy('id', 'desc').execute();
}

/** A page of published questions that are listed, newest first. A page beyond the end is the last one. */
export async function newestPolls(
  store: Store,
  publishedBefore: string,
  page: number,
): Promise<Page<Poll> & { readonly page: number }> {
  const { total } = (await questionCount.first(store, { publishedBefore })) ?? { total: 0 };
  const shown = Math.min(page, Math.max(1, Math.ceil(total / pageSize)));
  const paging = { limit: pageSize, offset: (shown - 1) * pageSize };
  const questions = await newestQuestions(store, { publishedBefore, ...paging });
  const ids = questions.map(({ id }) => id);
  const choices = await choicesByQuestion(store, ids);
  const items = questions.map((question) => ({ question, choices: choices.get(question.id) ?? [] }));
  return { items, total, page: shown };
}

/** Choices by ascending id, of listed questions that are published up to `publishedBefore`, or of one question that is not hidden. */
export async function listChoices(
  store: Store,
  filter: { publishedBefore: string; question: number | undefined },
  paging: OffsetRequest,
): Promise<Page<Choice>> {
  const visible = visibleChoices(store, filter.publishedBefore);
  const { question } = filter;
  const isListedOnly = question === undefined && filter.publishedBefore !== everything;
  const open = isListedOnly ? visible.where('visibility', '=', 'listed') : visible;
  const found = question === undefined ? open : open.where('choice.question', '=', question);
  const ordered = found.selectAll('choice').orderBy('choice.id').limit(paging.limit).offset(paging.offset);
  const items = await ordered.execute();
  const count = () =>
    question === undefined
      ? choiceCount(store, filter.publishedBefore)
      : found.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirst();
  return { items, total: await totalOf(items, paging, count) };
}

/** The choice, if its question is published up to `publishedBefore` and not hidden. */
export function findChoice(store: Store, id: number, publishedBefore: string): Promise<Choice | undefined> {
  return visibleChoices(store, publishedBefore)
    .selectAll('choice')
    .where('choice.id', '=', id)
    .executeTakeFirst();
}

function visibleChoices({ kysely }: Store, publishedBefore: string) {
  const joined = kysely.selectFrom('choice').innerJoin('question', 'question.id', 'choice.question');
  return joined.where('pub_date', '<=', publishedBefore).where('visibility', 'in', shownTo(publishedBefore));
}

const choicesOfQuestion = statement<Tables, { question: number }>()((db, p) =>
  db.selectFrom('choice').selectAll().where('question', '=', p('question')).orderBy('id'),
);

/** The choices of one question in order of id. */
export function choicesOf(store: Store, question: number): Promise<Choice[]> {
  return choicesOfQuestion.all(store, { question });
}

const questionWithChoices = statement<Tables, { id: number }>()((db, p) =>
  db
    .selectFrom('question')
    .leftJoin('choice', 'choice.question', 'question.id')
    .selectAll('question')
    .select(['choice.id as choice_id', 'choice_text', 'is_correct', 'votes'])
    .where('question.id', '=', p('id'))
    .orderBy('choice.id'),
);

/** A question, published or not, with its choices in order of id: by one statement, because its counts depend on both. */
export async function findPoll(store: Store, id: number): Promise<Poll | undefined> {
  const rows = await questionWithChoices.all(store, { id });
  const pairs = rows.map(({ choice_id, choice_text, is_correct, votes, ...question }) => ({
    question,
    choice: { id: choice_id, question: id, choice_text, is_correct, votes },
  }));
  const choices = pairs.map(({ choice }) => choice).filter((choice): choice is Choice => choice.id !== null);
  return pairs[0] && { question: pairs[0].question, choices };
}

/** The choices of several questions in order of id, in one query. */
export async function choicesByQuestion(
  store: Store,
  ids: readonly number[],
): Promise<Map<number, Choice[]>> {
  if (ids.length === 0) return new Map();
  const found = store.kysely.selectFrom('choice').selectAll().where('question', 'in', ids);
  return Map.groupBy(await found.orderBy('id').execute(), ({ question }) => question);
}

/** A question as those see it who watch its results. */
export interface WatchedPoll {
  readonly question: Question;
  readonly counts: Counts;
}

/** Several questions with their counts. */
export async function watchedPolls(store: Store, ids: readonly number[]): Promise<Map<number, WatchedPoll>> {
  if (ids.length === 0) return new Map();
  const questions = await store.kysely.selectFrom('question').selectAll().where('id', 'in', ids).execute();
  const choices = await choicesByQuestion(store, ids);
  return new Map(
    questions.map((question) => [
      question.id,
      { question, counts: toCounts(question, choices.get(question.id) ?? []) },
    ]),
  );
}

/** The ballots of a question, in a query on questions. */
export const voteTotal = sql<number>`((select coalesce(sum(votes), 0) from choice where choice.question = question.id)
  - case when max_choices > 1 then extra_votes else 0 end)`;

export interface Vote {
  readonly question: number;
  /** At least one choice, no duplicates. */
  readonly choices: readonly number[];
  /** Key that may vote once; undefined if repeat votes are allowed. */
  readonly voter: string | undefined;
  readonly now: string;
  readonly nowMs: number;
}

/** A vote for one choice. */
type Answer = Omit<Vote, 'choices' | 'voter'> & { readonly choice: number };

/** The choice, if its question takes votes now. */
export const openChoice = statement<Tables, Pick<Answer, 'question' | 'choice' | 'now'>>()((db, p) =>
  openChoices(db, p).where('choice.id', '=', p('choice')).select('choice.id'),
);

/**
 * Inserts votes on single choices of a question, as far as it takes them: a list of choice, time and milliseconds in JSON. Returns a row for
 * each that it took.
 */
export const insertAnswers = statement<Tables, { question: number; answers: string }>()((_db, p, dialect) => {
  const answers =
    dialect === 'sqlite'
      ? sql`select value ->> 0 as choice, value ->> 1 as now, value ->> 2 as now_ms from json_each(${p('answers')})`
      : sql`select (value ->> 0)::bigint as choice, value ->> 1 as now, (value ->> 2)::bigint as now_ms
          from jsonb_array_elements(${p('answers')}::jsonb) as answer (value)`;
  return sql<{ choice: number; created_at_ms: number }>`insert into vote (choice, created_at_ms)
    select choice.id, answer.now_ms from (${answers}) as answer
    join choice on choice.id = answer.choice join question on question.id = choice.question
    where question.id = ${p('question')} and pub_date <= answer.now and visibility <> 'hidden'
      and (closes_at is null or closes_at > answer.now)
    order by choice.id ${keyShare(dialect, 'choice')} returning choice, created_at_ms`;
});

/** The choices of a question that takes votes now. */
export function openChoices(db: Kysely<Tables>, p: Mark<Pick<Vote, 'question' | 'now'>>) {
  return db
    .selectFrom('choice')
    .innerJoin('question', 'question.id', 'choice.question')
    .where('question.id', '=', p('question'))
    .where('pub_date', '<=', p('now'))
    .where('visibility', '<>', sql.lit('hidden' as const))
    .where((eb) => eb.or([eb('closes_at', 'is', null), eb('closes_at', '>', p('now'))]));
}

/** Inserts a voter while the question takes votes, so that no voter is kept from voting later. */
export const insertVoter = statement<
  Tables,
  Pick<Answer, 'question' | 'choice' | 'now'> & { voter: string }
>()((db, p, dialect) => {
  const row = openChoices(db, p)
    .where('choice.id', '=', p('choice'))
    .select((eb) => ['question.id', eb.cast<string>(p('voter'), 'text').as('key')])
    .modifyEnd(keyShare(dialect, 'question'));
  return db
    .insertInto('voter')
    .columns(['question', 'key'])
    .expression(row)
    .onConflict((conflict) => conflict.doNothing());
});

export const countVotes = statement<Tables, { choice: number; count: number }>()((db, p) =>
  db
    .updateTable('choice')
    .set((eb) => ({ votes: eb('votes', '+', p('count')) }))
    .where('id', '=', p('choice')),
);

/** Closes the questions that are published, `now`. */
export async function closeQuestions(
  { kysely }: WriteSession<Tables>,
  ids: readonly number[],
  now: string,
): Promise<void> {
  const published = kysely.updateTable('question').where('id', 'in', ids).where('pub_date', '<=', now);
  await published.set({ closes_at: now }).execute();
}

/** Every vote on a question, oldest first, in batches. */
export function streamVotes(database: Database<Tables>, question: number) {
  const votes = database.kysely
    .selectFrom('vote')
    .innerJoin('choice', 'choice.id', 'vote.choice')
    .select(['vote.id', 'vote.created_at_ms', 'choice.id as choice', 'choice_text'])
    .where('question', '=', question)
    .orderBy('vote.id');
  return database.stream(votes, { batchRows: 500 });
}

export async function hasQuestion({ kysely }: Store, question_text: string): Promise<boolean> {
  const known = kysely.selectFrom('question').select('id').where('question_text', '=', question_text);
  return (await known.executeTakeFirst()) !== undefined;
}

/** True if there are questions, none of them with one of these texts. */
export async function holdsOnlyOthers({ kysely }: Store, texts: readonly string[]): Promise<boolean> {
  const any = kysely.selectFrom('question').select('id').limit(1);
  if ((await any.executeTakeFirst()) === undefined) return false;
  return (await any.where('question_text', 'in', texts).executeTakeFirst()) === undefined;
}
