import { newOrderedId } from '@octavo/core';
import type { Database, Session as DbSession, WriteSession } from '@octavo/data';
import { sql } from 'kysely';
import type { Owner } from '../owner.ts';
import type { Tables } from '../tables.ts';
import { keptMs, type Message, messagesMax, type Session, sessionsMax } from './session.ts';

type Store = DbSession<Tables>;
type Write = WriteSession<Tables>;

export interface NewSession {
  readonly id?: string;
  readonly owner: Owner;
  readonly title: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Owner of the sessions, and the current time: those that have expired are gone. */
export interface Reach {
  readonly owner: Owner;
  readonly nowMs: number;
}

/** The sessions of an owner that were used least recently go if there are too many. */
export function createSession(
  database: Database<Tables>,
  session: NewSession,
  nowMs: number,
): Promise<Session> {
  return database.write((write) => insertSession(write, session, nowMs));
}

/** Inserts a session in the transaction of the turn that begins it. */
export async function insertSession(
  write: Write,
  { id = newOrderedId(), owner, title, metadata = {} }: NewSession,
  nowMs: number,
): Promise<Session> {
  const times = { created_at_ms: nowMs, updated_at_ms: nowMs };
  const row = { id, owner, title, metadata: JSON.stringify(metadata), ...times };
  await write.kysely.insertInto('session').values(row).execute();
  const last = await write.kysely
    .selectFrom('session')
    .select('id')
    .where('owner', '=', owner)
    .orderBy('updated_at_ms', 'desc')
    .orderBy('id', 'desc')
    .offset(sessionsMax)
    .limit(20)
    .execute();
  await removeSessions(
    write,
    last.map((each) => each.id),
  );
  return { id, owner, title, metadata, createdAtMs: nowMs, updatedAtMs: nowMs, messageCount: 0 };
}

/** A session of that owner; there is none for anybody else. */
export async function findSession(store: Store, reach: Reach, id: string): Promise<Session | undefined> {
  const row = await owned(store, reach).where('session.id', '=', id).executeTakeFirst();
  return row && toSession(row);
}

export interface ListOptions {
  readonly limit: number;
  /** The last session of the page before. */
  readonly after?: { readonly updatedAtMs: number; readonly id: string } | undefined;
  /** Words of titles and messages. */
  readonly text?: string | undefined;
}

/** The sessions of an owner, latest first. */
export async function listSessions(
  store: Store,
  reach: Reach,
  { limit, after, text }: ListOptions,
): Promise<{ sessions: Session[]; total: number }> {
  let found = owned(store, reach);
  if (text !== undefined) found = found.where(contains(text));
  const counted = await found
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirst();
  if (after) {
    found = found.where(({ eb, and, or }) =>
      or([
        eb('session.updated_at_ms', '<', after.updatedAtMs),
        and([eb('session.updated_at_ms', '=', after.updatedAtMs), eb('session.id', '<', after.id)]),
      ]),
    );
  }
  const rows = await found
    .orderBy('session.updated_at_ms', 'desc')
    .orderBy('session.id', 'desc')
    .limit(limit)
    .execute();
  return { sessions: rows.map(toSession), total: counted?.total ?? 0 };
}

/** False if the owner has no such session. */
export async function renameSession(
  database: Database<Tables>,
  { owner, nowMs }: Reach,
  { id, title }: { id: string; title: string },
): Promise<boolean> {
  const changed = { title, updated_at_ms: nowMs };
  const result = await database.write(({ kysely }) =>
    kysely
      .updateTable('session')
      .set(changed)
      .where('owner', '=', owner)
      .where('id', '=', id)
      .where('updated_at_ms', '>', nowMs - keptMs)
      .executeTakeFirst(),
  );
  return Number(result.numUpdatedRows) > 0;
}

/** Notes that a session is used, and keeps others from changing it until the transaction ends. False if the owner has no such session. */
export async function touchSession({ kysely }: Write, { owner, nowMs }: Reach, id: string): Promise<boolean> {
  const { numUpdatedRows } = await kysely
    .updateTable('session')
    .set({ updated_at_ms: nowMs })
    .where('owner', '=', owner)
    .where('id', '=', id)
    .where('updated_at_ms', '>', nowMs - keptMs)
    .executeTakeFirst();
  return Number(numUpdatedRows) > 0;
}

/** False if the owner has no such session. Its messages and its documents go with it. */
export function deleteSession(
  database: Database<Tables>,
  { owner, nowMs }: Reach,
  id: string,
): Promise<boolean> {
  return database.write(async (session) => {
    const known = await session.kysely
      .selectFrom('session')
      .select('id')
      .where('owner', '=', owner)
      .where('id', '=', id)
      .where('updated_at_ms', '>', nowMs - keptMs)
      .executeTakeFirst();
    if (known) await removeSessions(session, [known.id]);
    return known !== undefined;
  });
}

/** Deletes sessions of an owner, with their messages and documents, and returns how many. Call it until there are none. */
export function deleteSessionsOf(database: Database<Tables>, owner: Owner): Promise<number> {
  return database.write(async (session) => {
    const own = session.kysely.selectFrom('session').select('id').where('owner', '=', owner);
    const rows = await own.limit(500).execute();
    await removeSessions(
      session,
      rows.map(({ id }) => id),
    );
    return rows.length;
  });
}

/** Removes the messages of a session, the answers that are stored for repeated questions, and the link that shares them. */
export async function clearMessages(database: Database<Tables>, id: string): Promise<void> {
  await database.write(async ({ kysely }) => {
    // First, so that what is being removed is not shared.
    await kysely
      .updateTable('session')
      .set(({ ref }) => ({ updated_at_ms: ref('updated_at_ms') }))
      .where('id', '=', id)
      .execute();
    await kysely.deleteFrom('share').where('session', '=', id).execute();
    await kysely.deleteFrom('message').where('session', '=', id).execute();
    await kysely.deleteFrom('turn').where('session', '=', id).where('events', 'is not', null).execute();
  });
}

/** Keeps the rating of an answer, in place of an earlier rating, and returns its session. Undefined if the owner has no such answer. */
export function rateAnswer(
  database: Database<Tables>,
  { owner, nowMs }: Reach,
  { id, rating, comment }: { id: string; rating: 'up' | 'down'; comment: string },
): Promise<string | undefined> {
  return database.write(async ({ kysely }) => {
    const known = await kysely
      .selectFrom('message')
      .innerJoin('session', 'session.id', 'message.session')
      .select('session.id')
      .where('message.id', '=', id)
      .where('message.role', '=', 'assistant')
      .where('session.owner', '=', owner)
      .where('session.updated_at_ms', '>', nowMs - keptMs)
      .executeTakeFirst();
    if (!known) return undefined;
    const rated = { rating, comment, rated_at_ms: nowMs };
    await kysely
      .insertInto('feedback')
      .values({ message: id, ...rated })
      .onConflict((conflict) => conflict.column('message').doUpdateSet(rated))
      .execute();
    return known.id;
  });
}

/** Ratings of the answers of a session, by their ids. */
export async function ratingsOf(store: Store, session: string): Promise<ReadonlyMap<string, 'up' | 'down'>> {
  const rows = await store.kysely
    .selectFrom('feedback')
    .innerJoin('message', 'message.id', 'feedback.message')
    .select(['feedback.message', 'feedback.rating'])
    .where('message.session', '=', session)
    .execute();
  return new Map(rows.map(({ message, rating }) => [message, rating]));
}

/** Number of ratings of answers that are kept. */
export async function countRatings({ kysely }: Store): Promise<{ up: number; down: number }> {
  const rows = await kysely
    .selectFrom('feedback')
    .select(({ fn }) => ['rating', fn.countAll<number>().as('count')])
    .groupBy('rating')
    .execute();
  const of = (rating: 'up' | 'down') => Number(rows.find((row) => row.rating === rating)?.count ?? 0);
  return { up: of('up'), down: of('down') };
}

/** Removes sessions that were not used for too long, and returns how many. */
export function deleteExpired(database: Database<Tables>, nowMs: number): Promise<number> {
  return database.write(async (session) => {
    const rows = await session.kysely
      .selectFrom('session')
      .select('id')
      .where('updated_at_ms', '<=', nowMs - keptMs)
      .limit(500)
      .execute();
    await removeSessions(
      session,
      rows.map(({ id }) => id),
    );
    return rows.length;
  });
}

export interface MessagePage {
  readonly limit: number;
  /** Only messages before the one of that id. */
  readonly before?: string | undefined;
}

/** The last messages of a session, oldest first. */
export async function messagesOf(
  store: Store,
  session: string,
  { limit, before }: MessagePage = { limit: messagesMax },
): Promise<Message[]> {
  let found = store.kysely.selectFrom('message').selectAll().where('session', '=', session);
  if (before !== undefined) found = found.where('id', '<', before);
  const rows = await found.orderBy('id', 'desc').limit(limit).execute();
  return rows.reverse().map(({ id, role, content, strategy, details, created_at_ms }) => ({
    id,
    role,
    content,
    strategy,
    details: JSON.parse(details),
    createdAtMs: created_at_ms,
  }));
}

/** The answer with that id, in a session of that owner. */
export async function findAnswer(
  { kysely }: Store,
  { owner, nowMs }: Reach,
  id: string,
): Promise<Pick<Message, 'role' | 'details'> | undefined> {
  const row = await kysely
    .selectFrom('message')
    .innerJoin('session', 'session.id', 'message.session')
    .select(['message.role', 'message.details'])
    .where('message.id', '=', id)
    .where('session.owner', '=', owner)
    .where('session.updated_at_ms', '>', nowMs - keptMs)
    .executeTakeFirst();
  return row && { role: row.role, details: JSON.parse(row.details) };
}

/** The last words of both sides, oldest first. Answers that were cancelled before their first word are left out. */
export async function lastMessages(
  store: Store,
  session: string,
  limit: number,
): Promise<Pick<Message, 'role' | 'content'>[]> {
  const rows = await store.kysely
    .selectFrom('message')
    .select(['role', 'content'])
    .where('session', '=', session)
    .where('content', '!=', '')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.reverse();
}

/** Saves question and answer, unless the session is deleted. The oldest messages are deleted if there are too many. */
export async function insertMessages(
  { kysely }: Write,
  session: string,
  messages: readonly Message[],
): Promise<void> {
  const updated = Math.max(...messages.map(({ createdAtMs }) => createdAtMs));
  const touched = await kysely
    .updateTable('session')
    .set({ updated_at_ms: updated })
    .where('id', '=', session)
    .executeTakeFirst();
  if (Number(touched.numUpdatedRows) === 0) return;
  const rows = messages.map(({ createdAtMs, content, details, ...message }) => ({
    ...message,
    // PostgreSQL stores no U+0000, which a model may write. Offsets stay the same.
    content: content.replaceAll('\u0000', '\ufffd'),
    session,
    details: JSON.stringify(details),
    created_at_ms: createdAtMs,
  }));
  await kysely.insertInto('message').values(rows).execute();
  const excess = await kysely
    .selectFrom('message')
    .select('id')
    .where('session', '=', session)
    .orderBy('id', 'desc')
    .offset(messagesMax)
    .limit(messagesMax)
    .execute();
  if (excess.length === 0) return;
  const ids = excess.map(({ id }) => id);
  await kysely.deleteFrom('message').where('id', 'in', ids).execute();
}

/**
 * The library of a session goes with it, with all documents that serve only that chat. They are hidden at once, and then removed in slices
 * like any hidden document: a large one would keep others waiting.
 */
async function removeSessions({ kysely }: Write, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const keys = ids.map((id) => `session:${id}`);
  await kysely
    .updateTable('document')
    .set({ status: 'deleting', lease_until_ms: 0 })
    .where('library', 'in', (from) => from.selectFrom('library').select('id').where('key', 'in', keys))
    .execute();
  await kysely
    .deleteFrom('library')
    .where('key', 'in', keys)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('document').select('id').whereRef('document.library', '=', 'library.id'))),
    )
    .execute();
  await kysely.deleteFrom('session').where('id', 'in', ids).execute();
}

function contains(text: string) {
  const pattern = `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`;
  return sql<boolean>`(lower(session.title) like ${pattern} escape '\\' or exists (select 1 from message
    where message.session = session.id and lower(message.content) like ${pattern} escape '\\'))`;
}

function owned(store: Store, { owner, nowMs }: Reach) {
  return store.kysely
    .selectFrom('session')
    .selectAll('session')
    .select(({ selectFrom }) =>
      selectFrom('message')
        .whereRef('message.session', '=', 'session.id')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('messageCount'),
    )
    .where('session.owner', '=', owner)
    .where('session.updated_at_ms', '>', nowMs - keptMs);
}

type Row = Awaited<ReturnType<ReturnType<typeof owned>['execute']>>[number];

function toSession({ id, owner, title, metadata, ...row }: Row): Session {
  return {
    id,
    owner,
    title,
    metadata: JSON.parse(metadata),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    messageCount: row.messageCount ?? 0,
  };
}
