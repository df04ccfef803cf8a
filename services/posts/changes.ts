import type { WriteSession } from '#kit/db/index.ts';
import { notFound } from '#kit/errors.ts';
import { type Announcement, announceDeleted, announceUpdated } from './events.ts';
import { storedFold } from './fold.ts';
import { checkRevision, type Post, type PostChange } from './post.ts';
import { findPost, noteChange, removePost, replacePost, writeLock } from './store.ts';
import { removeSentiment } from './store-sentiments.ts';
import { addToTallies } from './store-statistics.ts';
import type { Tables } from './tables.ts';
import { Tally } from './tally.ts';

interface Target {
  readonly id: number;
  /** Only these revisions may be changed; none means any. */
  readonly allowedRevisions: readonly number[];
  readonly nowMs: number;
  /** Absent where changes are not told. */
  readonly announcement?: Announcement | undefined;
}

/** Changes a post and its statistics. One that would stay the same is left as it is. */
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
  await replacePost(session, { ...after, folded: storedFold(title, body) });
  const tally = new Tally();
  tally.add(before, -1);
  tally.add(after);
  await count(session, target.id, tally);
  if (announcement) await announceUpdated(session, after, announcement);
  return after;
}

/** Deletes a post and takes it out of the statistics. */
export async function deletePost(session: WriteSession<Tables>, target: Target): Promise<void> {
  const post = await findTarget(session, target);
  await removePost(session, post);
  const tally = new Tally();
  tally.add(post, -1);
  tally.addTime(post.createdAtMs, -1);
  await count(session, target.id, tally);
  await removeSentiment(session, post.id);
  const { nowMs: deletedAtMs, announcement } = target;
  if (announcement) await announceDeleted(session, { ...post, deletedAtMs }, announcement);
}

async function findTarget(session: WriteSession<Tables>, { id, allowedRevisions }: Target): Promise<Post> {
  await session.lock(writeLock);
  const post = await findPost(session, id);
  if (!post) throw notFound('post', id);
  checkRevision(post, allowedRevisions);
  return post;
}

async function count(session: WriteSession<Tables>, id: number, tally: Tally): Promise<void> {
  await addToTallies(session, tally);
  await noteChange(session, { id, posts: tally.posts, characters: tally.characters });
}
