import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '#kit/db/index.ts';
import { type BulkCreation, type BulkOutcome, createMany } from './bulk.ts';
import { draft, insertDrafts } from './drafts.ts';
import { type Announcement, announceCreated } from './events.ts';
import type { NewPost } from './post.ts';
import { type Reserved, writeLock } from './store.ts';
import type { Tables } from './tables.ts';
import { RestingThread } from './threads.ts';

/** Checked posts that were created one by one. */
export interface Creation {
  readonly posts: readonly NewPost[];
  readonly nowMs: number;
  /** One for each; none at all where changes are not told. */
  readonly announcements: readonly Announcement[];
}

/** So much is written in no time; more text, or more posts at the same moment, is work for a thread. */
const unitsFew = 100_000;
const createdFew = 4;

/**
 * Writes new posts where that holds up nobody else: with SQLite what is much goes to a thread, because a transaction is
 * written and synced in one long step. PostgreSQL does that elsewhere.
 */
export class PostWriter implements AsyncDisposable {
  readonly #database: Database<Tables>;
  readonly #thread: RestingThread | undefined;

  constructor({ database, folder }: { database: Database<Tables>; folder: string }) {
    this.#database = database;
    this.#thread = database.dialect === 'sqlite' ? new RestingThread(folder) : undefined;
  }

  create(creation: Creation): Promise<Reserved> {
    if (this.#thread && creation.posts.length > createdFew)
      return visible(this.#thread.ask('create', creation));
    return createPosts(this.#database, creation);
  }

  createMany(creation: BulkCreation): Promise<BulkOutcome> {
    const units = creation.posts.reduce((sum, { title, body }) => sum + title.length + body.length, 0);
    if (this.#thread && units > unitsFew) return visible(this.#thread.ask('createMany', creation));
    return createMany(this.#database, creation);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread?.[Symbol.asyncDispose]();
  }
}

/** What a thread has written: reads of this turn of the event loop may share a snapshot from before, those of the next see it. */
async function visible<T>(written: Promise<T>): Promise<T> {
  const outcome = await written;
  await nextTurn();
  return outcome;
}

/** Creates posts in one durable transaction; gives the ids and the time that they got. */
export async function createPosts(
  database: Database<Tables>,
  { posts, nowMs, announcements }: Creation,
): Promise<Reserved> {
  const drafts = await draft(posts);
  return database.write(async (session) => {
    await session.lock(writeLock);
    const reserved = await insertDrafts(session, drafts, nowMs);
    const userIds = posts.map(({ userId }) => userId);
    if (announcements.length > 0) await announceCreated(session, { ...reserved, userIds, announcements });
    return reserved;
  });
}
