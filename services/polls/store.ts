import { type Generated, type Kysely, sql } from 'kysely';
import type { AdminTables } from '#kit/admin/index.ts';
import {
  type Database,
  keyShare,
  type Mark,
  type Session,
  statement,
  type WriteSession,
} from '#kit/db/index.ts';
import type { TokenTables } from '#kit/drf/authtoken/index.ts';
import { type Page, type Paging, totalOf } from '#kit/drf/paging.ts';
import { tableWrites } from '#kit/drf/table-writes.ts';
import { type Choice, type Counts, type Poll, pageSize, type Question, toCounts } from './poll.ts';

export interface Tables extends TokenTables, AdminTables {
  question: Stored<Question, 'closes_at' | 'results' | 'duplicates'>;
  choice: Stored<Choice, 'is_correct' | 'votes'>;
  vote: { id: Generated<number>; choice: number; created_at_ms: number };
  voter: { question: number; key: string };
}

type Stored<Row, Default> = {
  [K in keyof Row]: K extends Default | 'id' ? Generated<Row[K]> : Row[K];
};

type Store = Session<Tables>;

export const questionWrites = tableWrites<Tables, 'question'>('question');
export const choiceWrites = tableWrites<Tables, 'choice'>('choice');

/** A time after every publication, for readers who see all questions. */
export const endOfTime = '9999-12-31T23:59:59.999999Z';

const publishedQuestions = statement<Tables, { until: string } & Paging>()((db, p) => {
  const published = db.selectFrom('question').selectAll().where('pub_date', '<=', p('until'));
  return published.orderBy('id').limit(p('limit')).offset(p('offset'));
});

// All without those to come, which are few: counting all rows of an index is faster than searching each.
const questionCount = statement<Tables, { until: string }>()(
  (_db, p) => sql<{ total: number }>`select (select count(*) from question)
    - (select count(*) from question where pub_date > ${p('until')}) as total`,
);

const choiceCount = statement<Tables, { until: string }>()(
  (_db, p) => sql<{ total: number }>`select (select count(*) from choice)
    - (select count(*) from question join choice on choice.question = question.id
       where pub_date > ${p('until')}) as total`,
);

/** Questions that are published `until` then, by ascending id. */
export async function listQuestions(store: Store, until: string, paging: Paging): Promise<Page<Question>> {
  const items = await publishedQuestions.all(store, { until, ...paging });
  return { items, total: await totalOf(items, paging, () => questionCount.first(store, { until })) };
}

const questionById = statement<Tables, { id: number; until: string }>()((db, p) =>
  db.selectFrom('question').selectAll().where('id', '=', p('id')).where('pub_date', '<=', p('until')),
);

/** The question, if it is published `until` then. */
export function findQuestion(store: Store, id: number, until: string): Promise<Question | undefined> {
  return questionById.first(store, { id, until });
}

const newestQuestions = statement<Tables, { until: string } & Paging>()((db, p) => {
  const published = db.selectFrom('question').selectAll().where('pub_date', '<=', p('until'));
  const newest = published.orderBy('pub_date', 'desc').orderBy('id', 'desc');
  return newest.limit(p('limit')).offset(p('offset'));
});

/** A page of published questions, newest first. A page beyond the end is the last one. */
export async function newestPolls(
  store: Store,
  until: string,
  page: number,
): Promise<Page<Poll> & { readonly page: number }> {
  const { total } = (await questionCount.first(store, { until })) ?? { total: 0 };
  const shown = Math.min(page, Math.max(1, Math.ceil(total / pageSize)));
  const paging = { limit: pageSize, offset: (shown - 1) * pageSize };
  const questions = await newestQuestions.all(store, { until, ...paging });
  const ids = questions.map(({ id }) => id);
  const choices = await choicesByQuestion(store, ids);
  const items = questions.map((question) => ({ question, choices: choices.get(question.id) ?? [] }));
  return { items, total, page: shown };
}

/** Choices by ascending id, of questions that are published `until` then. */
export async function listChoices(
  store: Store,
  filter: { until: string; question: number | undefined },
  paging: Paging,
): Promise<Page<Choice>> {
  const visible = visibleChoices(store, filter.until);
  const { question } = filter;
  const found = question === undefined ? visible : visible.where('choice.question', '=', question);
  const ordered = found.selectAll('choice').orderBy('choice.id').limit(paging.limit).offset(paging.offset);
  const items = await ordered.execute();
  const count = () =>
    question === undefined
      ? choiceCount.first(store, { until: filter.until })
      : found.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirst();
  return { items, total: await totalOf(items, paging, count) };
}

/** The choice, if its question is published `until` then. */
export function findChoice(store: Store, id: number, until: string): Promise<Choice | undefined> {
  return visibleChoices(store, until).selectAll('choice').where('choice.id', '=', id).executeTakeFirst();
}

function visibleChoices({ kysely }: Store, until: string) {
  const joined = kysely.selectFrom('choice').innerJoin('question', 'question.id', 'choice.question');
  return joined.where('pub_date', '<=', until);
}

const choicesOfQuestion = statement<Tables, { question: number }>()((db, p) =>
  db.selectFrom('choice').selectAll().where('question', '=', p('question')).orderBy('id'),
);

/** The choices of one question in order of id. */
export function choicesOf(store: Store, question: number): Promise<Choice[]> {
  return choicesOfQuestion.all(store, { question });
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

/** The counts of several questions. */
export async function countsOf(store: Store, ids: readonly number[]): Promise<Map<number, Counts>> {
  const found = await choicesByQuestion(store, ids);
  return new Map([...found].map(([id, choices]) => [id, toCounts(choices)]));
}

/** The sum of a question's votes, in a query on questions. */
export const voteTotal = sql<number>`(select coalesce(sum(votes), 0) from choice where choice.question = question.id)`;

export interface Vote {
  readonly question: number;
  readonly choice: number;
  /** Who may vote only once; undefined if anyone may vote again. */
  readonly voter: string | undefined;
  readonly now: string;
  readonly nowMs: number;
}

/** The choice, if its question takes votes now. */
const openChoice = statement<Tables, Pick<Vote, 'question' | 'choice' | 'now'>>()((db, p) =>
  openChoices(db, p).select('choice.id'),
);

const insertVote = statement<Tables, Omit<Vote, 'voter'>>()((db, p, dialect) => {
  const row = openChoices(db, p)
    .select((eb) => ['choice.id', eb.cast<number>(p('nowMs'), 'bigint').as('nowMs')])
    .modifyEnd(keyShare(dialect, 'choice'));
  return db.insertInto('vote').columns(['choice', 'created_at_ms']).expression(row);
});

function openChoices(db: Kysely<Tables>, p: Mark<Pick<Vote, 'question' | 'choice' | 'now'>>) {
  return db
    .selectFrom('choice')
    .innerJoin('question', 'question.id', 'choice.question')
    .where('choice.id', '=', p('choice'))
    .where('question.id', '=', p('question'))
    .where('pub_date', '<=', p('now'))
    .where((eb) => eb.or([eb('closes_at', 'is', null), eb('closes_at', '>', p('now'))]));
}

const insertVoter = statement<Tables, Pick<Vote, 'question' | 'choice' | 'now'> & { voter: string }>()(
  (db, p, dialect) => {
    const row = openChoices(db, p)
      .select((eb) => ['question.id', eb.cast<string>(p('voter'), 'text').as('key')])
      .modifyEnd(keyShare(dialect, 'question'));
    return db
      .insertInto('voter')
      .columns(['question', 'key'])
      .expression(row)
      .onConflict((conflict) => conflict.doNothing());
  },
);

const deleteVoter = statement<Tables, { question: number; voter: string }>()((db, p) =>
  db.deleteFrom('voter').where('question', '=', p('question')).where('key', '=', p('voter')),
);

const countVotes = statement<Tables, { choice: number; count: number }>()((db, p) =>
  db
    .updateTable('choice')
    .set((eb) => ({ votes: eb('votes', '+', p('count')) }))
    .where('id', '=', p('choice')),
);

/** `refused`: the question takes no votes now, or has no such choice. `duplicate`: the voter has voted. */
export type VoteOutcome = 'counted' | 'refused' | 'duplicate';

/**
 * Counts votes, each in one transaction with its row. The counters come last, because other transactions wait for them until the end
 * of this one, and in order of id, so that two do not wait for each other.
 */
export function castVotes(database: Database<Tables>, votes: readonly Vote[]): Promise<VoteOutcome[]> {
  return database.write(async (session) => {
    const outcomes: VoteOutcome[] = [];
    const counts = new Map<number, number>();
    for (const { voter, ...vote } of votes) {
      const outcome = await insertBallot(session, vote, voter);
      if (outcome === 'counted') counts.set(vote.choice, (counts.get(vote.choice) ?? 0) + 1);
      outcomes.push(outcome);
    }
    for (const [choice, count] of [...counts].sort(([one], [other]) => one - other)) {
      await countVotes.run(session, { choice, count });
    }
    return outcomes;
  });
}

async function insertBallot(
  store: Store,
  vote: Omit<Vote, 'voter'>,
  voter: string | undefined,
): Promise<VoteOutcome> {
  const { question, choice, now } = vote;
  if (voter !== undefined) {
    const { changes } = await insertVoter.run(store, { question, choice, now, voter });
    if (changes === 0) {
      return (await openChoice.first(store, { question, choice, now })) ? 'duplicate' : 'refused';
    }
  }
  const { changes } = await insertVote.run(store, vote);
  if (changes > 0) return 'counted';
  // On PostgreSQL, the poll may have been closed since the voter was inserted.
  if (voter !== undefined) await deleteVoter.run(store, { question, voter });
  return 'refused';
}

/** Closes the questions that are published, `now`. */
export async function closeQuestions(
  { kysely }: WriteSession<Tables>,
  ids: readonly number[],
  now: string,
): Promise<void> {
  const published = kysely.updateTable('question').where('id', 'in', ids).where('pub_date', '<=', now);
  await published.set({ closes_at: now }).execute();
}

const votesByAge = statement<Tables, { question: number }>()((db, p) =>
  db
    .selectFrom('vote')
    .innerJoin('choice', 'choice.id', 'vote.choice')
    .select(['vote.id', 'vote.created_at_ms', 'choice.id as choice', 'choice_text'])
    .where('question', '=', p('question'))
    .orderBy('vote.id'),
);

/** Every vote on a question, oldest first, in batches. */
export function streamVotes(database: Database<Tables>, question: number) {
  return database.stream(votesByAge, { question }, { batchRows: 500 });
}

export async function hasQuestion({ kysely }: Store, question_text: string): Promise<boolean> {
  const known = kysely.selectFrom('question').select('id').where('question_text', '=', question_text);
  return (await known.executeTakeFirst()) !== undefined;
}

/** Adds votes on a choice that has none, as of given times. */
export async function insertVotes(
  { kysely }: WriteSession<Tables>,
  choice: number,
  timesMs: readonly number[],
): Promise<void> {
  const rowsAtOnce = 500;
  for (let from = 0; from < timesMs.length; from += rowsAtOnce) {
    const rows = timesMs.slice(from, from + rowsAtOnce).map((created_at_ms) => ({ choice, created_at_ms }));
    await kysely.insertInto('vote').values(rows).execute();
  }
  await kysely.updateTable('choice').set({ votes: timesMs.length }).where('id', '=', choice).execute();
}
