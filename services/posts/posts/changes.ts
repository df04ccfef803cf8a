import { notFound } from '@octavo/core';
import type { WriteSession } from '@octavo/data';
import { storedNormalized } from '@octavo/data/search';
import { type Tables, writeLock } from '../database.ts';
import { type Announcement, announceDeleted, announceUpdated } from '../events/index.ts';
import { addStatistics, StatisticsDelta } from '../statistics/index.ts';
import { checkRevision, type Post, type PostChange } from './post.ts';
import { findPost, removePost, replacePost } from './store.ts';
import { keepDeleted } from './store-deleted.ts';

interface Target {
  readonly id: number;
  /** Revisions that may be changed; any if empty. */
  readonly allowedRevisions: readonly number[];
  readonly nowMs: number;
  /** Absent where events are off. */
  readonly announcement?: Announcement | undefined;
}

/** Changes a post and the statistics. A change to the same texts leaves the post as it is. */
export async function updatePost(
  session: WriteSession<Tables>,
  { change, ...target }: Target & { change: PostChange },
): Promise<Post> {
  const { nowMs, announcement } = target;
  const before = await findTarget(session, target);
  const { title = before.title, body = before.body } = change;
  if (title === before.title && body === before.body) return before;
  const updatedAtMs = Math.max(nowMs, before.updatedAtMs);
  const after = { ...before, title, body, updatedAtMs, revision: before.revision + 1 };
  await replacePost(session, { ...after, normalized: storedNormalized([title, body]) });
  const delta = new StatisticsDelta();
  delta.add(before, -1);
  delta.add(after);
  await addStatistics(session, delta);
  if (announcement) await announceUpdated(session, after, announcement);
  return after;
}

/** Deletes a post and takes it out of the statistics. With `isKept` it can be restored. */
export async function deletePost(
  session: WriteSession<Tables>,
  { isKept, ...target }: Target & { isKept: boolean },
): Promise<void> {
  const post = await findTarget(session, target);
  await removePost(session, post);
  const delta = new StatisticsDelta();
  delta.add(post, -1);
  delta.addTime(post.createdAtMs, -1);
  await addStatistics(session, delta);
  const { nowMs: deletedAtMs, announcement } = target;
  if (isKept) await keepDeleted(session, { ...post, deletedAtMs });
  if (announcement) await announceDeleted(session, { ...post, deletedAtMs }, announcement);
}

async function findTarget(session: WriteSession<Tables>, { id, allowedRevisions }: Target): Promise<Post> {
  await session.lock(writeLock);
  const post = await findPost(session, id);
  if (!post) throw notFound('post', id);
  checkRevision(post, allowedRevisions);
  return post;
}
