import { notFound } from '@octavo/core';
import type { Database, WriteSession } from '@octavo/data';
import { storedNormalized } from '@octavo/data/search';
import { type Store, type Tables, writeLock } from '../database.ts';
import { type Announcement, announceRestored } from '../events/index.ts';
import { addStatistics, StatisticsDelta } from '../statistics/index.ts';
import type { Post } from './post.ts';
import { insertPost } from './store.ts';
import {
  countDeleted,
  type DeletedPost,
  findDeleted,
  listDeleted,
  removeDeleted,
  removeDeletedBefore,
} from './store-deleted.ts';

const dayMs = 86_400_000;
/** Rows that one transaction removes for good, so that others need not wait for long. */
const sliceRows = 500;

/** Deleted posts as they are kept: for some days, in which they can be restored. */
export class DeletedPosts {
  /** Time that a deleted post is kept; 0 for none. */
  readonly keptMs: number;

  constructor(keptDays: number) {
    this.keptMs = keptDays * dayMs;
  }

  /** The latest deleted first, with the number of all. */
  async list(
    session: Store,
    { nowMs, ...slice }: { nowMs: number; limit: number; offset: number },
  ): Promise<{ posts: (DeletedPost & { keptUntilMs: number })[]; total: number }> {
    const sinceMs = nowMs - this.keptMs;
    const posts = await listDeleted(session, { sinceMs, ...slice });
    const total = await countDeleted(session, sinceMs);
    return { posts: posts.map((post) => ({ ...post, keptUntilMs: post.deletedAtMs + this.keptMs })), total };
  }

  /** Writes a post back as it was, under its id. Throws `not_found`. */
  async restore(
    session: WriteSession<Tables>,
    { id, nowMs, announcement }: { id: number; nowMs: number; announcement: Announcement | undefined },
  ): Promise<Post> {
    await session.lock(writeLock);
    const post = await findDeleted(session, { id, sinceMs: nowMs - this.keptMs });
    if (!post) throw notFound('deleted post', id);
    await removeDeleted(session, id);
    await insertPost(session, { ...post, normalized: storedNormalized([post.title, post.body]) });
    const delta = new StatisticsDelta();
    delta.add(post);
    delta.addTime(post.createdAtMs, 1);
    await addStatistics(session, delta);
    if (announcement) await announceRestored(session, { ...post, restoredAtMs: nowMs }, announcement);
    return post;
  }

  /** Permanently removes posts whose time to restore is over. */
  async removeExpired(database: Database<Tables>, nowMs: number): Promise<void> {
    const beforeMs = nowMs - this.keptMs;
    const removeSlice = () =>
      database.write((session) => removeDeletedBefore(session, { beforeMs, limit: sliceRows }));
    while ((await removeSlice()) === sliceRows);
  }
}
