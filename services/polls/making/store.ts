import type { AdminTables, Author, RowHistory } from '#kit/admin/index.ts';
import { AppError } from '#kit/base/errors.ts';
import { type Database, deleteRows, type Session, type WriteSession } from '#kit/db/index.ts';
import type { Poll, Question } from '../poll.ts';
import { choicesByQuestion, type Tables } from '../store.ts';
import type { Draft } from './draft.ts';

type Store = Session<Tables>;

/** Most polls on the page of one account. */
const ownMax = 500;

/** A key by which whoever made a poll finds it: its account, or the hash of a token. */
export type ManageKey = { readonly id: number; readonly owner: number } | { readonly hash: string };

export interface Writing {
  readonly database: Database<Tables>;
  readonly history: RowHistory;
}

/** The account that made a poll, undefined for a stranger, and the hash of its token. */
export interface Making {
  readonly owner: number | undefined;
  readonly hash: string;
  readonly now: string;
  readonly author: Author;
}

/** The poll that was made with a token. */
export async function findMade({ kysely }: Store, hash: string): Promise<number | undefined> {
  const made = kysely.selectFrom('question').select('id').where('manage_hash', '=', hash);
  return (await made.executeTakeFirst())?.id;
}

/** Creates a poll with its choices, once for each hash: the id of the one that is there. */
export async function createPoll(
  { database, history }: Writing,
  { choices, ...question }: Draft,
  { owner, hash, now, author }: Making,
): Promise<number> {
  const made = await database.write(async (session) => {
    const row = { ...question, pub_date: now, owner: owner ?? null, manage_hash: hash };
    const inserted = await session.kysely
      .insertInto('question')
      .values(row)
      .onConflict((conflict) => conflict.column('manage_hash').doNothing())
      .returningAll()
      .executeTakeFirst();
    if (!inserted) return undefined;
    const { id } = inserted;
    const rows = choices.map((choice_text) => ({ question: id, choice_text }));
    await session.kysely.insertInto('choice').values(rows).execute();
    await record({ session, history, author }, undefined, inserted);
    return id;
  });
  const id = made ?? (await findMade(database, hash));
  if (id === undefined) throw noPoll();
  return id;
}

/** The polls of an account, newest first. */
export async function ownPolls(store: Store, owner: number): Promise<Poll[]> {
  const own = store.kysely.selectFrom('question').selectAll().where('owner', '=', owner);
  const questions = await own.orderBy('id', 'desc').limit(ownMax).execute();
  const choices = await choicesByQuestion(
    store,
    questions.map(({ id }) => id),
  );
  return questions.map((question) => ({ question, choices: choices.get(question.id) ?? [] }));
}

/** The poll of whoever made it. Throws `not_found`. */
export async function findManaged(store: Store, key: ManageKey): Promise<Poll> {
  const question = await managed(store, key);
  const choices = await choicesByQuestion(store, [question.id]);
  return { question, choices: choices.get(question.id) ?? [] };
}

/** Changes the texts of a poll. Throws `conflict` if somebody has voted, or if staff changed which choices there are. */
export async function changeTexts(
  { database, history }: Writing,
  key: ManageKey,
  { question_text, choices, author }: Pick<Draft, 'question_text' | 'choices'> & { author: Author },
): Promise<void> {
  await database.write(async (session) => {
    const { kysely, dialect } = session;
    const before = await managed(session, key);
    // Votes lock their choices first, and wait here until the texts are changed.
    const locked = kysely.selectFrom('choice').selectAll().where('question', '=', before.id).orderBy('id');
    const rows = await (dialect === 'postgres' ? locked.forUpdate() : locked).execute();
    if (rows.some(({ votes }) => votes > 0))
      throw new AppError('conflict', 'Somebody has voted, so the texts stay as they are.');
    if (rows.length !== choices.length)
      throw new AppError('conflict', 'The choices were changed meanwhile. Load the page again.');
    for (const [index, row] of rows.entries()) {
      const choice_text = choices[index] ?? row.choice_text;
      await kysely.updateTable('choice').set({ choice_text }).where('id', '=', row.id).execute();
      const changed = { before: { ...row }, after: { ...row, choice_text } };
      await history.record(adminOf(session), 'polls/choice', [changed], author);
    }
    await change({ session, history, author }, before, { question_text });
  });
}

/** Changes who finds a poll, or closes it. Throws `not_found`. */
export async function changePoll(
  { database, history }: Writing,
  key: ManageKey,
  { author, ...values }: Partial<Pick<Question, 'visibility' | 'closes_at'>> & { author: Author },
): Promise<void> {
  await database.write(async (session) =>
    change({ session, history, author }, await managed(session, key), values),
  );
}

/** Deletes a poll with its choices and votes. Throws `not_found`. */
export async function deletePoll(
  { database, history }: Writing,
  key: ManageKey,
  author: Author,
): Promise<void> {
  const { id } = await managed(database, key);
  await deleteRows(database, { table: 'question', column: 'id', keys: [id] }, async (session) => {
    const before = await managed(session, key);
    await session.kysely.deleteFrom('question').where('id', '=', id).execute();
    await record({ session, history, author }, before, undefined);
  });
}

interface Recording {
  readonly session: WriteSession<Tables>;
  readonly history: RowHistory;
  readonly author: Author;
}

async function change(
  recording: Recording,
  before: Question,
  values: Partial<Pick<Question, 'question_text' | 'visibility' | 'closes_at'>>,
): Promise<void> {
  const { kysely } = recording.session;
  const changed = kysely.updateTable('question').set(values).where('id', '=', before.id).returningAll();
  const after = await changed.executeTakeFirst();
  if (!after) throw noPoll();
  await record(recording, before, after);
}

function record(
  { session, history, author }: Recording,
  before: Question | undefined,
  after: Question | undefined,
): Promise<void> {
  const row = { before: before && { ...before }, after: after && { ...after } };
  return history.record(adminOf(session), 'polls/question', [row], author);
}

function adminOf(session: WriteSession<Tables>): WriteSession<AdminTables> {
  return session as unknown as WriteSession<AdminTables>;
}

async function managed({ kysely }: Store, key: ManageKey): Promise<Question> {
  const questions = kysely.selectFrom('question').selectAll();
  const found =
    'hash' in key
      ? questions.where('manage_hash', '=', key.hash).where('owner', 'is', null)
      : questions.where('id', '=', key.id).where('owner', '=', key.owner);
  const question = await found.executeTakeFirst();
  if (!question) throw noPoll();
  return question;
}

export function noPoll(): AppError {
  return new AppError('not_found', 'There is no poll of yours at this address.');
}
