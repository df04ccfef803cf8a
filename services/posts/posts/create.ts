import type { Database, WriteSession } from '@octavo/data';
import { storedNormalized } from '@octavo/data/search';
import { type Tables, writeLock } from '../database.ts';
import { type Announcement, announceCreated } from '../events/index.ts';
import { slices } from '../pause.ts';
import { addNewPosts, type ReservedIds, StatisticsDelta } from '../statistics/index.ts';
import { type Callers, isAnyLate, lateError } from './callers.ts';
import { checkNewPosts, type NewPost } from './post.ts';
import { insertPosts, type PostText } from './store.ts';
import { type BulkReply, findReply, storeReply } from './store-bulk-replies.ts';

/** Checked posts that were created one by one. */
export interface Creation {
  readonly posts: readonly NewPost[];
  /** Callers, one for each post. */
  readonly callers: Callers;
  readonly nowMs: number;
  /** Announcements, one for each post; none where events are off. */
  readonly announcements: readonly Announcement[];
}

/** Makes a second request with the same key a replay. */
export interface Idempotency {
  readonly key: string;
  /** SHA-256 of the request. */
  readonly digest: Uint8Array;
}

/** Posts that were sent together. */
export interface BulkCreation {
  readonly posts: readonly NewPost[];
  /** Errors that the caller reports about rows that it did not pass on. */
  readonly errors: readonly string[];
  readonly idempotency: Idempotency | undefined;
  readonly callers: Callers;
  readonly nowMs: number;
  /** Absent where events are off. */
  readonly announcement?: Announcement | undefined;
}

export type BulkOutcome = BulkReply & { readonly replayed: boolean };

/**
 * Creates posts in one durable transaction; gives the ids and the time that they got. If a caller no longer waits at its
 * end, nothing is created, and it gives undefined: the others then need another transaction.
 */
export async function createPosts(
  database: Database<Tables>,
  { posts, callers, nowMs, announcements }: Creation,
): Promise<ReservedIds | undefined> {
  const prepared = await preparePosts(posts);
  const late = lateError();
  const created = database.write(async (session) => {
    await session.lock(writeLock);
    const reserved = await insertPrepared(session, prepared, { nowMs, announcements });
    if (isAnyLate(callers)) throw late;
    return reserved;
  });
  return created.catch((error: unknown) => {
    if (error !== late) throw error;
    return undefined;
  });
}

/** Creates posts in order in one durable transaction, or none. */
export async function createMany(database: Database<Tables>, creation: BulkCreation): Promise<BulkOutcome> {
  const { posts, errors, idempotency, callers, nowMs, announcement } = creation;
  if (isAnyLate(callers)) throw lateError();
  checkNewPosts(posts);
  const prepared = await preparePosts(posts);
  const announcements = announcement ? [announcement] : [];
  const write = async (session: WriteSession<Tables>): Promise<BulkOutcome> => {
    await session.lock(writeLock);
    if (isAnyLate(callers)) throw lateError();
    const before = idempotency && (await findReply(session, { ...idempotency, nowMs }));
    if (before) return { ...before, replayed: true };
    const { lastId, createdAtMs } =
      posts.length === 0
        ? { lastId: 0, createdAtMs: nowMs }
        : await insertPrepared(session, prepared, { nowMs, announcements });
    const ids = posts.map((_, index) => lastId + index + 1);
    if (idempotency) await storeReply(session, { ids, errors, createdAtMs, ...idempotency, nowMs });
    if (isAnyLate(callers)) throw lateError();
    return { ids, errors, createdAtMs, replayed: false };
  };
  return database.write(write, { alone: posts.length > 1 });
}

/** Posts with everything that can be computed before the transaction. */
export interface PreparedPosts {
  readonly rows: readonly PostText[];
  readonly delta: StatisticsDelta;
}

export async function preparePosts(posts: readonly NewPost[]): Promise<PreparedPosts> {
  const pause = slices();
  const delta = new StatisticsDelta();
  const rows: PostText[] = [];
  for (const { userId, title, body } of posts) {
    rows.push({ userId, title, body, normalized: storedNormalized([title, body]) });
    delta.add({ userId, title, body });
    const turn = pause();
    if (turn) await turn;
  }
  return { rows, delta };
}

/** Writes new posts, in order, with their statistics and events. */
export async function insertPrepared(
  session: WriteSession<Tables>,
  { rows, delta }: PreparedPosts,
  { nowMs, announcements }: { nowMs: number; announcements: readonly Announcement[] },
): Promise<ReservedIds> {
  const reserved = await addNewPosts(session, delta, nowMs);
  await insertPosts(session, rows, { ...reserved, pause: slices() });
  const userIds = rows.map(({ userId }) => userId);
  if (announcements.length > 0) await announceCreated(session, { ...reserved, userIds, announcements });
  return reserved;
}
