import type { Database, WriteSession } from '#kit/db/index.ts';
import { draft, insertDrafts } from './drafts.ts';
import { type Announcement, announceCreated } from './events.ts';
import { checkNewPosts, type NewPost } from './post.ts';
import { writeLock } from './store.ts';
import { type BulkReply, findReply, keepReply } from './store-bulk-replies.ts';
import type { Tables } from './tables.ts';

export interface BulkCreation {
  readonly posts: readonly NewPost[];
  /** What the caller told its own caller about rows that it did not pass on. */
  readonly errors: readonly string[];
  readonly idempotency: { readonly key: string; readonly digest: Uint8Array } | undefined;
  readonly nowMs: number;
  /** Absent where changes are not told. */
  readonly announcement?: Announcement | undefined;
}

export type BulkOutcome = BulkReply & { readonly replayed: boolean };

/** Creates posts in order in one durable transaction, or none. */
export async function createMany(database: Database<Tables>, creation: BulkCreation): Promise<BulkOutcome> {
  const { posts, errors, idempotency, nowMs, announcement } = creation;
  checkNewPosts(posts);
  const drafts = await draft(posts);
  const insert = async (session: WriteSession<Tables>): Promise<number> => {
    const reserved = await insertDrafts(session, drafts, nowMs);
    const userIds = posts.map(({ userId }) => userId);
    if (announcement) await announceCreated(session, { ...reserved, userIds, announcements: [announcement] });
    return reserved.lastId;
  };
  const write = async (session: WriteSession<Tables>): Promise<BulkOutcome> => {
    await session.lock(writeLock);
    const before = idempotency && (await findReply(session, { ...idempotency, nowMs }));
    if (before) return { ...before, replayed: true };
    const lastId = posts.length === 0 ? 0 : await insert(session);
    const ids = posts.map((_, index) => lastId + index + 1);
    if (idempotency) await keepReply(session, { ids, errors, ...idempotency, nowMs });
    return { ids, errors, replayed: false };
  };
  return database.write(write, { alone: true });
}
