import type { AdminTables, Author, RowHistory } from '@octavo/admin';
import { AppError } from '@octavo/core';
import { type Database, deleteRows, type Session, type WriteSession } from '@octavo/data';
import { type Choice, type Poll, pageSize, type Question } from '../poll.ts';
import { choicesByQuestion, type Tables } from '../store.ts';
import type { Draft } from './draft.ts';

type Store = Session<Tables>;

/** A page of the polls of an account, and the number of all. */
export interface OwnPolls {
  readonly items: readonly Poll[];
  readonly total: number;
  readonly page: number;
}

/** Key with which a maker finds a poll: an account, or the hash of a token. */
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

/** Creates a poll with its choices, once for each hash: the id of an existing one. */
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

/** A page of the polls of an account, newest first. */
export async function ownPolls(store: Store, owner: number, page: number): Promise<OwnPolls> {
  const own = store.kysely.selectFrom('question').where('owner', '=', owner);
  const newest = own.selectAll().orderBy('id', 'desc').limit(pageSize);
  const questions = await newest.offset((page - 1) * pageSize).execute();
  const { total } = await own.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const choices = await choicesByQuestion(
    store,
    questions.map(({ id }) => id),
  );
  const items = questions.map((question) => ({ question, choices: choices.get(question.id) ?? [] }));
  return { items, total, page };
}

/** The poll with this key. Throws `not_found`. */
export async function findManaged(store: Store, key: ManageKey): Promise<Poll> {
  const question = await managed(store, key);
  const choices = await choicesByQuestion(store, [question.id]);
  return { question, choices: choices.get(question.id) ?? [] };
}

interface TextChange extends Pick<Draft, 'question_text' | 'choices'> {
  /** Ids of the choices in the form, joined by hyphens; empty if unknown. */
  readonly shown: string;
  readonly author: Author;
}

/**
 * Changes the question and the choices of a poll: by position, an empty text removes a choice, and further texts add choices. Throws
 * `conflict` if someone has voted, or if staff changed the choices in the meantime.
 */
export async function changeTexts(
  { database, history }: Writing,
  key: ManageKey,
  { question_text, choices, shown, author }: TextChange,
): Promise<void> {
  await database.write(async (session) => {
    const { kysely, dialect } = session;
    const before = await managed(session, key);
    // Votes lock their choices first, and wait here until the texts are changed.
    const locked = kysely.selectFrom('choice').selectAll().where('question', '=', before.id).orderBy('id');
    const rows = await (dialect === 'postgres' ? locked.forUpdate() : locked).execute();
    if (rows.some(({ votes }) => votes > 0))
      throw new AppError('conflict', 'The texts can no longer change, because someone has voted.');
    if (shown !== '' && shown !== rows.map(({ id }) => id).join('-'))
      throw new AppError('conflict', 'Someone changed the choices. Reload the page.');
    const recording = { session, history, author };
    for (const [index, row] of rows.entries())
      await changeChoice(recording, row, choices[index] ?? row.choice_text);
    for (const choice_text of choices.slice(rows.length)) {
      if (choice_text === '') continue;
      const added = kysely.insertInto('choice').values({ question: before.id, choice_text }).returningAll();
      await recordChoice(recording, undefined, await added.executeTakeFirstOrThrow());
    }
    await change(recording, before, { question_text });
  });
}

/** Changes the text of a choice, or deletes the choice if the text is empty. */
async function changeChoice(recording: Recording, row: Choice, choice_text: string): Promise<void> {
  const { kysely } = recording.session;
  if (choice_text === row.choice_text) return;
  if (choice_text === '') await kysely.deleteFrom('choice').where('id', '=', row.id).execute();
  else await kysely.updateTable('choice').set({ choice_text }).where('id', '=', row.id).execute();
  await recordChoice(recording, row, choice_text === '' ? undefined : { ...row, choice_text });
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

function recordChoice(
  { session, history, author }: Recording,
  before: Choice | undefined,
  after: Choice | undefined,
): Promise<void> {
  const row = { before: before && { ...before }, after: after && { ...after } };
  return history.record(adminOf(session), 'polls/choice', [row], author);
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
  return new AppError('not_found', 'You have no poll at this address.');
}
